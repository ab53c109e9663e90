import type { Protection } from './protection.ts';

const DOCUMENTS = 'src/oauth-endpoint/client-documents.test.ts';
const CLIENTS = 'test/journeys/published-clients.test.ts';

/** Client metadata documents, whose URLs unauthenticated callers choose and the service fetches. */
export const CLIENT_DOCUMENTS: readonly Protection[] = [
  {
    name: 'document-names-itself',
    what: 'a metadata document is only valid for the URL in it',
    attack: 6,
    removals: [{ text: '    if (named !== url) {', instead: '    if (named === url.length) {' }],
    test: DOCUMENTS,
    testName: 'client_id is another address',
  },
  {
    name: 'document-inner-address',
    what: 'metadata documents are fetched with the restrictions for untrusted URLs',
    attack: 52,
    removals: [
      {
        text: "{ accept: 'application/json', maxBodyBytes: MAX_BYTES }",
        instead: "{ accept: 'application/json', maxBodyBytes: MAX_BYTES, isConfigured: true }",
      },
    ],
    test: DOCUMENTS,
    testName: 'private addresses are not contacted',
  },
  {
    name: 'document-size',
    what: 'at most 16 KiB of a document are read',
    attack: 52,
    removals: [
      {
        text: "{ accept: 'application/json', maxBodyBytes: MAX_BYTES }",
        instead: "{ accept: 'application/json', maxBodyBytes: 16 * MAX_BYTES }",
      },
    ],
    test: DOCUMENTS,
    testName: 'it is too large',
  },
  {
    name: 'document-host',
    what: 'a document only proves the host that serves it, regardless of its content',
    attack: 1,
    removals: [
      {
        text: "documentUrl === undefined ? undefined : new ClientHost(documentUrl, 'client_id');",
        instead: "documentUrl === '' ? new ClientHost(documentUrl, 'client_id') : undefined;",
      },
    ],
    test: DOCUMENTS,
    testName: 'it claims the host of another client',
  },
  {
    name: 'document-redirect-uri',
    what: 'responses are only sent to redirect URIs in the document',
    attack: 1,
    removals: [
      {
        text: '  if (registered.includes(requested)) return true;',
        instead: '  if (registered.length > 0) return true;',
      },
    ],
    test: DOCUMENTS,
    testName: 'a URL missing in the document',
  },
  {
    name: 'document-secret',
    what: 'a secret published in a document is not accepted',
    attack: 28,
    removals: [{ text: '  if (documentUrl !== undefined) refuseSharedSecret(members, authMethod);\n' }],
    test: DOCUMENTS,
    testName: 'it has a secret',
  },
  {
    name: 'document-fetches',
    what: 'fetches of documents share the rate limit of client registration',
    attack: 52,
    removals: [{ text: '      await this.#charge(context);\n' }],
    test: DOCUMENTS,
    testName: 'each fetch counts as a registration',
  },
  {
    name: 'document-waiting',
    what: 'a slow host delays few requests',
    attack: 52,
    removals: [
      { text: 'if (waiting >= MAX_WAITING_FOR_HOST ||', instead: 'if (waiting >= 9 * MAX_WAITING_FOR_HOST ||' },
    ],
    test: DOCUMENTS,
    testName: 'a slow host delays at most four requests',
  },
  {
    name: 'document-asked-again',
    what: 'a host without a valid document is not contacted for a minute',
    attack: 52,
    removals: [
      {
        text: '!error.isAboutRequester) this.#remember(url, error);',
        instead: '!error.isAboutRequester) error.stack;',
      },
    ],
    test: DOCUMENTS,
    testName: 'a failed URL is not retried for a minute, and strangers learn nothing about its host',
  },
  {
    name: 'document-second-name',
    what: 'a client with a URL as its ID cannot be addressed by another ID',
    attack: 6,
    removals: [
      {
        text: 'return client !== undefined && isNameOf(client, name) ? client : undefined;',
        instead: 'return client !== undefined && name.length > 0 ? client : undefined;',
      },
    ],
    test: DOCUMENTS,
    testName: 'cannot be addressed by its internal ID',
  },
  {
    name: 'document-admitted-hosts',
    what: 'documents are only fetched from allowed hosts',
    attack: 52,
    removals: [
      { text: 'if (allowedHosts.length > 0 && !allowedHosts', instead: 'if (allowedHosts.length > 9 && !allowedHosts' },
    ],
    test: DOCUMENTS,
    testName: 'hosts can be allowlisted, and nothing is fetched while the feature is off',
  },
  {
    name: 'document-of-disabled-client',
    what: 'a disabled client is not restored by its document',
    attack: 6,
    removals: [{ text: "      if (stored.is_disabled) return { ok: false, reason: 'disabled' };\n" }],
    test: CLIENTS,
    testName: 'one that an operator has disabled',
  },
  {
    name: 'document-sector',
    what: 'a client with pairwise subjects keeps them if its document changes',
    attack: 49,
    removals: [{ text: "      if (sector !== undefined) return { ok: false, reason: 'other-sector', sector };\n" }],
    test: CLIENTS,
    testName: "change a client's subjects is refused",
  },
  {
    name: 'document-rows',
    what: 'documents cannot fill the client table',
    attack: 52,
    removals: [{ text: ' or ${isPublishedInVain}' }],
    test: CLIENTS,
    testName: 'documents fetched by strangers',
  },
  {
    name: 'document-marks',
    what: 'users see which host published a client, and that other local programs can impersonate it',
    attack: 56,
    removals: [{ text: '      {client.isLocal === true && (', instead: '      {client.isLocal === false && (' }],
    test: DOCUMENTS,
    testName: "is shown by the URL's host on the consent and sign-in pages, with a warning for local programs",
  },
];
