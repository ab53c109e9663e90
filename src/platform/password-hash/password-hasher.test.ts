import { describe, expect, test } from 'vitest';
import { Secret } from '#platform/base/secret.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { PasswordHasher, type StoredHash } from './password-hasher.ts';
import { formsOfPassword } from './prepare-password.ts';
import { hashingOf, type PasswordScheme } from './schemes.ts';

const common = { unicodeNormalization: false, secret: undefined };
const argon2id = {
  ...common,
  version: 3,
  algorithm: 'argon2id',
  memoryKib: 64,
  iterations: 1,
  parallelism: 1,
} as const;
const bcrypt = { ...common, version: 2, algorithm: 'bcrypt', cost: 4 } as const;
const pbkdf2 = { ...common, version: 1, algorithm: 'pbkdf2', rounds: 1000 } as const;
const caller = { address: '192.0.2.1' };
const log = new RecordingLog();

function hasherOf(...schemes: PasswordScheme[]): PasswordHasher {
  return new PasswordHasher({ schemes, concurrency: 2, queueLength: 16, log });
}

async function hashed(hasher: PasswordHasher, password: string): Promise<StoredHash> {
  const stored = await hasher.hash(password, caller);
  if (stored === undefined) throw new Error('too long');
  return stored;
}

describe.each([
  ['argon2id', argon2id, /^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/],
  ['bcrypt', bcrypt, /^\$2b\$04\$[./A-Za-z0-9]{53}$/],
  ['pbkdf2', pbkdf2, /^\$pbkdf2-sha256\$i=1000,l=32\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/],
] as const)('%s', (_, scheme, format) => {
  test('hashes contain their parameters and verify only with their password', async () => {
    const hasher = hasherOf(scheme);
    const stored = await hashed(hasher, 'påsswörd');
    expect(stored.hash).toMatch(format);
    expect(stored.schemeVersion).toBe(scheme.version);
    expect(await hasher.verify(stored, 'påsswörd', caller)).toEqual({ isRight: true, isOutdated: false });
    expect(await hasher.verify(stored, 'påsswörD', caller)).toEqual({ isRight: false });
    expect((await hashed(hasher, 'påsswörd')).hash).not.toBe(stored.hash);
  });

  test('a pepper need not be text', async () => {
    const bytes = Buffer.from('pepper\n');
    const stored = await hashed(hasherOf({ ...scheme, secret: new Secret('pepper\n') }), 'password');
    const same = hasherOf({ ...scheme, secret: new Secret(bytes.toString('base64')), secretEncoding: 'base64' });
    expect(await same.verify(stored, 'password', caller)).toMatchObject({ isRight: true });
    const other = hasherOf({ ...scheme, secret: new Secret('/wo='), secretEncoding: 'base64' });
    const ofOther = await hashed(other, 'password');
    expect(await other.verify(ofOther, 'password', caller)).toMatchObject({ isRight: true });
    expect(await same.verify(ofOther, 'password', caller)).toMatchObject({ isRight: false });
  });

  test('a hash made with a pepper requires it', async () => {
    const peppered = hasherOf({ ...scheme, secret: new Secret('pepper') });
    const stored = await hashed(peppered, 'password');
    expect(await peppered.verify(stored, 'password', caller)).toMatchObject({ isRight: true });
    expect(await hasherOf(scheme).verify(stored, 'password', caller)).toEqual({ isRight: false });
    expect(await hasherOf({ ...scheme, secret: new Secret('salt') }).verify(stored, 'password', caller)).toEqual({
      isRight: false,
    });
  });

  test('the same password in another Unicode form or with another space character matches', async () => {
    const composed = 'caf\u00e9 au lait';
    const decomposed = 'cafe\u0301\u00a0au lait';
    for (const hasher of [hasherOf(scheme), hasherOf({ ...scheme, unicodeNormalization: true })]) {
      for (const made of [composed, decomposed]) {
        const stored = await hashed(hasher, made);
        for (const typed of [composed, decomposed])
          expect(await hasher.verify(stored, typed, caller)).toEqual({ isRight: true, isOutdated: false });
        expect(await hasher.verify(stored, 'cafe au lait', caller)).toEqual({ isRight: false });
      }
    }
  });

  test.each([
    ['as typed, decomposed', 'cafe\u0301', 'cafe\u0301'],
    ['decomposed, typed composed', 'cafe\u0301', 'caf\u00e9'],
    ['in compatibility form', 'office caf\u00e9', 'o\ufb03ce cafe\u0301'],
    ['with a space of another kind', 'a\u00a0b', 'a\u00a0b'],
  ])('a hash made before %s still matches, and is outdated', async (_, made, typed) => {
    const hasher = hasherOf(scheme);
    const hash = (await hashingOf(scheme).hash(made)) ?? expect.fail('too long');
    const stored = { hash, schemeVersion: scheme.version };
    expect(await hasher.verify(stored, typed, caller)).toEqual({ isRight: true, isOutdated: true });
  });

  test('no password matches the placeholder hash of unknown users', async () => {
    for (const password of ['', 'password', '\0']) {
      expect(await hasherOf(scheme).verify(undefined, password, caller)).toEqual({ isRight: false });
    }
  });

  test('stored text that is not a hash never verifies', async () => {
    for (const hash of [
      '',
      'password',
      '$argon2id$v=19$m=64,t=1,p=1$',
      '$2b$04$short',
      '$pbkdf2-sha256$i=0,l=32$AA$AA',
    ]) {
      const stored = { hash, schemeVersion: scheme.version };
      expect(await hasherOf(scheme).verify(stored, 'password', caller)).toEqual({ isRight: false });
    }
  });
});

