/** Client registration and management, and what pages show of clients. */
import type { Protection } from './protection.ts';

export const CLIENT_REGISTRATION: readonly Protection[] = [
  {
    name: 'loopback-native',
    what: 'only native clients may register loopback redirect URIs',
    attack: 4,
    removals: [
      {
        text: "    if (LOOPBACK_ADDRESS.test(uri)) {\n      if (type === 'native') return undefined;\n",
        instead: '    if (LOOPBACK_ADDRESS.test(uri)) {\n      if (type.length > 0) return undefined;\n',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'a web application can neither register',
  },
  {
    name: 'scheme-native',
    what: 'only native clients may register private-use schemes',
    attack: 4,
    removals: [
      {
        text: "  if (type === 'native') return undefined;\n  return { text: 'must be an https URL: other",
        instead: "  if (type.length > 0) return undefined;\n  return { text: 'must be an https URL: other",
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'a web application can neither register',
  },
  {
    name: 'client-admin-scope',
    what: 'only configured clients can get admin rights for themselves',
    attack: 49,
    removals: [
      {
        text: "(kind === 'admin' || kind === 'account') && mayAdminister;",
        instead: "(kind === 'admin' || kind === 'account') && (mayAdminister || true);",
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'gains no rights from its own metadata',
  },
  {
    name: 'registered-scope',
    what: 'a client gets only its registered scopes',
    attack: 49,
    removals: [
      {
        text: '    return scopes.filter((scope) => this.classify(scope) !== undefined && this.#isWithin(scope, registered));',
        instead:
          '    return scopes.filter((scope) => this.classify(scope) !== undefined || this.#isWithin(scope, registered));',
      },
    ],
    test: 'test/attacks/client-registration.test.ts',
    testName: 'cannot grant such an application',
  },
  {
    name: 'name-unseen',
    what: 'invisible characters in a name are removed',
    attack: 56,
    removals: [{ text: ".replace(INVISIBLE, '')" }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-length',
    what: 'at most sixty characters of a name are shown',
    attack: 56,
    removals: [{ text: 'const MAX_NAME_CHARACTERS = 60;', instead: 'const MAX_NAME_CHARACTERS = 600;' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-of-nothing',
    what: 'a name without visible characters is replaced by the ID',
    attack: 56,
    removals: [{ text: " || cleanName(name) === '' ? undefined : name;", instead: ' ? undefined : name;' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-56)',
  },
  {
    name: 'name-isolated',
    what: 'a name is isolated from the text around it',
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
    what: 'dynamically registered clients are marked',
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
    what: 'URLs of a client must be on a registrable domain',
    attack: 50,
    removals: [{ text: "  return isPublicSuffix(hostname) ? { text: 'is not using a valid domain' } : undefined;\n" }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-50)',
  },
  {
    name: 'host-of-client',
    what: 'URLs of a client must have the host of its client_uri',
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
    what: 'repeated JSON members are rejected',
    attack: 51,
    removals: [{ text: '!allowsRepeatedMembers && members !== countColons(text)', instead: 'members < 0' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-51)',
  },
  {
    name: 'private-keys-of-clients',
    what: 'a registration with private keys is rejected with an explanation',
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
    what: 'a client is stored only if the rate limit of its address allows it',
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
    what: 'equal registrations of public clients share one client',
    attack: 54,
    removals: [{ text: 'secret === undefined ? digestOf(registration) : null', instead: 'null' }],
    test: 'test/attacks/client-registration.test.ts',
    testName: '(S-54)',
  },
  {
    name: 'registration-token-of-client',
    what: 'a registration access token is only valid for its client',
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
    what: 'configured clients have no registration access token',
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
      { text: "if (id !== client.id) throw invalidMetadata('client_id', 'must match the client_id in the URL');" },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'managed-client-locked',
    what: 'concurrent changes of one client are serialized',
    attack: 55,
    removals: [
      {
        text: `'lock-client-registration', \`\${byIdAndToken} for no key update\``,
        instead: "'lock-client-registration', byIdAndToken",
      },
    ],
    test: 'test/attacks/client-management.test.ts',
    testName: '(S-55)',
  },
  {
    name: 'logo-types',
    what: 'a logo is served only with the image type of its content',
    attack: 74,
    removals: [{ text: 'if (!fetched.ok || contentType === undefined)', instead: 'if (!fetched.ok)' }],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'is replaced by a letter',
  },
  {
    name: 'logo-policy',
    what: 'scripts in SVG logos do not run on our origin',
    attack: 74,
    removals: [
      {
        text: "const caching = { 'cache-control': 'public, max-age=300', etag, ...POLICY };",
        instead: "const caching = { 'cache-control': 'public, max-age=300', etag };",
      },
    ],
    test: 'src/features/client-logos/client-logos.test.ts',
    testName: 'and cannot run scripts',
  },
  {
    name: 'statement-signature',
    what: 'a software statement counts only if signed by a key of its issuer',
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
