/**
 * Password schemes: how passwords of one version are hashed, with argon2id, bcrypt or PBKDF2. Hashes are PHC strings,
 * except those of bcrypt, which have their own format. The computation runs on other threads.
 */
import { pbkdf2 as pbkdf2WithCallback } from 'node:crypto';
import { promisify } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import { equalDigests, type Secret } from '#platform/base/secret.ts';

/** How passwords of one version are hashed. New hashes use the highest version. */
export type PasswordScheme = {
  readonly version: number;
  readonly unicodeNormalization: boolean;
  /** Pepper. */
  readonly secret: Secret | undefined;
  /** Default: the secret is text. */
  readonly secretEncoding?: 'base64';
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

/** Implementation of one scheme. */
export interface PasswordHashing {
  /** Creates a hash with a random salt. Returns undefined if the password is too long for the algorithm. */
  hash(password: string): Promise<string | undefined>;
  /** Throws if `stored` is not a hash of this kind. */
  verify(stored: string, password: string): Promise<boolean>;
  /** Returns whether a hash of this kind has the scheme's current cost parameters. */
  isCurrent(stored: string): boolean;
  /** Returns the text that is actually hashed. Passwords with equal results need not be tried separately. */
  normalize(password: string): string;
  /** A hash that no password matches, and that costs as much to verify as a new one. */
  readonly dummy: string;
}

/** Returns the bytes of the pepper; empty without one. */
export function pepperOf({ secret, secretEncoding }: Pick<PasswordScheme, 'secret' | 'secretEncoding'>): Buffer {
  return Buffer.from(secret?.reveal() ?? '', secretEncoding ?? 'utf8');
}

export function hashingOf(scheme: PasswordScheme): PasswordHashing {
  return measured(scheme.algorithm, unmeasuredHashingOf(scheme));
}

/** Reports the duration of the work. */
function measured(algorithm: PasswordScheme['algorithm'], hashing: PasswordHashing): PasswordHashing {
  const measure = async <T>(operation: 'hash' | 'verify', work: Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const outcome = await work;
    metrics?.observe(
      'latchkey_password_hash_seconds',
      { operation, algorithm },
      (performance.now() - startedAt) / 1000,
    );
    return outcome;
  };
  return {
    ...hashing,
    hash: (password) => measure('hash', hashing.hash(password)),
    verify: (stored, password) => measure('verify', hashing.verify(stored, password)),
  };
}

function unmeasuredHashingOf(scheme: PasswordScheme): PasswordHashing {
  switch (scheme.algorithm) {
    case 'argon2id':
      return argon2id(scheme);
    case 'bcrypt':
      return bcrypt(scheme);
    case 'pbkdf2':
      return pbkdf2(scheme);
  }
}

type SchemeOf<Algorithm extends PasswordScheme['algorithm']> = Extract<PasswordScheme, { algorithm: Algorithm }>;

const ARGON2_DUMMY_SALT = 'A'.repeat(22);
const ARGON2_DUMMY_DIGEST = 'A'.repeat(43);

/** argon2id (RFC 9106), PHC strings `$argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>`. The pepper is its secret input. */
function argon2id(scheme: SchemeOf<'argon2id'>): PasswordHashing {
  const prefix = `$argon2id$v=19$m=${scheme.memoryKib},t=${scheme.iterations},p=${scheme.parallelism}$`;
  const pepper: argon2.Options = scheme.secret === undefined ? {} : { secret: pepperOf(scheme) };
  const options: argon2.Options = {
    memoryCost: scheme.memoryKib,
    timeCost: scheme.iterations,
    parallelism: scheme.parallelism,
    ...pepper,
  };
  return {
    hash: (password) => argon2.hash(passwordBytes(scheme, password), options),
    verify: (stored, password) => argon2.verify(stored, passwordBytes(scheme, password), pepper),
    isCurrent: (stored) => stored.startsWith(prefix),
    normalize: (password) => normalized(scheme, password),
    dummy: `${prefix}${ARGON2_DUMMY_SALT}$${ARGON2_DUMMY_DIGEST}`,
  };
}

// bcrypt ignores everything beyond this length. A hash of a longer text would accept every text with the same prefix.
const MAX_BCRYPT_BYTES = 72;
const BCRYPT_DUMMY_SALT_AND_DIGEST = '.'.repeat(53);

/** bcrypt: creates `$2b$`. Also verifies `$2a$` and `$2y$`, which differ only in the prefix. */
function bcrypt(scheme: SchemeOf<'bcrypt'>): PasswordHashing {
  const cost = `${String(scheme.cost).padStart(2, '0')}$`;
  return {
    hash: async (password) => {
      const bytes = pepperedBytes(scheme, password);
      if (bytes.length > MAX_BCRYPT_BYTES) return undefined;
      const library = await loadBcrypt();
      // The library writes `$2y$`, its own name for the same algorithm.
      return `$2b$${(await library.hash(bytes, scheme.cost)).slice(4)}`;
    },
    verify: async (stored, password) => {
      const library = await loadBcrypt();
      return await library.verify(pepperedBytes(scheme, password).subarray(0, MAX_BCRYPT_BYTES), stored);
    },
    normalize: (password) => normalized(scheme, password),
    isCurrent: (stored) => /^\$2[aby]\$/.test(stored) && stored.slice(4, 7) === cost,
    dummy: `$2b$${cost}${BCRYPT_DUMMY_SALT_AND_DIGEST}`,
  };
}

// Few services have bcrypt hashes, so the native library is loaded with the first one.
function loadBcrypt(): Promise<typeof import('@node-rs/bcrypt')> {
  return import('@node-rs/bcrypt');
}

const PBKDF2_SALT_BYTES = 16;
const PBKDF2_DIGEST_BYTES = 32;
const MAX_PBKDF2_ROUNDS = 10_000_000;
const PBKDF2_PHC = /^\$pbkdf2-sha256\$i=(\d{1,8})(?:,l=\d{1,3})?\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{22,128})$/;

