import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseKeySet, parsePublicKey, usableKeys } from './json-web-keys.ts';

const rsa = (modulusLength: number, publicExponent = 65537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
const ed25519 = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

const RSA_KEY = rsa(2048);
const EC_KEY = ec('P-256');

function problemOf(...keys: unknown[]): string {
  const outcome = parseKeySet({ keys });
  return outcome.ok ? `no problem, ${outcome.usable.length} keys` : outcome.problem;
}

describe('a public key', () => {
  test.each([
    ['RSA', RSA_KEY, ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
    ['RSA for one algorithm', { ...RSA_KEY, alg: 'PS384' }, ['PS384']],
    ['P-256', EC_KEY, ['ES256']],
    ['P-384', ec('P-384'), ['ES384']],
    ['P-521', ec('P-521'), ['ES512']],
    ['secp256k1', ec('secp256k1'), ['ES256K']],
    ['Ed25519', ed25519(), ['EdDSA']],
    ['with a purpose', { ...EC_KEY, use: 'sig', key_ops: ['verify'], alg: 'ES256', kid: 'one', x5t: 'x' }, ['ES256']],
  ])('%s verifies signatures of its key type', (_what, jwk, algorithms) => {
    const key = parsePublicKey(jwk);
    expect(key?.algorithms).toEqual(algorithms);
    expect(key?.kid).toBe('kid' in jwk ? jwk['kid'] : undefined);
    expect(key?.key.export({ format: 'jwk' })).toMatchObject({ kty: jwk.kty });
  });

  test.each([
    ['for encryption', { ...RSA_KEY, use: 'enc' }],
    ['for wrapping', { ...RSA_KEY, key_ops: ['wrapKey'] }],
    ['with operations that are no list', { ...RSA_KEY, key_ops: 'verify' }],
    ['with an algorithm for encryption', { ...RSA_KEY, alg: 'RSA-OAEP' }],
    ['with an algorithm of another kind', { ...RSA_KEY, alg: 'ES256' }],
    ['with a shared-secret algorithm', { ...RSA_KEY, alg: 'HS256' }],
    ['of an unknown kind', { kty: 'LWE', n: 'AQAB' }],
    ['of a kind named as a part of every object', { kty: 'constructor' }],
    ['on an unknown curve', { kty: 'EC', crv: 'P-192', x: 'AQAB', y: 'AQAB' }],
    ['for key agreement', { kty: 'OKP', crv: 'X25519', x: EC_KEY.x }],
    ['on Ed448', generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' })],
  ])('%s is ignored: other keys of its set are used (RFC 7517 5)', (_what, jwk) => {
    expect(parsePublicKey(jwk)).toBeUndefined();
    expect(problemOf(jwk, EC_KEY)).toBe('no problem, 1 keys');
  });

  test.each<[string, unknown, string]>([
    ['no object', 'key', 'is not a key'],
    ['null', null, 'is not a key'],
    ['a list', [EC_KEY], 'is not a key'],
    ['without a kind', { n: RSA_KEY.n, e: RSA_KEY.e }, 'is not a key'],
    ['RSA of 1024 bits', rsa(1024), 'has 1024 bits; RSA keys must have 2048 to 8192'],
    ['RSA of 16,384 bits', { ...RSA_KEY, n: 'w'.repeat(2731) }, 'has 16384 bits'],
    ['RSA with the exponent 1', { ...RSA_KEY, e: 'AQ' }, 'has an unsafe RSA exponent'],
    ['RSA with an even exponent', { ...RSA_KEY, e: 'Ag' }, 'has an unsafe RSA exponent'],
    ['RSA with an enormous exponent', { ...RSA_KEY, e: `${RSA_KEY.n?.slice(0, 340)}B` }, 'has an unsafe RSA exponent'],
    ['RSA without a modulus', { kty: 'RSA', e: 'AQAB' }, 'cannot be read'],
    ['RSA with a modulus of other characters', { ...RSA_KEY, n: `${RSA_KEY.n}!` }, 'cannot be read'],
    ['RSA with a number as its modulus', { ...RSA_KEY, n: 65537 }, 'cannot be read'],
    ['a point that is not on the curve', { ...EC_KEY, y: EC_KEY.x }, 'cannot be read'],
    ['a point of another curve', { ...ec('P-384'), crv: 'P-256' }, 'cannot be read'],
    ['a point that is too long', { ...EC_KEY, x: `${EC_KEY.x}AA` }, 'cannot be read'],
    ['the point at infinity', { ...EC_KEY, x: '', y: '' }, 'cannot be read'],
    ['Ed25519 of three bytes', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }, 'cannot be read'],
    ['a number as its kid', { ...EC_KEY, kid: 1 }, 'has a kid'],
    ['a kid of 256 characters', { ...EC_KEY, kid: 'k'.repeat(256) }, 'has a kid'],
  ])('%s is rejected on storage, and ignored in a published set', (_what, jwk, problem) => {
    expect(problemOf(EC_KEY, jwk)).toContain(`keys[1] ${problem}`);
    expect(usableKeys({ keys: [jwk, EC_KEY] })).toHaveLength(1);
    expect(parsePublicKey(jwk)).toBeUndefined();
  });

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])('with the private member %s is rejected', (name) => {
    expect(problemOf({ ...RSA_KEY, [name]: 'AQAB' })).toContain('is a private key');
    expect(parsePublicKey({ ...EC_KEY, [name]: 'AQAB' })).toBeUndefined();
  });

  test('that is a shared secret is rejected', () => {
    expect(problemOf({ kty: 'oct', k: 'c2VjcmV0' })).toContain('is a private key');
    expect(problemOf({ kty: 'oct' }, EC_KEY)).toBe('no problem, 1 keys');
  });
});

describe('a key set', () => {
  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a list', [EC_KEY]],
    ['without keys', {}],
    ['with keys that are no list', { keys: {} }],
    ['with 21 keys', { keys: Array.from({ length: 21 }, () => EC_KEY) }],
  ])('rejects %s', (_what, set) => {
    expect(parseKeySet(set)).toEqual({ ok: false, problem: 'must contain a list "keys" of at most 20 keys' });
  });

  test('has one key per kid, including ignored keys', () => {
    const one: JsonWebKey = { ...EC_KEY, kid: 'one' };
    expect(problemOf(one, { ...RSA_KEY, kid: 'one' })).toBe('contains two keys with the same kid');
    expect(problemOf(one, { kty: 'LWE', kid: 'one' })).toBe('contains two keys with the same kid');
    expect(problemOf(one, RSA_KEY, EC_KEY)).toBe('no problem, 3 keys');
  });

  test('that is published can have up to fifty keys', () => {
    expect(usableKeys({ keys: Array.from({ length: 10_000 }, () => EC_KEY) })).toHaveLength(50);
    for (const nothing of [undefined, null, {}, { keys: {} }, [], 'keys']) expect(usableKeys(nothing)).toEqual([]);
  });

  test('returns keys equal to its input', () => {
    const [key] = usableKeys({ keys: [EC_KEY] });
    expect(key?.key.equals(createPublicKey({ key: EC_KEY, format: 'jwk' }))).toBe(true);
  });
});
