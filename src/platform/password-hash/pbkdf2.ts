import { pbkdf2 as pbkdf2WithCallback } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBytes } from '#platform/base/random.ts';
import { equalDigests } from '#platform/base/secret.ts';
import { type PasswordHashing, type PasswordScheme, pepperedBytes } from './schemes.ts';

type Pbkdf2Scheme = Extract<PasswordScheme, { algorithm: 'pbkdf2' }>;

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
const MAX_ROUNDS = 10_000_000;
const PHC = /^\$pbkdf2-sha256\$i=(\d{1,8})(?:,l=\d{1,3})?\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{22,128})$/;

const compute = promisify(pbkdf2WithCallback);

/** PBKDF2 with SHA-256 (RFC 8018), PHC strings `$pbkdf2-sha256$i=<rounds>,l=32$<salt>$<digest>`. */
export function pbkdf2(scheme: Pbkdf2Scheme): PasswordHashing {
  const prefix = `$pbkdf2-sha256$i=${scheme.rounds},l=${DIGEST_BYTES}$`;
  return {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES);
      const digest = await compute(pepperedBytes(scheme, password), salt, scheme.rounds, DIGEST_BYTES, 'sha256');
      return `${prefix}${unpadded(salt)}$${unpadded(digest)}`;
    },
    verify: async (stored, password) => {
      const { rounds, salt, digest } = parse(stored);
      const actual = await compute(pepperedBytes(scheme, password), salt, rounds, digest.length, 'sha256');
      return equalDigests(actual, digest);
    },
    isCurrent: (stored) => stored.startsWith(prefix),
    dummy: `${prefix}${unpadded(Buffer.alloc(SALT_BYTES))}$${unpadded(Buffer.alloc(DIGEST_BYTES))}`,
  };
}

function parse(stored: string): { rounds: number; salt: Buffer; digest: Buffer } {
  const [, rounds = '0', salt = '', digest = ''] = PHC.exec(stored) ?? [];
  if (Number(rounds) < 1 || Number(rounds) > MAX_ROUNDS) throw new Error('not a pbkdf2-sha256 hash');
  return { rounds: Number(rounds), salt: Buffer.from(salt, 'base64'), digest: Buffer.from(digest, 'base64') };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