describe('schemes by version', () => {
  test('the highest version hashes new passwords, whatever their order', async () => {
    expect((await hashed(hasherOf(pbkdf2, argon2id, bcrypt), 'password')).schemeVersion).toBe(3);
  });

  test('a hash of an older scheme matches and is outdated', async () => {
    const stored = await hashed(hasherOf(bcrypt), 'password');
    const verification = await hasherOf(argon2id, bcrypt).verify(stored, 'password', caller);
    expect(verification).toEqual({ isRight: true, isOutdated: true });
  });

  test.each([
    ['argon2id', argon2id, { ...argon2id, iterations: 2 }],
    ['bcrypt', bcrypt, { ...bcrypt, cost: 5 }],
    ['pbkdf2', pbkdf2, { ...pbkdf2, rounds: 1001 }],
  ] as const)(
    'a hash with a %s cost other than the current one of its scheme is outdated',
    async (_, before, after) => {
      const stored = await hashed(hasherOf(before), 'password');
      expect(await hasherOf(after).verify(stored, 'password', caller)).toEqual({ isRight: true, isOutdated: true });
    },
  );

  test('a hash of an unconfigured version never verifies, and the log names the version', async () => {
    const stored = await hashed(hasherOf(bcrypt), 'password');
    expect(await hasherOf(argon2id).verify(stored, 'password', caller)).toEqual({ isRight: false });
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('version 2') });
  });
});

describe('bcrypt hashes of other systems', () => {
  // Test vector from crypt_blowfish.
  const vector = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';

  test.each(['$2a$', '$2b$', '$2y$'])('the prefix %s is accepted', async (mark) => {
    const stored = { hash: vector.replace('$2a$', mark), schemeVersion: 2 };
    expect(await hasherOf({ ...bcrypt, cost: 5 }).verify(stored, 'U*U', caller)).toEqual({
      isRight: true,
      isOutdated: false,
    });
    expect(await hasherOf(bcrypt).verify(stored, 'U*V', caller)).toEqual({ isRight: false });
  });

  test('compares 72 bytes, and rejects longer input for a new hash, pepper included', async () => {
    const hasher = hasherOf(bcrypt);
    const stored = await hashed(hasher, 'a'.repeat(72));
    expect(await hasher.verify(stored, 'a'.repeat(80), caller)).toMatchObject({ isRight: true });
    expect(await hasher.hash('a'.repeat(73), caller)).toBeUndefined();
    const peppered = hasherOf({ ...bcrypt, secret: new Secret('pepper') });
    expect(await peppered.hash('a'.repeat(66), caller)).toBeDefined();
    expect(await peppered.hash('a'.repeat(67), caller)).toBeUndefined();
  });
});

test('a wrong password costs one hash in ASCII and at most four otherwise, with or without an account', async () => {
  const queries: string[] = [];
  const counted = new PasswordHasher({ schemes: [argon2id], concurrency: 1, queueLength: 4, log });
  const stored = await hashed(counted, 'right');
  for (const typed of ['wrong', 'wr\u00f6ng', '\ufb03\u00e9\u00a0wrong']) {
    queries.push(...formsOfPassword(typed).filter((form, index, forms) => forms.indexOf(form) === index));
    expect(await counted.verify(stored, typed, caller)).toEqual({ isRight: false });
    expect(await counted.verify(undefined, typed, caller)).toEqual({ isRight: false });
  }
  expect(queries).toHaveLength(1 + 2 + 4);
});
