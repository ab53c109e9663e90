import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { readSigningKeys, type SigningKeySource } from './read-signing-keys.ts';
import type { SigningKeys } from './signing-keys.ts';

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const RSA_2048 = rsa(2048);
const RSA_4096 = rsa(4096);
const PASSWORD = 'sesame';

/** The block that `openssl ecparam -genkey` writes before the key. */
const EC_PARAMETERS = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
const ENCRYPTED = { cipher: 'aes-256-cbc', passphrase: PASSWORD } as const;

type Form = readonly [name: string, read: (key: KeyObject) => Pick<SigningKeySource, 'key' | 'password'>];

const PKCS8: readonly Form[] = [
  ['PKCS#8, PEM', (key) => ({ key: key.export({ type: 'pkcs8', format: 'pem' }).toString() })],
  ['PKCS#8, PEM with Windows line ends', (key) => ({ key: windows(key.export({ type: 'pkcs8', format: 'pem' })) })],
  ['PKCS#8, DER', (key) => ({ key: key.export({ type: 'pkcs8', format: 'der' }) })],
  [
    'PKCS#8, encrypted PEM',
    (key) => ({ key: key.export({ type: 'pkcs8', format: 'pem', ...ENCRYPTED }).toString(), password: PASSWORD }),
  ],
  [
    'PKCS#8, encrypted DER',
    (key) => ({ key: key.export({ type: 'pkcs8', format: 'der', ...ENCRYPTED }), password: PASSWORD }),
  ],
];
const PKCS1: readonly Form[] = [
  ['PKCS#1, PEM', (key) => ({ key: key.export({ type: 'pkcs1', format: 'pem' }).toString() })],
  ['PKCS#1, DER', (key) => ({ key: key.export({ type: 'pkcs1', format: 'der' }) })],
];
const SEC1: readonly Form[] = [
  ['SEC1, PEM', (key) => ({ key: key.export({ type: 'sec1', format: 'pem' }).toString() })],
  ['SEC1, DER', (key) => ({ key: key.export({ type: 'sec1', format: 'der' }) })],
];
const KINDS: readonly (readonly [alg: string, key: KeyObject, forms: readonly Form[]])[] = [
  ['RS256', RSA_2048, [...PKCS8, ...PKCS1]],
  ['RS256', RSA_4096, PKCS8.slice(0, 1)],
  ['ES256', ec('P-256'), [...PKCS8, ...SEC1]],
  ['ES384', ec('P-384'), [...PKCS8, ...SEC1]],
  ['ES512', ec('P-521'), [...PKCS8, ...SEC1]],
  ['ES256K', ec('secp256k1'), [...PKCS8, ...SEC1]],
  ['EdDSA', generateKeyPairSync('ed25519').privateKey, PKCS8],
];

function windows(pem: string | Buffer): string {
  return pem.toString().replaceAll('\n', '\r\n');
}

/** Reads the key together with an RSA key, which every set needs. */
function readWithRsa(source: Pick<SigningKeySource, 'key' | 'password'>): SigningKeys {
  const fallback = { name: 'rsa', key: RSA_2048.export({ type: 'pkcs8', format: 'pem' }), useForSigning: true };
  const entry = { name: 'the key', kid: 'configured', useForSigning: true, ...source };
  return readSigningKeys([entry, { ...fallback, kid: 'other' }]);
}

describe.each(KINDS)('a key for %s', (alg, key, forms) => {
  test.each(forms)('%s: signs so that others can verify with the published set (oauth 3.1)', async (_form, read) => {
    const keys = readWithRsa(read(key));
    const jwt = await keys.signJwt({ sub: 'x' }, { alg });
    const published = keys.publicJwks().keys;
    expect(await isVerified(jwt, published, alg)).toBe(true);
  });
});

