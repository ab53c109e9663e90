/** Client authentication, and the keys that clients publish. */
import type { Protection } from './protection.ts';

export const CLIENT_AUTHENTICATION: readonly Protection[] = [
  {
    name: 'client-secret',
    what: 'client secrets are compared',
    attack: 28,
    removals: [
      {
        text: 'const secret = acceptedSecret(client, now, (own) => own.matches(text));',
        instead: "const secret = text === '' ? undefined : 'current';",
      },
    ],
    test: 'test/attacks/client-authentication.test.ts',
    testName: '401 invalid_client with a challenge',
  },
  {
    name: 'former-secret-expires',
    what: 'the secret before a rotation stops working when its grace period ends',
    attack: 28,
    removals: [{ text: ' && now < formerSecret.expiresAt' }],
    test: 'src/features/admin-api/client-changes.test.ts',
    testName: 'leaves the former one valid until the grace period ends',
  },
  {
    name: 'client-method',
    what: 'a secret for signing assertions does not authenticate the client by itself',
    attack: 28,
    removals: [
      {
        text: "    case 'private_key_jwt':\n      return false;",
        instead: "    case 'private_key_jwt':\n      return true;",
      },
    ],
    test: 'test/attacks/client-authentication.test.ts',
    testName: '401 invalid_client with a challenge',
  },
  {
    name: 'client-strict',
    what: 'a strict client must send its secret in the registered place',
    attack: 28,
    removals: [
      {
        text: '  if (client.hasStrictAuthMethod) return presented.method === client.authMethod && !isInTwoPlaces;\n',
        instead: "  if (isInTwoPlaces && client.id === '') return false;\n",
      },
    ],
    test: 'test/attacks/client-authentication.test.ts',
    testName: '401 invalid_client with a challenge',
  },
  {
    name: 'public-client-token',
    what: 'a public client cannot use client_credentials',
    attack: 29,
    removals: [
      {
        text: "  if (client.authMethod === 'none') {\n    throw new LatchkeyError('unauthorized_client'",
        instead:
          "  if (client.authMethod === 'none' && client.id === '') {\n    throw new LatchkeyError('unauthorized_client'",
      },
    ],
    test: 'test/attacks/client-authentication.test.ts',
    testName: 'gets no client credentials token',
  },
  {
    name: 'jws-extensions',
    what: 'unknown critical JWS extensions are rejected',
    attack: 31,
    removals: [
      { text: ' || crit !== undefined || b64 !== undefined) return undefined;', instead: ') return undefined;' },
    ],
    test: 'test/attacks/client-assertions.test.ts',
    testName: '(S-31)',
  },
  {
    name: 'jws-key-type',
    what: 'a key verifies only algorithms of its type',
    attack: 30,
    removals: [{ text: '.find((possible) => possible === algorithm)', instead: '[0]' }],
    test: 'src/protocol/jose/compact-jws.test.ts',
    testName: 'with a shared secret is never valid with a public key',
  },
  {
    name: 'jws-key-imports',
    what: 'the memory for a key does not grow with the algorithms it is used with',
    attack: 35,
    removals: [{ text: 'imported.get(key) ?? algorithm;', instead: 'algorithm;' }],
    test: 'src/protocol/jose/compact-jws.test.ts',
    testName: 'imports that key only once',
  },
  {
    name: 'jws-key-name',
    what: 'only the key named in the header is tried',
    attack: 31,
    removals: [
      {
        text: 'const isNamed = kid === undefined || keyId === undefined || kid === keyId;',
        instead: "const isNamed = kid !== '' || keyId !== '';",
      },
    ],
    test: 'test/attacks/client-assertions.test.ts',
    testName: '(S-31)',
  },
  {
    name: 'published-keys-bound',
    what: 'at most fifty keys of a published key set are used',
    attack: 35,
    removals: [{ text: 'const MAX_FETCHED_KEYS = 50;', instead: 'const MAX_FETCHED_KEYS = 50_000;' }],
    test: 'test/attacks/hostile-key-servers.test.ts',
    testName: 'hostile key sets',
  },
  {
    name: 'published-keys-pause',
    what: 'a key set is fetched at most once a minute',
    attack: 35,
    removals: [{ text: 'const RETRY_MS = 60_000;', instead: 'const RETRY_MS = 0;' }],
    test: 'test/attacks/hostile-key-servers.test.ts',
    testName: 'hostile key sets',
  },
  {
    name: 'rsa-size',
    what: 'RSA keys must have at least 2048 bits',
    attack: 35,
    removals: [{ text: 'const MIN_RSA_BITS = 2048;', instead: 'const MIN_RSA_BITS = 64;' }],
    test: 'test/attacks/hostile-key-servers.test.ts',
    testName: 'only the usable keys',
  },
  {
    name: 'unknown-clients',
    what: 'all unknown client IDs share one rate limit',
    attack: 179,
    removals: [
      {
        text: 'origin: headers.origin }, client?.id);',
        instead: 'origin: headers.origin }, client?.id ?? claimed);',
      },
    ],
    test: 'test/attacks/random-client-ids.test.ts',
    testName: '(S-179)',
  },
  {
    name: 'unknown-clients-in-memory',
    what: 'few unknown client IDs are cached',
    attack: 179,
    removals: [{ text: '      dropOldest(this.#unknown, MAX_UNKNOWN);\n' }],
    test: 'test/attacks/random-client-ids.test.ts',
    testName: '(S-179)',
  },
  {
    name: 'failures-of-public-clients',
    what: 'failures of public clients are not counted',
    attack: 182,
    removals: [
      { text: "if (hasSecret(presented) && client?.authMethod !== 'none')", instead: 'if (hasSecret(presented))' },
    ],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'failures-by-foreign-pages',
    what: 'failures caused by a page of another site are not counted',
    attack: 182,
    removals: [{ text: '    if (source.origin !== undefined && source.origin !== origin) return;\n' }],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'failures-by-address',
    what: 'failures block a client for one address only',
    attack: 182,
    removals: [{ text: 'addressKey(clientAddress)}`;', instead: 'typeof clientAddress}`;' }],
    test: 'src/features/token/client-authentication.test.ts',
    testName: '(S-182)',
  },
  {
    name: 'waiting-for-keys',
    what: 'few requests wait for published client keys',
    attack: 35,
    removals: [
      {
        text: 'if (waiting >= MAX_WAITING_FOR_SET || this.#waitingCount >= MAX_WAITING) {',
        instead: 'if (waiting >= MAX_WAITING_FOR_SET) {',
      },
    ],
    test: 'test/attacks/hostile-key-servers.test.ts',
    testName: 'few requests wait',
  },
  {
    name: 'published-keys',
    what: 'the number of cached client keys is limited',
    attack: 35,
    removals: [{ text: ' && this.#publishedKeyCount <= MAX_PUBLISHED_KEYS' }],
    test: 'src/domain/clients/client-keys.test.ts',
    testName: 'five thousand keys',
  },
  {
    name: 'clients-in-memory',
    what: 'the cache size of clients with large registrations is limited',
    attack: 54,
    removals: [{ text: ' && this.#bytes <= MAX_BYTES' }],
    test: 'src/domain/clients/clients.test.ts',
    testName: 'keeps clients with large registrations in memory only as far as there is space (S-54)',
  },
  {
    name: 'assertion-algorithm-family',
    what: 'an assertion is verified with the secret or the keys of its client, according to the registered method',
    attack: 30,
    removals: [
      { text: "if (!mayUse(client, jws.algorithm)) return { ok: false, reason: 'wrong_auth_method', client };" },
    ],
    test: 'src/features/token/client-assertions.test.ts',
    testName: 'restricts keys to clients with private_key_jwt',
  },
  {
    name: 'assertion-audience',
    what: 'an assertion must name this service as its only audience',
    attack: 32,
    removals: [
      {
        text: 'named.length > 0 && named.every((one) => audiences.some((audience) => audience === one))',
        instead: 'named.length > 0 && named.some((one) => audiences.some((audience) => audience === one))',
      },
    ],
    test: 'src/features/token/client-assertions.test.ts',
    testName: 'is rejected, with the reason for the developer',
  },
  {
    name: 'assertion-once',
    what: 'an assertion is used up in the transaction that it authenticates',
    attack: 33,
    removals: [
      { text: 'if (oneTime !== undefined) once ??= this.#onceFor(client, oneTime);' },
      {
        text: 'let once: GuardedDatabase | undefined;',
        instead: 'const once = undefined as GuardedDatabase | undefined;',
      },
    ],
    test: 'test/attacks/client-assertions.test.ts',
    testName: '20 times at once over two instances: one succeeds',
  },
  {
    name: 'short-client-secret',
    what: 'a configured client has a secret that cannot be guessed, unless the operator permits a shorter one',
    attack: 34,
    removals: [{ text: 'if (clientSecret.length < MIN_SECRET_LENGTH) {', instead: 'if (clientSecret.length < 0) {' }],
    test: 'src/config/mas/mas.test.ts',
    testName: 'a client with a short secret of its own needs permission',
  },
  {
    name: 'short-client-secret-permission',
    what: 'administrators cannot permit a secret that is too short',
    attack: 34,
    removals: [
      { text: "['client_secret_file', 'allow_short_secret'] as const", instead: "['client_secret_file'] as const" },
    ],
    test: 'src/config/mas/mas.test.ts',
    testName: 'a client with a short secret of its own needs permission',
  },
];
