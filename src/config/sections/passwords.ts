import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { listKeysRule, rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { bool, choice, type Immutable, integer, list, mapping, secret, secretFile } from '#platform/config/values.ts';
import type { PasswordScheme } from '#platform/password-hash/schemes.ts';
import { BASE64_PREFIX } from './base64-prefix.ts';

const MEMORY_KIB = 19_456;

const scheme = mapping({
  version: integer(1, 65_535).describe(
    'Unique version, stored with every hash. New passwords are hashed with the highest version.',
  ),
  algorithm: choice(['argon2id', 'bcrypt', 'pbkdf2']).describe('Hash algorithm; `pbkdf2` uses SHA-256.'),
  cost: hint(integer(4, 31), { defaultText: '12' }).optional().describe('Cost factor of bcrypt.'),
  memory_kib: hint(integer(8, 1_048_576), { defaultText: String(MEMORY_KIB) })
    .optional()
    .describe('Memory of argon2id, at least 8 per lane.'),
  iterations: hint(integer(1, 1000), { defaultText: '2' }).optional().describe('Number of passes of argon2id.'),
  parallelism: hint(integer(1, 255), { defaultText: '1' }).optional().describe('Number of lanes of argon2id.'),
  rounds: hint(integer(100_000, 10_000_000), { defaultText: '600000' })
    .optional()
    .describe('Number of iterations of pbkdf2.'),
  unicode_normalization: bool()
    .prefault(false)
    .describe(
      'Normalizes passwords with NFKC before hashing, as Synapse does. Otherwise with the OpaqueString ' +
        'profile of RFC 8265.',
    ),
  secret: secret().optional().describe('Pepper.'),
  secret_file: secretFile('secret'),
  secret_bytes: hint(
    secret({ pattern: /^base64:[A-Za-z0-9+/]+={0,2}$/, expected: 'expected "base64:" and bytes in base64' }),
    { bytes: true },
  )
    .optional()
    .describe('Pepper that need not be text, as `base64:` and its bytes in base64, instead of `secret`.'),
  secret_bytes_file: secretFile('secret_bytes').describe(
    'File whose exact bytes are the pepper, including a final line break. Set only one of the four.',
  ),
});

const ALGORITHM_OF = {
  cost: 'bcrypt',
  memory_kib: 'argon2id',
  iterations: 'argon2id',
  parallelism: 'argon2id',
  rounds: 'pbkdf2',
} as const;
const ALGORITHM_KEYS = ['cost', 'memory_kib', 'iterations', 'parallelism', 'rounds'] as const;

const withAlgorithmRule = rule(scheme, ['algorithm', ...ALGORITHM_KEYS], (values, problem) => {
  for (const key of ALGORITHM_KEYS) {
    if (values[key] !== undefined && values.algorithm !== ALGORITHM_OF[key]) {
      problem([key], `only used by algorithm "${ALGORITHM_OF[key]}"`);
    }
  }
});

const withMemoryRule = rule(withAlgorithmRule, ['memory_kib', 'parallelism'], (values, problem) => {
  const minimum = 8 * (values.parallelism ?? 1);
  if ((values.memory_kib ?? MEMORY_KIB) < minimum) {
    problem(['memory_kib'], `argon2id needs 8 KiB per lane, here at least ${minimum}`);
  }
});

const withOneSecretRule = rule(withMemoryRule, ['secret', 'secret_bytes'], (values, problem) => {
  if (values.secret !== undefined && values.secret_bytes !== undefined) {
    problem(['secret_bytes'], 'not allowed together with "secret"');
  }
});

const schemes = listKeysRule(list(withOneSecretRule, { minimum: 1 }), ['version'], (entries, problem) => {
  const seen = new Set<number>();
  for (const [index, { version }] of entries) {
    if (seen.has(version)) problem([index, 'version'], `version ${version} is used twice`);
    seen.add(version);
  }
});

export const passwordsSection = mapping({
  enabled: bool().prefault(true).describe('Enables sign-in with a password.'),
  minimum_complexity: integer(0, 4).prefault(3).describe('Minimum strength (zxcvbn score) of a new password.'),
  minimum_length: integer(1, 64).prefault(8).describe('Minimum length of a new password, in characters.'),
  breach_check: bool()
    .prefault(false)
    .describe(
      'Checks new passwords against known leaks: the first five digits of the SHA-1 hash are sent to ' +
        'api.pwnedpasswords.com. If it does not respond, the password is accepted.',
    ),
  maximum_length: integer(64, 4096).prefault(1024).describe('Maximum length of a password, in bytes (UTF-8).'),
  schemes: schemes
    .prefault([{ version: 1, algorithm: 'argon2id' }])
    .describe('Password hashing schemes. Hashes of older versions are verified, and upgraded at the next sign-in.'),
});

type ParsedPasswords = z.output<typeof passwordsSection>;

export type PasswordsConfig = Immutable<ReturnType<typeof passwordsConfig>>;

export function passwordsConfig(parsed: ParsedPasswords) {
  return {
    enabled: parsed.enabled,
    /** zxcvbn score, 0 to 4. */
    minimumComplexity: parsed.minimum_complexity,
    /** In characters. */
    minimumLength: parsed.minimum_length,
    /** New passwords are checked against known breaches. */
    hasBreachCheck: parsed.breach_check,
    /** In UTF-8 bytes. */
    maximumLength: parsed.maximum_length,
    /** Newest version first; it hashes new passwords. */
    schemes: parsed.schemes.map(schemeConfig).sort((left, right) => right.version - left.version),
  };
}

function pepperOf({ secret: text, secret_bytes: bytes }: ParsedPasswords['schemes'][number]) {
  if (bytes === undefined) return { secret: text === undefined ? undefined : new Secret(text) };
  return { secret: new Secret(bytes.slice(BASE64_PREFIX.length)), secretEncoding: 'base64' as const };
}

function schemeConfig(parsed: ParsedPasswords['schemes'][number]): PasswordScheme {
  const common = {
    version: parsed.version,
    unicodeNormalization: parsed.unicode_normalization,
    ...pepperOf(parsed),
  };
  switch (parsed.algorithm) {
    case 'argon2id':
      return {
        ...common,
        algorithm: 'argon2id',
        memoryKib: parsed.memory_kib ?? MEMORY_KIB,
        iterations: parsed.iterations ?? 2,
        parallelism: parsed.parallelism ?? 1,
      };
    case 'bcrypt':
      return { ...common, algorithm: 'bcrypt', cost: parsed.cost ?? 12 };
    case 'pbkdf2':
      return { ...common, algorithm: 'pbkdf2', rounds: parsed.rounds ?? 600_000 };
  }
}
