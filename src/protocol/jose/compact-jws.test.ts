import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { CompactSign } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import { type CompactJws, isMacOf, isSignedBy, parseCompactJws } from './compact-jws.ts';
import { MAC_ALGORITHMS, SIGNING_ALGORITHMS, type SigningAlgorithm, signInput } from './signing-algorithms.ts';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CURVE_OF: Partial<Record<SigningAlgorithm, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  ES256K: 'secp256k1',
};
const CLAIMS = { sub: 'somebody', n: 1 };

function keysFor(algorithm: SigningAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  const namedCurve = CURVE_OF[algorithm];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : RSA;
}

const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Builds a JWS with any header and claims, signed with ECDSA on P-256. */
function forged(header: unknown, claims: unknown, key: KeyObject, encoding: 'der' | 'ieee-p1363' = 'ieee-p1363') {
  const content = `${encoded(header)}.${encoded(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: encoding }).toString('base64url')}`;
}

function parsed(text: string): CompactJws {
  const jws = parseCompactJws(text);
  if (jws === undefined) throw new Error('not a JWS');
  return jws;
}

describe('a signature', () => {
  test.each(SIGNING_ALGORITHMS.filter((algorithm) => algorithm !== 'ES256K'))(
    'made with %s by another library is valid with its key, and with no other',
    async (algorithm) => {
      const { privateKey, publicKey } = keysFor(algorithm);
      const text = await new CompactSign(Buffer.from(JSON.stringify(CLAIMS)))
        .setProtectedHeader({ alg: algorithm, kid: 'one', typ: 'application/JWT' })
        .sign(privateKey);
      const jws = parsed(text);
      expect(jws).toMatchObject({ algorithm, keyId: 'one', type: 'jwt', claims: CLAIMS });
      expect(await isSignedBy(jws, publicKey)).toBe(true);
      for (const other of SIGNING_ALGORITHMS) {
        const foreign = other === algorithm || keysFor(other) === RSA ? undefined : keysFor(other).publicKey;
        if (foreign !== undefined) expect(await isSignedBy(jws, foreign)).toBe(false);
      }
      const changed = parsed(text.replace(/\.[^.]+\./, `.${encoded({ ...CLAIMS, n: 2 })}.`));
      expect(await isSignedBy(changed, publicKey)).toBe(false);
    },
  );

  test('with ES256K is valid with its key', async () => {
    const { privateKey, publicKey } = keysFor('ES256K');
    const jws = parsed(forged({ alg: 'ES256K' }, CLAIMS, privateKey));
    expect(await isSignedBy(jws, publicKey)).toBe(true);
    expect(await isSignedBy({ ...jws, algorithm: 'ES256' }, publicKey)).toBe(false);
  });

  test.each(MAC_ALGORITHMS)('with %s is valid with its secret, and with no other', async (algorithm) => {
    const secret = 'a secret of more than thirty-two bytes, with ü';
    const text = await new CompactSign(Buffer.from(JSON.stringify(CLAIMS)))
      .setProtectedHeader({ alg: algorithm })
      .sign(Buffer.from(secret.padEnd(64, '.')));
    expect(isMacOf(parsed(text), secret.padEnd(64, '.'))).toBe(true);
    expect(isMacOf(parsed(text), secret)).toBe(false);
    expect(isMacOf(parsed(text), '')).toBe(false);
  });

  test('in DER form, of zeros, truncated or too long is invalid (CVE-2022-21449)', async () => {
    const { privateKey, publicKey } = keysFor('ES256');
    expect(await isSignedBy(parsed(forged({ alg: 'ES256' }, CLAIMS, privateKey, 'der')), publicKey)).toBe(false);
    const jws = parsed(forged({ alg: 'ES256' }, CLAIMS, privateKey));
    for (const signature of [
      Buffer.alloc(64),
      Buffer.alloc(1),
      jws.signature.subarray(0, 63),
      Buffer.concat([jws.signature, Buffer.alloc(1)]),
    ]) {
      expect(await isSignedBy({ ...jws, signature }, publicKey)).toBe(false);
    }
  });

  test('with RSA is valid only with the padding that the algorithm names, and a salt as long as the hash', async () => {
    const content = `${encoded({ alg: 'PS256' })}.${encoded(CLAIMS)}`;
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const short = sign('sha256', Buffer.from(content), { key: RSA.privateKey, padding, saltLength: 8 });
    expect(await isSignedBy(parsed(`${content}.${short.toString('base64url')}`), RSA.publicKey)).toBe(false);
    const plain = sign('sha256', Buffer.from(content), RSA.privateKey);
    expect(await isSignedBy(parsed(`${content}.${plain.toString('base64url')}`), RSA.publicKey)).toBe(false);
  });

  test('with any algorithm of an RSA key imports that key only once', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const imports = vi.spyOn(crypto.subtle, 'importKey');
    try {
      for (const alg of SIGNING_ALGORITHMS.filter((name) => keysFor(name) === RSA)) {
        const content = `${encoded({ alg })}.${encoded(CLAIMS)}`;
        const { digest, input } = signInput(alg, privateKey);
        const signature = sign(digest, Buffer.from(content), input).toString('base64url');
        expect(await isSignedBy(parsed(`${content}.${signature}`), publicKey)).toBe(true);
      }
      expect(imports.mock.calls.length).toBeLessThan(2);
    } finally {
      imports.mockRestore();
    }
  });

  test('with a shared secret is never valid with a public key, nor vice versa (RFC 8725 2.1)', async () => {
    const pem = String(RSA.publicKey.export({ format: 'pem', type: 'spki' }));
    const content = `${encoded({ alg: 'HS256' })}.${encoded(CLAIMS)}`;
    const jws = parsed(`${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`);
    expect(await isSignedBy(jws, RSA.publicKey)).toBe(false);
    expect(isMacOf({ ...jws, algorithm: 'RS256' }, pem)).toBe(false);
  });

  test.each(['none', 'nOnE', '', 'RS1', 'constructor', 'HS256 '])(
    'with the algorithm "%s" is never valid',
    async (alg) => {
      const content = `${encoded({ alg })}.${encoded(CLAIMS)}`;
      const jws = parsed(`${content}.${createHmac('sha256', 'x').update(content).digest('base64url')}`);
      expect(await isSignedBy(jws, RSA.publicKey)).toBe(false);
      expect(isMacOf(jws, 'x')).toBe(false);
    },
  );
});