const computePbkdf2 = promisify(pbkdf2WithCallback);

/** PBKDF2 with SHA-256 (RFC 8018), PHC strings `$pbkdf2-sha256$i=<rounds>,l=32$<salt>$<digest>`. */
function pbkdf2(scheme: SchemeOf<'pbkdf2'>): PasswordHashing {
  const { rounds } = scheme;
  const prefix = `$pbkdf2-sha256$i=${rounds},l=${PBKDF2_DIGEST_BYTES}$`;
  return {
    hash: async (password) => {
      const salt = randomBytes(PBKDF2_SALT_BYTES);
      const digest = await computePbkdf2(pepperedBytes(scheme, password), salt, rounds, PBKDF2_DIGEST_BYTES, 'sha256');
      return `${prefix}${unpadded(salt)}$${unpadded(digest)}`;
    },
    verify: async (stored, password) => {
      const { rounds: storedRounds, salt, digest } = parsePbkdf2(stored);
      const bytes = pepperedBytes(scheme, password);
      return equalDigests(await computePbkdf2(bytes, salt, storedRounds, digest.length, 'sha256'), digest);
    },
    isCurrent: (stored) => stored.startsWith(prefix),
    normalize: (password) => normalized(scheme, password),
    dummy: `${prefix}${unpadded(Buffer.alloc(PBKDF2_SALT_BYTES))}$${unpadded(Buffer.alloc(PBKDF2_DIGEST_BYTES))}`,
  };
}

function parsePbkdf2(stored: string): { rounds: number; salt: Buffer; digest: Buffer } {
  const [, rounds = '0', salt = '', digest = ''] = PBKDF2_PHC.exec(stored) ?? [];
  if (Number(rounds) < 1 || Number(rounds) > MAX_PBKDF2_ROUNDS) throw new Error('not a pbkdf2-sha256 hash');
  return { rounds: Number(rounds), salt: Buffer.from(salt, 'base64'), digest: Buffer.from(digest, 'base64') };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

function normalized(scheme: PasswordScheme, password: string): string {
  return scheme.unicodeNormalization ? password.normalize('NFKC') : password;
}

/** Returns the input of the hash function, normalized if the scheme requires it. */
function passwordBytes(scheme: PasswordScheme, password: string): Buffer {
  return Buffer.from(normalized(scheme, password));
}

/** Returns the same with the pepper appended, for algorithms without a separate input for it. */
function pepperedBytes(scheme: PasswordScheme, password: string): Buffer {
  const bytes = passwordBytes(scheme, password);
  return scheme.secret === undefined ? bytes : Buffer.concat([bytes, pepperOf(scheme)]);
}
