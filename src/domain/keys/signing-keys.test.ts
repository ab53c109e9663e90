import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { hashOfAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import { readSigningKeys } from './read-signing-keys.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const pem = (key: typeof rsa) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const curve = (namedCurve: string) => pem(generateKeyPairSync('ec', { namedCurve }).privateKey);
const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid;
const ALL = [
  { name: 'rsa', key: pem(rsa), useForSigning: true },
  { name: 'p256', key: curve('P-256'), useForSigning: true },
  { name: 'p384', key: curve('P-384'), useForSigning: true },
  { name: 'p521', key: curve('P-521'), useForSigning: true },
  { name: 'k256', key: curve('secp256k1'), useForSigning: true },
  { name: 'ed25519', key: pem(generateKeyPairSync('ed25519').privateKey), useForSigning: true },
];

describe('signing keys', () => {
  const keys = readSigningKeys(ALL);

  test('each key has the one algorithm of its type, RS256 first', () => {
    expect(keys.algorithms()).toEqual(['RS256', 'ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA']);
  });

  test('a JWT of one type is not accepted as another', async () => {
    const [plain, access] = [
      await keys.signJwt({ sub: 'x' }, { alg: 'RS256' }),
      await keys.signJwt({ sub: 'y' }, { alg: 'RS256', typ: 'at+jwt' }),
    ];
    expect(keys.verifyJwt(plain)).toEqual({ sub: 'x' });
    expect(keys.verifyJwt(access)).toBeUndefined();
    expect(keys.verifyJwt(access, 'at+jwt')).toEqual({ sub: 'y' });
    expect(keys.verifyJwt(plain, 'at+jwt')).toBeUndefined();
  });

  test('a key whose entry names another algorithm signs only with that', async () => {
    const pss = { name: 'pss', key: pem(otherRsa), useForSigning: true, alg: 'PS256' } as const;
    const both = readSigningKeys([pss, ...ALL]);
    expect(both.algorithms()).toEqual(['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA']);
    const { protectedHeader } = await jwtVerify(
      await both.signJwt({ exp: 4_000_000_000 }, { alg: 'PS256' }),
      createLocalJWKSet({ keys: [...both.publicJwks().keys] }),
    );
    expect(both.publicJwks().keys.find(({ kid }) => kid === protectedHeader.kid)).toMatchObject({ alg: 'PS256' });
    expect(() => readSigningKeys([{ ...pss, alg: 'ES256' }])).toThrow(/pss: the key cannot sign with ES256, only/);
    expect(() => readSigningKeys([pss])).toThrow(/RSA key that signs with RS256/);
  });

  test('the RS256 key comes first in the published set, wherever it is configured', () => {
    const next = { name: 'next', key: pem(otherRsa), useForSigning: false };
    const { keys: published } = readSigningKeys([...ALL.slice(1), next, ...ALL.slice(0, 1)]).publicJwks();
    const kinds = published.map(({ kty, alg }) => `${kty} ${alg}`);
    expect(kinds).toEqual(['RSA RS256', 'RSA RS256', 'EC ES256', 'EC ES384', 'EC ES512', 'EC ES256K', 'OKP EdDSA']);
    const [signer] = readSigningKeys(ALL.slice(0, 1)).publicJwks().keys;
    expect(published[0]?.kid).toBe(signer?.kid);
  });

  test.each(keys.algorithms().filter((alg) => alg !== 'ES256K'))(
    '%s: an independent library verifies the signature from the published set',
    async (alg) => {
      const jwt = await keys.signJwt({ iss: 'https://auth.example/', exp: 4_000_000_000 }, { alg });
      const { payload, protectedHeader } = await jwtVerify(
        jwt,
        createLocalJWKSet({ keys: [...keys.publicJwks().keys] }),
      );
      expect(payload.iss).toBe('https://auth.example/');
      expect(protectedHeader).toMatchObject({ alg, typ: 'JWT' });
    },
  );

  test('publishes no private or symmetric member (RFC 7517 9.2)', () => {
    for (const key of keys.publicJwks().keys) {
      expect(Object.keys(key)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(d|p|q|dp|dq|qi|k|oth)$/)]));
      expect(key.use).toBe('sig');
      expect(key.kid).toMatch(/^[\w-]{43}$/);
      expect(key.alg).toMatch(/^(RS256|ES256|ES384|ES512|ES256K|EdDSA)$/);
    }
  });

  test('a key that is only published does not sign (S-166)', async () => {
    const next = { name: 'next', key: pem(otherRsa), useForSigning: false };
    const withNext = readSigningKeys([next, ...ALL]);
    expect(withNext.publicJwks().keys).toHaveLength(7);
    expect(withNext.list().filter(({ isSigning }) => isSigning)).toEqual(keys.list());
    expect(kidOf(await withNext.signJwt({}, { alg: 'RS256' }))).toBe(kidOf(await keys.signJwt({}, { alg: 'RS256' })));
  });

  test('a replaced set signs and verifies with the new keys only (S-167)', async () => {
    const next = { name: 'next', key: pem(otherRsa), useForSigning: false };
    const both = readSigningKeys([...ALL, next]);
    const running = readSigningKeys(ALL);
    const { revision } = running;
    const former = await running.signJwt({ sub: 'x' }, { alg: 'RS256' });
    running.replaceWith(both);
    expect(running.revision).not.toBe(revision);
    expect(running.verifyJwt(former)).toEqual({ sub: 'x' });
    running.replaceWith(readSigningKeys([{ ...next, useForSigning: true }]));
    expect(running.verifyJwt(former)).toBeUndefined();
    expect(running.publicJwks().keys).toHaveLength(1);
    expect(running.algorithms()).toEqual(['RS256']);
    expect(running.verifyJwt(await running.signJwt({ sub: 'y' }, { alg: 'RS256' }))).toEqual({ sub: 'y' });
  });

  test.each([
    [
      'a broken key',
      { name: 'secrets.keys[0]', key: 'nonsense', useForSigning: true },
      /secrets\.keys\[0\]: not a private key/,
    ],
    [
      'a small RSA key',
      { name: 'k', key: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey), useForSigning: true },
      /1024/,
    ],
    [
      'an unsupported kind',
      { name: 'k', key: pem(generateKeyPairSync('x25519').privateKey), useForSigning: true },
      /unsupported key type/,
    ],
  ])('%s prevents the start and names the entry', (_name, source, message) => {
    expect(() => readSigningKeys([source])).toThrow(message);
  });

  test('rejects a set without an RSA key and a duplicate key ID', () => {
    expect(() => readSigningKeys(ALL.slice(1))).toThrow(/RSA key/);
    expect(() => readSigningKeys([...ALL, ...ALL.slice(0, 1)])).toThrow(/is already used by rsa/);
  });

  test('reads encrypted PKCS#8 only with its password', () => {
    const key = rsa.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'sesame' }).toString();
    expect(readSigningKeys([{ name: 'k', key, password: 'sesame', useForSigning: true }]).canSign('RS256')).toBe(true);
    expect(() => readSigningKeys([{ name: 'k', key, password: 'wrong', useForSigning: true }])).toThrow(
      /password is wrong/,
    );
  });

  test('reads DER formats', () => {
    for (const type of ['pkcs1', 'pkcs8'] as const) {
      const key = rsa.export({ type, format: 'der' });
      expect(readSigningKeys([{ name: 'k', key, useForSigning: true }]).canSign('RS256')).toBe(true);
    }
  });

  test.each([
    ['RS256', 'sha256'],
    ['PS384', 'sha384'],
    ['ES512', 'sha512'],
    ['ES256K', 'sha256'],
    ['EdDSA', 'sha512'],
  ] as const)('%s goes with %s (OpenID Connect Core 3.1.3.6)', (algorithm, hash) => {
    expect(hashOfAlgorithm(algorithm)).toBe(hash);
  });
});
