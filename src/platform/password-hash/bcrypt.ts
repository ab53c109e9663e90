import { type PasswordHashing, type PasswordScheme, pepperedBytes } from './schemes.ts';

type BcryptScheme = Extract<PasswordScheme, { algorithm: 'bcrypt' }>;

// bcrypt reads no more than this: a new hash of a longer text would accept every text that begins alike.
const MAX_BYTES = 72;
const NO_SALT_AND_DIGEST = '.'.repeat(53);

/** bcrypt: makes `$2b$`, checks `$2a$` and `$2y$` as well, which differ in nothing but the mark. */
export function bcrypt(scheme: BcryptScheme): PasswordHashing {
  const cost = `${String(scheme.cost).padStart(2, '0')}$`;
  return {
    hash: async (password) => {
      const bytes = pepperedBytes(scheme, password);
      if (bytes.length > MAX_BYTES) return undefined;
      const library = await loadLibrary();
      // The library writes `$2y$`, its own name for the same function.
      return `$2b$${(await library.hash(bytes, scheme.cost)).slice(4)}`;
    },
    verify: async (stored, password) => {
      const library = await loadLibrary();
      return await library.verify(pepperedBytes(scheme, password).subarray(0, MAX_BYTES), stored);
    },
    isCurrent: (stored) => /^\$2[aby]\$/.test(stored) && stored.slice(4, 7) === cost,
    dummy: `$2b$${cost}${NO_SALT_AND_DIGEST}`,
  };
}

// Few services hold bcrypt hashes: the native library is loaded by the first one met.
function loadLibrary(): Promise<typeof import('@node-rs/bcrypt')> {
  return import('@node-rs/bcrypt');
}
