/** Holds `src/protocol/jose` and our signatures against jose. */
import { generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { calculateJwkThumbprint, compactVerify, createLocalJWKSet, decodeJwt, exportJWK, importJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { readSigningKeys } from '#domain/keys/read-signing-keys.ts';
import { isSignedBy, isSignedByPresentedKey, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { keyThumbprint, parsePublicKey } from '#protocol/jose/json-web-keys.ts';
import { SIGNING_ALGORITHMS, type SigningAlgorithm, signInput } from '#protocol/jose/signing-algorithms.ts';
import { everySigningKey } from '#test/support/signing-keys.ts';
import { type Change, changed, changes } from './changes.ts';
import { compare, REJECTED } from './compare.ts';

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEYS: Readonly<Record<SigningAlgorithm, KeyPair>> = {
  RS256: RSA,
  RS384: RSA,
  RS512: RSA,
  PS256: RSA,
  PS384: RSA,
  PS512: RSA,
  ES256: P256,
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  ES256K: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

/** More often those that sign fast. */
const algorithms = fc.oneof(
  fc.constantFrom<SigningAlgorithm>('ES256', 'EdDSA'),
  fc.constantFrom<SigningAlgorithm>(...SIGNING_ALGORITHMS),
);
const claimSets = fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 6,
});

const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' });

type Json = Readonly<Record<string, unknown>>;

/** Members of the header that some verifiers must not overlook. */
const headers: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kid: fc.string({ maxLength: 20 }), typ: fc.constantFrom('JWT', 'at+jwt') }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json[]>(
      {},
      { alg: 'Ed25519' },
      { alg: 'none' },
      { alg: 'HS256' },
      { alg: 'ES256' },
      { alg: 'RS256' },
      { alg: '' },
      { alg: 256 },
      { crit: [] },
      { crit: ['exp'], exp: 1 },
      { crit: ['b64'], b64: true },
      { b64: false },
      { kid: 1 },
      { typ: null },
      { jwk: { kty: 'oct', k: 'AAAA' }, x5c: ['AAAA'] },
      Object.fromEntries([['__proto__', { kid: 'x' }]]),
    ),
  },
);

/** How the text deviates from a signed JWT. */
const forms = fc.constantFrom(
  ...(['usual', 'usual', 'usual', 'usual', 'padded', 'spaced', 'respelled', 'repeated', 'DER', 'other key'] as const),
);

interface Signed {
  readonly alg: SigningAlgorithm;
  readonly header: Json;
  readonly claims: unknown;
  readonly form: 'usual' | 'padded' | 'spaced' | 'respelled' | 'repeated' | 'DER' | 'other key';
  /** Applied to the JSON of the header or the claims before signing, or to the text. */
  readonly damage: { readonly part: 'header' | 'claims' | 'text'; readonly change: Change };
}

const UNDAMAGED: Signed['damage'] = { part: 'text', change: { kind: 'none', at: 0, byte: 0 } };

const signedInputs: fc.Arbitrary<Signed> = fc.record({
  alg: algorithms,
  header: headers,
  claims: claimSets,
  form: forms,
  damage: fc.record({ part: fc.constantFrom('header', 'claims', 'text', 'text'), change: changes }),
});

const base64Url = (bytes: Buffer) => bytes.toString('base64url');

function textOf({ alg, header, claims, form, damage }: Signed): string {
  const json = (part: 'header' | 'claims', value: unknown): Buffer => {
    const plain = JSON.stringify(value);
    const bytes = Buffer.from(form === 'repeated' ? plain.replace(/^\{/, '{"a":1,"a":2,').replace(',}', '}') : plain);
    return damage.part === part ? changed(bytes, damage.change) : bytes;
  };
  const content = `${base64Url(json('header', { alg, ...header }))}.${base64Url(json('claims', claims))}`;
  const { privateKey } = form === 'other key' ? OTHER : KEYS[alg];
  const { digest, input } = signInput(form === 'other key' ? 'ES256' : alg, privateKey);
  const encoding = form === 'DER' && alg.startsWith('ES') ? { dsaEncoding: 'der' as const } : {};
  const signature = base64Url(sign(digest, Buffer.from(content), { ...input, ...encoding }));
  const text = `${content}.${spelled(signature, form)}`;
  return damage.part === 'text' ? changed(Buffer.from(text), damage.change).toString('latin1') : text;
}

/** Other spellings of the same bytes. */
function spelled(segment: string, form: Signed['form']): string {
  if (form === 'padded') return segment.padEnd(Math.ceil(segment.length / 4) * 4, '=');
  if (form === 'spaced') return `${segment.slice(0, 8)} ${segment.slice(8)}`;
  if (form !== 'respelled') return segment;
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bytes = Buffer.from(segment, 'base64url');
  const others = [...alphabet].map((last) => segment.slice(0, -1) + last).filter((other) => other !== segment);
  return others.find((other) => Buffer.from(other, 'base64url').equals(bytes)) ?? segment;
}

function isCanonical(text: string): boolean {
  return text.split('.').every((segment) => base64Url(Buffer.from(segment, 'base64url')) === segment);
}

function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(Object.keys(value).length, ...Object.values(value).map(sizeOf));
}