describe('text that is not a signed JWT', () => {
  const { privateKey } = keysFor('ES256');
  const good = forged({ alg: 'ES256' }, CLAIMS, privateKey);
  const [head = '', body = '', tail = ''] = good.split('.');

  test.each([
    ['empty', ''],
    ['a word', 'word'],
    ['without a signature', `${head}.${body}.`],
    ['of two segments', `${head}.${body}`],
    ['of four segments', `${good}.x`],
    ['encrypted', `${good}.x.y`],
    ['with padding', `${head}=.${body}.${tail}`],
    ['with characters of ordinary Base64', `${head}.${body}.+/+/`],
    ['with a space', `${head}.${body} .${tail}`],
    ['with another spelling of the last bits', `${head}.${body}.${tail.slice(0, -1)}${otherLast(tail)}`],
    ['with a header that is a list', `${encoded([])}.${body}.${tail}`],
    ['with a header that is null', `${encoded('null')}.${body}.${tail}`],
    ['with a header that is no JSON', `${encoded('{alg')}.${body}.${tail}`],
    ['with a header that is no UTF-8', `${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${body}.${tail}`],
    ['with claims that are a JWT', `${head}.${encoded(good)}.${tail}`],
    ['without an algorithm', forged({}, CLAIMS, privateKey)],
    ['with a number as its algorithm', forged({ alg: 256 }, CLAIMS, privateKey)],
    ['with a list of algorithms', forged({ alg: ['ES256'] }, CLAIMS, privateKey)],
    ['with a number as its kid', forged({ alg: 'ES256', kid: 1 }, CLAIMS, privateKey)],
    ['with a list as its kid', forged({ alg: 'ES256', kid: ['one'] }, CLAIMS, privateKey)],
    ['with critical extensions', forged({ alg: 'ES256', crit: ['exp'], exp: 1 }, CLAIMS, privateKey)],
    ['with an empty list of critical extensions', forged({ alg: 'ES256', crit: [] }, CLAIMS, privateKey)],
    ['with a payload that is not encoded', forged({ alg: 'ES256', b64: false }, CLAIMS, privateKey)],
    ['with a header member given twice', forged('{"alg":"ES256","alg":"ES256"}', CLAIMS, privateKey)],
    ['with a claim given twice', forged({ alg: 'ES256' }, '{"sub":"a","sub":"b"}', privateKey)],
    [
      'with claims deeper than anybody needs',
      forged({ alg: 'ES256' }, `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, privateKey),
    ],
  ])('%s', (_what, text) => {
    expect(parseCompactJws(text)).toBeUndefined();
  });

  test('members named like Object.prototype properties are ordinary members', () => {
    const jws = parseCompactJws(
      forged('{"alg":"ES256","__proto__":{"kid":"x"}}', '{"__proto__":{"sub":"x"}}', privateKey),
    );
    expect(jws?.keyId).toBeUndefined();
    expect(jws?.claims['sub']).toBeUndefined();
  });
});

/** Returns another last character that decodes to the same bytes. */
function otherLast(segment: string): string {
  const last = segment.at(-1) ?? '';
  const others = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
  const bytes = (text: string) => Buffer.from(text, 'base64url').toString('hex');
  const found = others.find((one) => one !== last && bytes(segment.slice(0, -1) + one) === bytes(segment));
  return found ?? 'no other';
}