/** Verifies with jose, which has dropped ES256K. That is verified with the published key itself. */
async function isVerified(
  jwt: string,
  keys: SigningKeys['publicJwks'] extends () => { keys: infer K } ? K : never,
  alg: string,
) {
  if (alg !== 'ES256K') {
    const { protectedHeader } = await jwtVerify(jwt, createLocalJWKSet({ keys: [...keys] }));
    return protectedHeader.kid === 'configured';
  }
  const jwk = keys.find(({ kid }) => kid === 'configured');
  const [head = '', body = '', signature = ''] = jwt.split('.');
  const key = createPublicKey({ key: jwk ?? {}, format: 'jwk' });
  const bytes = Buffer.from(signature, 'base64url');
  expect(bytes).toHaveLength(64);
  return verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

describe('formats written by common tools', () => {
  test('a PEM file by openssl with the curve parameters before the key', () => {
    const pem = EC_PARAMETERS + ec('P-256').export({ type: 'sec1', format: 'pem' }).toString();
    expect(readWithRsa({ key: pem }).canSign('ES256')).toBe(true);
  });

  test('PKCS#1 encrypted by openssl in the legacy format', () => {
    const key = RSA_4096.export({ type: 'pkcs1', format: 'pem', ...ENCRYPTED }).toString();
    expect(key).toContain('Proc-Type: 4,ENCRYPTED');
    expect(readWithRsa({ key, password: PASSWORD }).publicJwks().keys).toHaveLength(2);
  });
});

describe('a start is rejected, and the message names the entry but nothing of its content', () => {
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const sealed = RSA_2048.export({ type: 'pkcs8', format: 'pem', ...ENCRYPTED }).toString();
  test.each([
    ['an empty key', { key: '' }, /not a private key/],
    ['bytes that are not a key', { key: Buffer.from([0x30, 0x82, 0, 1, 2]) }, /not a private key/],
    ['a PEM block that was cut', { key: pem(RSA_2048).slice(0, 400) }, /not a private key/],
    ['a public key', { key: createPublicKey(RSA_2048).export({ type: 'spki', format: 'pem' }) }, /not a private key/],
    ['an encrypted key without a password', { key: sealed }, /an encrypted key needs its password/],
    ['an encrypted key with a wrong password', { key: sealed, password: 'hunter2' }, /the password is wrong/],
    ['an RSA key of 2047 bits', { key: pem(rsa(2047)) }, /2048 to 8192 bits; this key has 2047/],
    ['an RSA key with the exponent 1', { key: withExponentOne() }, /not a private key|exponent|damaged/],
    ['an RSA key with a damaged part', { key: damaged(RSA_2048) }, /not a private key|damaged/],
    ['an RSA-PSS key', { key: pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey) }, /unsupported/],
    ['a curve that no algorithm uses', { key: pem(ec('brainpoolP256r1')) }, /unsupported key type/],
    ['Ed448', { key: pem(generateKeyPairSync('ed448').privateKey) }, /unsupported key type/],
  ])('%s', (_what, source, message) => {
    const read = () => readSigningKeys([{ name: 'secrets.keys[3]', useForSigning: true, ...source }]);
    expect(read).toThrow(message);
    expect(read).toThrow(/^secrets\.keys\[3\]: /);
    const text = String(source.key).slice(30, 60);
    expect(() => read()).toThrow(expect.objectContaining({ exitCode: 78 }));
    expect(messageOf(read)).not.toContain(text === '' ? 'nothing to leak' : text);
    expect(messageOf(read)).not.toContain('hunter2');
  });

  test('all broken entries are reported together, and a duplicate key by its ID', () => {
    const key = pem(RSA_2048);
    const sources = [
      { name: 'a', key, useForSigning: true },
      { name: 'b', key: 'x', useForSigning: true },
      { name: 'c', key, useForSigning: false },
    ];
    expect(messageOf(() => readSigningKeys(sources))).toMatch(
      /^b: not a private key.*\nc: key ID [\w-]{43} is already used by a/,
    );
  });
});

function messageOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns a key whose private exponent belongs to another one, although all of its parts can be parsed. */
function damaged(key: KeyObject): Buffer {
  const der = key.export({ type: 'pkcs1', format: 'der' });
  const parts = { ...key.export({ format: 'jwk' }) };
  const at = der.indexOf(Buffer.from(parts.dp ?? '', 'base64url'));
  der.writeUInt8(der.readUInt8(at + 20) ^ 1, at + 20);
  const exponent = der.indexOf(Buffer.from(parts.d ?? '', 'base64url'));
  der.writeUInt8(der.readUInt8(exponent + 20) ^ 1, exponent + 20);
  return der;
}

/** Anyone can forge signatures of this key. */
function withExponentOne(): Buffer {
  const der = RSA_2048.export({ type: 'pkcs1', format: 'der' });
  const at = der.indexOf(Buffer.from([0x02, 0x03, 0x01, 0x00, 0x01]));
  // Replaces INTEGER 65537 by INTEGER 1, of the same length.
  Buffer.from([0x02, 0x03, 0x00, 0x00, 0x01]).copy(der, at);
  return der;
}