const DEEP: unknown = Array.from({ length: 40 }).reduce((inner) => ({ a: inner }), 1);
const WIDE = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`a${index}`, index]));
/** As JSON escapes it. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

describe('signed JWTs as jose', () => {
  test('those that are accepted, with their claims', async () => {
    const example = { alg: 'ES256', header: {}, claims: {}, form: 'usual', damage: UNDAMAGED } as const;
    await compare<{ signed: Signed; text: string }, { readonly kid: unknown; readonly claims: unknown }>({
      inputs: signedInputs.map((signed) => ({ signed, text: textOf(signed) })),
      count: 5_000,
      examples: [
        { ...example, claims: DEEP },
        { ...example, claims: WIDE },
        { ...example, claims: { name: '\u0000' } },
        { ...example, header: { crit: ['b64'], b64: true } },
        { ...example, form: 'repeated' as const },
        { ...example, claims: [] },
      ].map((signed) => ({ signed, text: textOf(signed) })),
      ours: async ({ signed, text }) => {
        const jws = parseCompactJws(text);
        if (jws === undefined) return REJECTED;
        const { publicKey } = KEYS[signed.alg];
        const isGood = await isSignedByPresentedKey(jws, publicKey);
        expect(await isSignedBy(jws, publicKey)).toBe(isGood);
        return isGood ? { kid: jws.keyId, claims: jws.claims } : REJECTED;
      },
      library: async ({ signed, text }) => {
        const { protectedHeader } = await compactVerify(text, KEYS[signed.alg].publicKey);
        return { kid: protectedHeader.kid, claims: decodeJwt(text) };
      },
      decisions: {
        'jose has no ES256K, which the Web Cryptography API does not know': ({ signed }, ours, library) =>
          signed.alg === 'ES256K' && library === REJECTED && ours !== REJECTED,
        'each signed JWT has one text only, so other spellings of Base64 are rejected': ({ text }, ours) =>
          ours === REJECTED && !isCanonical(text),
        'of repeated members, another verifier could read the other one': ({ signed }, ours) =>
          ours === REJECTED && signed.form === 'repeated',
        'no extension is supported, also not one that changes nothing': ({ signed }, ours) =>
          ours === REJECTED && ('crit' in signed.header || 'b64' in signed.header),
        'kid and typ are strings (RFC 7515 4.1.4, 4.1.9)': ({ signed: { header } }, ours) =>
          ours === REJECTED && ['kid', 'typ'].some((name) => name in header && typeof header[name] !== 'string'),
        'nesting is limited': ({ signed }, ours) => ours === REJECTED && depthOf(signed.claims) > 32,
        'the number of members is limited': ({ signed }, ours) => ours === REJECTED && sizeOf(signed.claims) > 256,
        'PostgreSQL cannot store every string': ({ text }, ours, library) =>
          ours === REJECTED && library !== REJECTED && UNSTORABLE.test(JSON.stringify(decodeJwt(text))),
      },
    });
  });

  test('those that we sign', async () => {
    const keys = readSigningKeys(everySigningKey());
    const published = createLocalJWKSet({ keys: [...keys.publicJwks().keys] });
    await compare<{ readonly alg: SigningAlgorithm; readonly claims: Json }, unknown>({
      inputs: fc.record({ alg: algorithms.filter((alg) => alg !== 'ES256K'), claims: claimSets }),
      count: 1_000,
      ours: async ({ alg, claims }) => keys.verifyJwt(await keys.signJwt(claims, { alg })) ?? REJECTED,
      library: async ({ alg, claims }) => {
        const { payload } = await compactVerify(await keys.signJwt(claims, { alg }), published, { algorithms: [alg] });
        return JSON.parse(Buffer.from(payload).toString());
      },
      decisions: {},
    });
  });
});

/** How a public key deviates from the usual. */
interface ForeignKey {
  readonly alg: SigningAlgorithm;
  readonly jwk: Json;
  /** Overrides members of the key. */
  readonly extra: Json;
  readonly isPrivate: boolean;
}

