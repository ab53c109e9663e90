/**
 * Password schemes: how passwords of one version are hashed, by argon2id, bcrypt or PBKDF2. Hashes are PHC strings,
 * those of bcrypt have its own format. The work is done in other threads than the caller's.
 */
import { pbkdf2 as pbkdf2WithCallback } from 'node:crypto';
import { promisify } from 'node:util';
import * as argon2 from '@node-rs/argon2';
import { metrics } from '#platform/base/metrics.ts';
import { randomBytes } from '#platform/base/random.ts';
import { equalDigests, type Secret } from '#platform/base/secret.ts';

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

/** The functions of one scheme. */
export interface PasswordHashing {
  /** A new hash with a random salt; undefined when the password is too long for the algorithm. */
  hash(password: string): Promise<string | undefined>;
  /** Throws when `stored` is not a hash of this kind. */
  verify(stored: string, password: string): Promise<boolean>;
  /** Whether a hash of this kind was made with the costs that the scheme has now. */
  isCurrent(stored: string): boolean;
  /** What is hashed for this text; texts with equal results need not be tried one after the other. */
  normalize(password: string): string;
  /** A hash that no password matches, which costs as much to check as a new one. */
  readonly dummy: string;
}

export function hashingOf(scheme: PasswordScheme): PasswordHashing {
  return measured(scheme.algorithm, unmeasuredHashingOf(scheme));
}

/** Reports how long the work takes. */
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

/** argon2id (RFC 9106), PHC strings `$argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>`; the pepper is its secret input. */
function argon2id(scheme: SchemeOf<'argon2id'>): PasswordHashing {
  const prefix = `$argon2id$v=19$m=${scheme.memoryKib},t=${scheme.iterations},p=${scheme.parallelism}$`;
  const pepper: argon2.Options = scheme.secret === undefined ? {} : { secret: Buffer.from(scheme.secret.reveal()) };
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

// bcrypt reads no more than this: a new hash of a longer text would accept every text that begins with the same bytes.
const MAX_BCRYPT_BYTES = 72;
const BCRYPT_DUMMY_SALT_AND_DIGEST = '.'.repeat(53);

/** bcrypt: creates `$2b$`, checks `$2a$` and `$2y$` as well, which differ in nothing but the mark. */
function bcrypt(scheme: SchemeOf<'bcrypt'>): PasswordHashing {
  const cost = `${String(scheme.cost).padStart(2, '0')}$`;
  return {
    hash: async (password) => {
      const bytes = pepperedBytes(scheme, password);
      if (bytes.length > MAX_BCRYPT_BYTES) return undefined;
      const library = await loadBcrypt();
      // The library writes `$2y$`, its own name for the same function.
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

// Few services hold bcrypt hashes: the native library is loaded with the first one.
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

/** The bytes that go into the hash function: normalized where the scheme says so. */
function passwordBytes(scheme: PasswordScheme, password: string): Buffer {
  return Buffer.from(normalized(scheme, password));
}

/** The same with the pepper appended, for the functions that have no input for one. */
function pepperedBytes(scheme: PasswordScheme, password: string): Buffer {
  const bytes = passwordBytes(scheme, password);
  return scheme.secret === undefined ? bytes : Buffer.concat([bytes, Buffer.from(scheme.secret.reveal())]);
}
