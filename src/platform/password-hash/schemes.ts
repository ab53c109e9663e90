import type { Secret } from '#platform/base/secret.ts';

/** How passwords of one version are hashed; the highest version hashes new ones. */
export type PasswordScheme = {
  readonly version: number;
  readonly unicodeNormalization: boolean;
  /** Pepper. */
  readonly secret: Secret | undefined;
} & (
  | {
      readonly algorithm: 'argon2id';
      readonly memoryKib: number;
      readonly iterations: number;
      readonly parallelism: number;
    }
  | { readonly algorithm: 'bcrypt'; readonly cost: number }
  | { readonly algorithm: 'pbkdf2'; readonly rounds: number }
);

/** A hash as it is stored. */
export interface StoredHash {
  /** PHC string; bcrypt's own format for bcrypt. */
  readonly hash: string;
  readonly schemeVersion: number;
}

/** One scheme at work, in other threads than the caller's. */
export interface PasswordHashing {
  /** A new hash with a random salt; undefined when the password is too long for the function. */
  hash(password: string): Promise<string | undefined>;
  /** Throws when `stored` is no hash of this kind. */
  verify(stored: string, password: string): Promise<boolean>;
  /** Whether a hash of this kind was made with the costs that the scheme has now. */
  isCurrent(stored: string): boolean;
  /** A hash that no password fits, costing as much to check as a new one. */
  readonly dummy: string;
}

/** The bytes that go into the hash function: normalised where the scheme says so. */
export function passwordBytes(scheme: PasswordScheme, password: string): Buffer {
  return Buffer.from(scheme.unicodeNormalization ? password.normalize('NFKC') : password);
}

/** The same with the pepper behind it, for the functions that have no input for one. */
export function pepperedBytes(scheme: PasswordScheme, password: string): Buffer {
  const bytes = passwordBytes(scheme, password);
  return scheme.secret === undefined ? bytes : Buffer.concat([bytes, Buffer.from(scheme.secret.reveal())]);
}