const SMALL_RSA = generateKeyPairSync('rsa', { modulusLength: 1024 });
const extras: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  {},
  {},
  {},
  { kid: 'one', use: 'sig', key_ops: ['verify'], x5t: 'x' },
  { use: 'enc' },
  { key_ops: ['sign'] },
  { key_ops: ['verify', 'verify'] },
  { key_ops: 'verify' },
  { alg: 'RS256' },
  { alg: 'ES256' },
  { alg: 'Ed25519' },
  { alg: 'RSA-OAEP' },
  { kid: 1 },
  { kty: 'oct', k: 'AAAA' },
  { kty: 'EC' },
  { crv: 'P-384' },
  { crv: 'Ed448' },
  { e: 'AQ' },
  { e: 'Aw' },
  { e: 'Ag' },
  { e: '' },
  { x: 1 },
);

const foreignKeys: fc.Arbitrary<ForeignKey> = fc
  .record({
    alg: algorithms,
    isSmall: fc.nat(19).map((number) => number === 0),
    isPrivate: fc.nat(19).map((number) => number === 0),
    extra: extras,
    part: fc.nat(1),
    change: changes,
    isOfText: fc.boolean(),
  })
  .map(({ alg, isSmall, isPrivate, extra, part, change, isOfText }) => {
    const { privateKey, publicKey } = isSmall && KEYS[alg] === RSA ? SMALL_RSA : KEYS[alg];
    const whole: JsonWebKey = (isPrivate ? privateKey : publicKey).export({ format: 'jwk' });
    const name = ['RSA'].includes(whole.kty ?? '') ? (['n', 'e'] as const)[part] : (['x', 'y'] as const)[part];
    const value = whole[name ?? 'x'];
    if (value === undefined) return { alg, isPrivate, extra, jwk: { ...whole, ...extra } };
    const damaged = isOfText
      ? changed(Buffer.from(value), change).toString('latin1')
      : base64Url(changed(Buffer.from(value, 'base64url'), change));
    return { alg, isPrivate, extra, jwk: { ...whole, [name ?? 'x']: damaged, ...extra } };
  });

function isBase64Url(value: unknown): boolean {
  return typeof value === 'string' && /^[\w-]+$/.test(value);
}

function isSafeRsa({ n, e }: Json): boolean {
  const [modulus, exponent] = [n, e].map((value) =>
    BigInt(`0x0${Buffer.from(String(value), 'base64url').toString('hex')}`),
  );
  if (modulus === undefined || exponent === undefined) return false;
  const bits = modulus.toString(2).length;
  return bits >= 2048 && bits <= 8192 && exponent >= 3n && exponent < 2n ** 32n && exponent % 2n === 1n;
}

describe('public keys as jose', () => {
  test('those that are accepted, with their thumbprints', async () => {
    await compare<ForeignKey, string>({
      inputs: foreignKeys,
      count: 10_000,
      ours: ({ alg, jwk }) => {
        const key = parsePublicKey(jwk);
        return key?.algorithms.includes(alg) === true ? keyThumbprint(key.key) : REJECTED;
      },
      library: async ({ alg, jwk }) => {
        const key = await importJWK(jwk, alg, { extractable: true });
        return key instanceof Uint8Array ? REJECTED : await calculateJwkThumbprint(await exportJWK(key));
      },
      decisions: {
        'jose has no ES256K, which the Web Cryptography API does not know': ({ alg }, _, library) =>
          alg === 'ES256K' && library === REJECTED,
        'RSA keys have 2048 to 8192 bits and an exponent that is safe': ({ jwk }, ours) =>
          ours === REJECTED && jwk['kty'] === 'RSA' && !isSafeRsa(jwk),
        'private keys are rejected, so that their owners notice': ({ isPrivate, extra }, ours) =>
          ours === REJECTED && (isPrivate || 'k' in extra),
        'keys for encryption verify no signatures (RFC 7517 4.2)': ({ extra }, ours) =>
          ours === REJECTED && extra['use'] === 'enc',
        'a key with an alg verifies only signatures with that': ({ alg, extra }, ours) =>
          ours === REJECTED && 'alg' in extra && extra['alg'] !== alg,
        'an operation that is listed twice does no harm, although RFC 7517 4.3 forbids it': ({ extra }, _, library) =>
          library === REJECTED && isDeepStrictEqual(extra['key_ops'], ['verify', 'verify']),
        'kid is a string (RFC 7517 4.5)': ({ extra }, ours) => ours === REJECTED && extra['kid'] === 1,
        'n, e, x and y are base64url, since the runtime skips other characters': ({ jwk }, ours) =>
          ours === REJECTED && ['n', 'e', 'x', 'y'].some((name) => name in jwk && !isBase64Url(jwk[name])),
      },
    });
  });
});
