/** Client registration and management, and what pages show of clients. */
import type { Protection } from './protection.ts';

export const CLIENT_REGISTRATION: readonly Protection[] = [
  {
    name: 'loopback-native',
    what: 'a loopback address is registered for native applications alone',
    attack: 4,
    removals: [
      {
        text: "    if (LOOPBACK_ADDRESS.test(uri)) {\n      if (type === 'native') return undefined;\n",
        instead: '    if (LOOPBACK_ADDRESS.test(uri)) {\n      if (type.length > 0) return undefined;\n',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'a web application can neither take',
  },
  {
    name: 'scheme-native',
    what: 'a private scheme is registered for native applications alone',
    attack: 4,
    removals: [
      {
        text: "  if (type === 'native') return undefined;\n  return { text: 'must be an https URL: other",
        instead: "  if (type.length > 0) return undefined;\n  return { text: 'must be an https URL: other",
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'a web application can neither take',
  },
  {
    name: 'client-admin-scope',
    what: 'a client gets admin rights for itself only by the configuration',
    attack: 49,
    removals: [
      {
        text: "(kind === 'admin' || kind === 'account') && mayAdminister;",
        instead: "(kind === 'admin' || kind === 'account') && (mayAdminister || true);",
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'gets no rights by what it says',
  },
  {
    name: 'registered-scope',
    what: 'a client gets no scope beyond its registered ones',
    attack: 49,
    removals: [
      {
        text: '    return scopes.filter((scope) => this.classify(scope) !== undefined && this.#isWithin(scope, registered));',
        instead:
          '    return scopes.filter((scope) => this.classify(scope) !== undefined || this.#isWithin(scope, registered));',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'cannot give such an application',
  },
  {
    name: 'name-unseen',
    what: 'invisible characters of a name are left out',
    attack: 56,
    removals: [{ text: ".replace(INVISIBLE, '')" }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-length',
    what: 'of a long name sixty characters are shown',
    attack: 56,
    removals: [{ text: 'const MAX_NAME_CHARACTERS = 60;', instead: 'const MAX_NAME_CHARACTERS = 600;' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-of-nothing',
    what: 'a name of which nothing is seen is replaced by the id',
    attack: 56,
    removals: [{ text: " || cleanName(name) === '' ? undefined : name;", instead: ' ? undefined : name;' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-isolated',
    what: 'a name is kept apart from the text around it',
    attack: 56,
    removals: [
      {
        text: 'return <bdi class="name">{cleanName(name)}</bdi>;',
        instead: 'return <span class="name">{cleanName(name)}</span>;',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'unverified-mark',
    what: 'an application that registered itself is marked',
    attack: 56,
    removals: [
      {
        text: '<Notice kind="warning">{translations.t(\'consent.unverified\')}</Notice>;',
        instead: "<p>{translations.t('consent.verified')}</p>;",
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'public-suffixes',
    what: 'an address of a client lies on a domain that somebody owns',
    attack: 50,
    removals: [{ text: "  return isPublicSuffix(hostname) ? { text: 'is not using a valid domain' } : undefined;\n" }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-50)',
  },
  {
    name: 'host-of-client',
    what: 'an address of a client has the host of its client_uri',
    attack: 50,
    removals: [
      {
        text: 'if (policy.allowHostMismatch) return undefined;',
        instead: 'if (host !== this.#host) return undefined;',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-50)',
  },
  {
    name: 'repeated-members',
    what: 'a JSON member that is repeated is refused',
    attack: 51,
    removals: [{ text: '!allowsRepeatedMembers && members !== countColons(text)', instead: 'members < 0' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-51)',
  },
  {
    name: 'private-keys-of-clients',
    what: 'a client that shows a private key is told',
    attack: 53,
    removals: [
      {
        text: 'if (PRIVATE_MEMBERS.some((name) => members.has(name)))',
        instead: 'if (PRIVATE_MEMBERS.length === 0)',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-53)',
  },
  {
    name: 'clients-of-address',
    what: 'a client is stored only when its address has a token left',
    attack: 54,
    removals: [
      {
        text: ':metadataDigest::text, :metadata::jsonb, :now::timestamptz\n      from charged',
        instead: ':metadataDigest::text, :metadata::jsonb, :now::timestamptz\n      from wanted',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-54)',
  },
  {
    name: 'equal-registrations',
    what: 'equal registrations without a secret share one client',
    attack: 54,
    removals: [{ text: 'secret === undefined ? digestOf(registration) : null', instead: 'null' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-54)',
  },
  {
    name: 'registration-token-of-client',
    what: 'a registration access token is for the client that got it',
    attack: 55,
    removals: [
      {
        text: 'registration_token_hash is not distinct from :tokenHash::bytea as is_token_of_client',
        instead: ':tokenHash::bytea is not null as is_token_of_client',
      },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'static-clients-unmanaged',
    what: 'a client of the configuration has no registration access token',
    attack: 55,
    removals: [{ text: "if (row?.is_static === true) return { ok: false, reason: 'static' };" }],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'secrets-of-service',
    what: 'a client cannot choose its secret',
    attack: 55,
    removals: [
      { text: 'if (secret === undefined || client.secret?.matches(secret) === true) return;', instead: 'return;' },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'client-id-kept',
    what: 'a client cannot take another ID',
    attack: 55,
    removals: [
      { text: "if (id !== client.id) throw invalidMetadata('client_id', 'must be the one of this address');" },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'managed-client-locked',
    what: 'changes of one client wait for each other',
    attack: 55,
    removals: [
      {
        text: `'lock-managed-client', \`\${byIdAndToken} for no key update\``,
        instead: "'lock-managed-client', byIdAndToken",
      },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'logo-types',
    what: 'a logo is served only as the picture that its content is',
    attack: 74,
    removals: [{ text: 'if (!fetched.ok || contentType === undefined)', instead: 'if (!fetched.ok)' }],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'is a letter instead (S-74)',
  },
  {
    name: 'logo-policy',
    what: 'scripts in a drawing do not run on our origin',
    attack: 74,
    removals: [
      {
        text: "const caching = { 'cache-control': 'public, max-age=300', etag, ...POLICY };",
        instead: "const caching = { 'cache-control': 'public, max-age=300', etag };",
      },
    ],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'may not run scripts (S-74)',
  },
  {
    name: 'statement-signature',
    what: 'a software statement counts only when a key of its issuer signed it',
    attack: 53,
    removals: [
      { text: "if (!(await verifyByKeys(keys, jws)).ok) throw invalid('is not signed with a key of its issuer');" },
    ],
    test: 'src/features/client-registration/software-statement.test.ts',
    testName: 'a software statement',
  },
  {
    name: 'statement-languages',
    what: 'an application adds no name in another language to the one that is vouched for',
    attack: 53,
    removals: [
      {
        text: "return name.split('#', 1)[0] ?? name;",
        instead: 'return name;',
      },
    ],
    test: 'src/features/client-registration/software-statement.test.ts',
    testName: 'in every language',
  },
];
