/** Signing keys and the root secret. */
import type { Protection } from './protection.ts';

export const KEYS: readonly Protection[] = [
  {
    name: 'sealed-for-a-place',
    what: 'a sealed value can only be opened in its own row and column',
    attack: 168,
    removals: [
      { text: '    cipher.setAAD(Buffer.from(associatedData));\n    const sealed', instead: '    const sealed' },
      { text: '  decipher.setAAD(Buffer.from(associatedData));' },
    ],
    test: 'test/attacks/database-dump.test.ts',
    testName: 'every ciphertext decrypts only in its own row',
  },
  {
    name: 'client-secret-of-a-row',
    what: 'a client secret can only be opened in its own row',
    attack: 168,
    removals: [
      {
        text: '`oauth2_clients|${name}|${fromUuid(uuid)}`',
        instead: '`oauth2_clients|${name}|${fromUuid(uuid).slice(0, 1)}`',
      },
    ],
    test: 'test/attacks/database-dump.test.ts',
    testName: 'a secret moved to another client’s row',
  },
  {
    name: 'owner-of-files',
    what: 'a service that runs as root rejects files of other users',
    attack: 184,
    removals: [
      {
        text: 'if (account.uid === ROOT && status.uid !== ROOT) {',
        instead: 'if (account.uid !== ROOT && status.uid !== ROOT && status.uid !== account.uid) {',
      },
    ],
    test: 'src/app/data-directory/data-directory.test.ts',
    testName: 'S-184',
  },
  {
    name: 'next-key-waits',
    what: 'a published-only key is not used for signing',
    attack: 166,
    removals: [
      {
        text: 'if (key.isActive && !signers.has(key.algorithm))',
        instead: 'if (!signers.has(key.algorithm))',
      },
    ],
    test: 'src/domain/keys/signing-keys.test.ts',
    testName: '(S-166)',
  },
  {
    name: 'former-root-needed',
    what: 'the service does not start without a root key that rows are sealed with',
    attack: 166,
    removals: [{ text: 'if (unknown.length > 0) {', instead: 'if (unknown.length === stored.length) {' }],
    test: 'src/domain/keys/server-state.test.ts',
    testName: '(S-166',
  },
  {
    name: 'removed-key-verifies-nothing',
    what: 'a removed signing key no longer verifies anything',
    attack: 167,
    removals: [{ text: 'this.#keys = other.#keys;', instead: 'this.#keys = [...this.#keys, ...other.#keys];' }],
    test: 'src/domain/keys/signing-keys.test.ts',
    testName: '(S-167)',
  },
];
