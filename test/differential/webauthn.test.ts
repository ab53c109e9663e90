/** Holds `src/protocol/webauthn` against @simplewebauthn/server and the CBOR library that it uses. */
import type { JsonWebKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CBORTag, decodePartialCBOR } from '@levischuck/tiny-cbor';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import { decodeCbor } from '#protocol/webauthn/cbor.ts';
import {
  assertionProblem,
  attestationProblem,
  challengeHash,
  parseAssertion,
  parseAttestation,
} from '#protocol/webauthn/ceremony.ts';
import { CREDENTIAL_ALGORITHMS, exportCredentialKey } from '#protocol/webauthn/credential-key.ts';
import { cborHead, type Deviations, type KeyKind, PasskeyAuthenticator } from '#test/support/passkey-authenticator.ts';
import { type Change, changed, changes } from './changes.ts';
import { compare, REJECTED } from './compare.ts';

type Plain =
  | number
  | string
  | boolean
  | null
  | { readonly bytes: string }
  | { readonly list: readonly Plain[] }
  | { readonly members: readonly (readonly [Plain, Plain])[] }
  /** Nothing that our code returns. */
  | { readonly foreign: string };

interface Decoded {
  readonly value: Plain;
  readonly size: number;
}

/** Makes values of both decoders comparable. */
function plain(value: unknown): Plain {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') };
  if (Array.isArray(value)) return { list: value.map(plain) };
  if (value instanceof Map) return { members: [...value].map(([key, member]) => [plain(key), plain(member)]) };
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  return { foreign: value instanceof CBORTag ? 'tag' : String(value) };
}

function children(value: Plain): readonly Plain[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('list' in value) return value.list;
  return 'members' in value ? value.members.flat() : [];
}

function hasForeign(value: Plain): boolean {
  return (typeof value === 'object' && value !== null && 'foreign' in value) || children(value).some(hasForeign);
}

function depthOf(value: Plain): number {
  const isNesting = typeof value === 'object' && value !== null && ('list' in value || 'members' in value);
  return isNesting ? 1 + Math.max(0, ...children(value).map(depthOf)) : 0;
}

/** Of 0 and 1 as well, which are whole numbers afterwards. */
function isFractionHead(byte: number): boolean {
  return byte >= 0xf9 && byte <= 0xfb;
}

const LONG_HEADS = [0x1b, 0x3b, 0x5b, 0x7b, 0x9b, 0xbb];

describe('CBOR as tiny-cbor, which @simplewebauthn/server uses', () => {
  /** @param width 0: as short as possible; otherwise the argument has 1, 2, 4 or 8 bytes */
  const head = (major: number, argument: number, width: number): Buffer => {
    if (width === 0) return cborHead(major, argument);
    const bytes = Buffer.alloc(1 + 2 ** (width - 1));
    bytes.writeUInt8((major << 5) | (23 + width));
    const value = Buffer.alloc(8);
    value.writeBigUInt64BE(BigInt(argument));
    value.copy(bytes, 1, 9 - bytes.length);
    return bytes;
  };
  const widths = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4);
  const long = (major: number) => (bytes: Uint8Array, width: number) =>
    Buffer.concat([head(major, bytes.length, width), bytes]);
  const strung = (major: number, bytes: fc.Arbitrary<Uint8Array>) =>
    fc.tuple(bytes, widths).map(([value, width]) => long(major)(value, width));
  const texts = fc.string({ unit: 'binary', maxLength: 12 });
  const others = ['f4', 'f5', 'f6', 'f7', 'f97c00', 'fa3fc00000', 'fb3ff8000000000000', 'f8ff', '5f4101ff', '9f01ff'];
  const { item } = fc.letrec<{ item: Buffer; key: Buffer }>((tie) => ({
    item: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(fc.nat(1), fc.oneof(fc.nat(300), fc.nat(0xffffffff)), widths)
        .map(([major, number, width]) => head(major, number, width)),
      strung(2, fc.uint8Array({ maxLength: 40 })),
      strung(
        3,
        texts.map((text) => Buffer.from(text)),
      ),
      strung(3, fc.uint8Array({ maxLength: 3 })),
      fc.constantFrom(...others).map((hex) => Buffer.from(hex, 'hex')),
      fc.tuple(fc.nat(30), tie('item')).map(([tag, tagged]) => Buffer.concat([cborHead(6, tag), tagged])),
      fc
        .tuple(fc.array(tie('item'), { maxLength: 4 }), widths)
        .map(([items, width]) => Buffer.concat([head(4, items.length, width), ...items])),
      fc
        .tuple(fc.array(fc.tuple(tie('key'), tie('item')), { maxLength: 4 }), widths)
        .map(([members, width]) => Buffer.concat([head(5, members.length, width), ...members.flat()])),
    ),
    key: fc.oneof(
      { weight: 9, arbitrary: fc.nat(40).map((key) => cborHead(key % 2, key)) },
      { weight: 1, arbitrary: tie('item') },
    ),
  }));

  test('every item, and items that are damaged', async () => {
    await compare<Buffer, Decoded>({
      inputs: fc.tuple(item, changes).map(([bytes, change]) => changed(bytes, change)),
      count: 10_000,
      examples: ['81818100', '818181818100', 'a101a101a101a101a10100', '63efbbbf'].map((hex) =>
        Buffer.from(hex, 'hex'),
      ),
      ours: (bytes) => {
        const decoded = decodeCbor(bytes);
        return decoded === undefined ? REJECTED : { value: plain(decoded.value), size: decoded.size };
      },
      library: (bytes) => {
        const [value, size] = decodePartialCBOR(Uint8Array.from(bytes), 0);
        return { value: plain(value), size };
      },
      decisions: {
        'no authenticator sends tags, fractions or undefined': (bytes, ours, library) =>
          ours === REJECTED && library !== REJECTED && (hasForeign(library.value) || bytes.some(isFractionHead)),
        'no authenticator sends lengths or numbers of eight bytes': (bytes, ours) =>
          ours === REJECTED && LONG_HEADS.some((long) => bytes.includes(long)),
        'CTAP 2.1 (8) allows four levels': (_, ours, library) =>
          ours === REJECTED && library !== REJECTED && depthOf(library.value) > 4,
        'the library returns strings that are cut off': (bytes, ours, library) =>
          ours === REJECTED && library !== REJECTED && library.size > bytes.length,
        'the library removes a byte order mark': (bytes) => bytes.includes('\ufeff'),
        'a longer head than necessary means the same': (bytes, ours, library) =>
          ours !== REJECTED && library === REJECTED && bytes.some((byte) => (byte & 31) >= 24),
      },
    });
  });
});

/** From the examples of RFC 7515 (appendix A.3) and RFC 8032 7.1. */
const KEYS: Readonly<Record<Exclude<KeyKind, 'RSA'>, JsonWebKey>> = {
  'P-256': {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  },
  Ed25519: {
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  },
};
const BASE = 'https://auth.example.org/';
const PARTY = { id: 'auth.example.org', origin: 'https://auth.example.org' };
const CHALLENGE = Buffer.alloc(32, 7).toString('base64url');
const OPTIONS = { challenge: CHALLENGE, user: { id: Buffer.alloc(16, 9).toString('base64url') } };
const CREDENTIAL_ID = Buffer.alloc(16, 5);

function newAuthenticator(kind: KeyKind): PasskeyAuthenticator {
  const authenticator = new PasskeyAuthenticator(BASE, kind, kind === 'RSA' ? undefined : KEYS[kind]);
  authenticator.credentialId = CREDENTIAL_ID;
  return authenticator;
}

const AUTHENTICATORS: Readonly<Record<KeyKind, PasskeyAuthenticator>> = {
  'P-256': newAuthenticator('P-256'),
  Ed25519: newAuthenticator('Ed25519'),
  RSA: newAuthenticator('RSA'),
};

const kinds = fc.constantFrom<KeyKind>('P-256', 'P-256', 'P-256', 'Ed25519', 'Ed25519', 'RSA');

/** At most two faults. */
function faults(...possible: readonly Deviations[]): fc.Arbitrary<Deviations> {
  return fc.array(fc.constantFrom(...possible), { maxLength: 2 }).map(([first, second]) => ({ ...first, ...second }));
}

const SHARED_FAULTS: readonly Deviations[] = [
  { type: 'webauthn.get' },
  { type: 'webauthn.create' },
  { type: 'payment.get' },
  { origin: 'https://auth.example.org:8443' },
  { origin: 'http://auth.example.org' },
  { challenge: 'AAAA' },
  { crossOrigin: true },
  { topOrigin: 'https://evil.example' },
  { crossOrigin: true, topOrigin: 'https://evil.example' },
  { rpId: 'example.org' },
  { isUserPresent: false },
  { isUserVerified: false },
  { isBackedUp: false },
  { isBackedUp: false, isBackupEligible: false },
  { isBackupEligible: false },
  { trailer: Buffer.alloc(1) },
  { trailer: Buffer.from('a0', 'hex') },
];
const REGISTRATION_FAULTS: readonly Deviations[] = [
  { transports: [] },
  { transports: ['usb', 'nfc'] },
  { credentialId: Buffer.alloc(16, 6) },
  { credentialId: Buffer.alloc(0) },
  { credentialId: Buffer.alloc(1024, 6) },
  { algorithm: -35 },
  { algorithm: -257 },
  { algorithm: -8 },
];
const counts = fc.oneof(fc.constant(0), fc.nat(0xffffffff));
/** Which part of a response is damaged, and how. */
interface Damage {
  readonly part: number;
  readonly change: Change;
}

const damages: fc.Arbitrary<Damage> = fc.record({ part: fc.nat(2), change: changes });

/** Client data, authenticator data, signature. */
const SIGNATURE = 2;

function damaged<Response extends object>(response: Response, { part, change }: Damage): Response {
  const names = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature'];
  const present = Object.entries(response).filter(([name]) => names.includes(name));
  const [name = '', value] = present[part % present.length] ?? [];
  return { ...response, [name]: changed(Buffer.from(String(value), 'base64url'), change).toString('base64url') };
}

interface Ceremony<Answer> {
  readonly kind: KeyKind;
  readonly wrong: Deviations;
  readonly damage: Damage;
  readonly answer: Answer;
  /** Without the damage. */
  readonly whole: Answer;
}

/** What both sides find in an accepted response. */
interface Accepted {
  readonly id: string;
  readonly signCount: number;
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  readonly aaguid?: string;
  /** A coordinate or the modulus. */
  readonly key?: string;
}

const NO_AAGUID = '00000000-0000-0000-0000-000000000000';

function keyPart(publicKey: Uint8Array, kind: KeyKind): string {
  const [key] = decodePartialCBOR(Uint8Array.from(publicKey), 0);
  const part = key instanceof Map ? key.get(kind === 'RSA' ? -1 : -2) : undefined;
  return part instanceof Uint8Array ? Buffer.from(part).toString('base64url') : '';
}

function registeredBy(response: RegistrationResponseJSON): Accepted | typeof REJECTED {
  const parsed = parseAttestation(response);
  if (parsed === undefined || attestationProblem(parsed, PARTY) !== undefined) return REJECTED;
  if (!challengeHash(parsed).equals(sha256(CHALLENGE))) return REJECTED;
  const { signCount, isBackupEligible, isBackedUp } = parsed.authenticator;
  const { x, n } = parsed.key.export({ format: 'jwk' });
  const id = parsed.credentialId.toString('base64url');
  return { id, signCount, isBackupEligible, isBackedUp, aaguid: parsed.aaguid ?? NO_AAGUID, key: x ?? n ?? '' };
}

describe('passkey ceremonies as @simplewebauthn/server', () => {
  const expected = { expectedChallenge: CHALLENGE, expectedOrigin: PARTY.origin, expectedRPID: PARTY.id };

  test('registrations', async () => {
    const inputs: fc.Arbitrary<Ceremony<RegistrationResponseJSON>> = fc
      .record({
        kind: kinds,
        wrong: faults(...SHARED_FAULTS, ...REGISTRATION_FAULTS),
        signCount: counts,
        aaguid: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
        damage: damages,
      })
      .map(({ kind, wrong, damage, ...rest }) => {
        const created = AUTHENTICATORS[kind].create(OPTIONS, { ...rest, ...wrong });
        const response: RegistrationResponseJSON = JSON.parse(JSON.stringify(created));
        return {
          kind,
          wrong,
          damage,
          whole: response,
          answer: { ...response, response: damaged(response.response, damage) },
        };
      });
    await compare<Ceremony<RegistrationResponseJSON>, Accepted>({
      inputs,
      count: 2_000,
      ours: ({ answer: response }) => registeredBy(response),
      library: async ({ kind, answer: response }) => {
        const supportedAlgorithmIDs = [...CREDENTIAL_ALGORITHMS];
        const verified = await verifyRegistrationResponse({ ...expected, supportedAlgorithmIDs, response: response });
        if (!verified.verified) return REJECTED;
        const { credential, aaguid, credentialDeviceType, credentialBackedUp } = verified.registrationInfo;
        return {
          id: credential.id,
          signCount: credential.counter,
          isBackupEligible: credentialDeviceType === 'multiDevice',
          isBackedUp: credentialBackedUp,
          aaguid,
          key: keyPart(credential.publicKey, kind),
        };
      },
      decisions: {
        'the library returns strings that are cut off': ({ damage }, ours) =>
          ours === REJECTED && damage.change.kind === 'cut',
        'the library allows registrations in frames of other sites': ({ wrong }, ours) =>
          ours === REJECTED && (wrong.crossOrigin === true || wrong.topOrigin !== undefined),
        'the library does not compare the ID with the signed one': ({ wrong }, ours) =>
          ours === REJECTED && wrong.credentialId !== undefined,
        'the library reads the key at the first sign-in': ({ wrong, damage }, ours) =>
          ours === REJECTED && (wrong.algorithm !== undefined || damage.part % 2 === 1),
        'we request no attestation, so its format and statement are ignored': ({ whole }, ours, library) =>
          library === REJECTED && isDeepStrictEqual(ours, registeredBy(whole)),
      },
    });
  });

  test('sign-ins', async () => {
    const registered = new Map(
      Object.entries(AUTHENTICATORS).map(([kind, authenticator]) => {
        const created = authenticator.create(OPTIONS);
        const parsed = parseAttestation(created) ?? expect.fail('no registration');
        const { attestationObject } = JSON.parse(JSON.stringify(created)).response;
        const [object] = decodePartialCBOR(Uint8Array.from(Buffer.from(attestationObject, 'base64url')), 0);
        const authData = object instanceof Map ? object.get('authData') : undefined;
        if (!(authData instanceof Uint8Array)) return expect.fail('no authenticator data');
        const publicKey = authData.slice(37 + 18 + CREDENTIAL_ID.length);
        return [kind, { spki: exportCredentialKey(parsed.key), publicKey: Uint8Array.from(publicKey) }];
      }),
    );
    const signIn = (kind: KeyKind, wrong: Deviations, damage: Damage): Ceremony<AuthenticationResponseJSON> => {
      const response: AuthenticationResponseJSON = JSON.parse(AUTHENTICATORS[kind].get(OPTIONS, wrong));
      return {
        kind,
        wrong,
        damage,
        whole: response,
        answer: { ...response, response: damaged(response.response, damage) },
      };
    };
    await compare<Ceremony<AuthenticationResponseJSON>, Accepted>({
      inputs: fc
        .tuple(kinds, counts, faults(...SHARED_FAULTS), damages)
        .map(([kind, signCount, wrong, damage]) => signIn(kind, { signCount, ...wrong }, damage)),
      count: 1_000,
      // Another type than the sequence that a signature is.
      examples: [signIn('P-256', {}, { part: SIGNATURE, change: { kind: 'replace', at: 0, byte: 0xa0 } })],
      ours: ({ kind, answer: response }) => {
        const parsed = parseAssertion(response);
        const { spki } = registered.get(kind) ?? expect.fail('no key');
        if (parsed === undefined || assertionProblem(parsed, PARTY, spki) !== undefined) return REJECTED;
        if (!challengeHash(parsed).equals(sha256(CHALLENGE))) return REJECTED;
        const { signCount, isBackupEligible, isBackedUp } = parsed.authenticator;
        return { id: parsed.credentialId.toString('base64url'), signCount, isBackupEligible, isBackedUp };
      },
      library: async ({ kind, answer: response }) => {
        const { publicKey } = registered.get(kind) ?? expect.fail('no key');
        const credential = { id: response.id, publicKey, counter: 0 };
        const verified = await verifyAuthenticationResponse({ ...expected, response: response, credential });
        if (!verified.verified) return REJECTED;
        const { credentialID, newCounter, credentialDeviceType, credentialBackedUp } = verified.authenticationInfo;
        return {
          id: credentialID,
          signCount: newCounter,
          isBackupEligible: credentialDeviceType === 'multiDevice',
          isBackedUp: credentialBackedUp,
        };
      },
      decisions: {
        'the library allows frames of sites that the browser does not name': ({ wrong }, ours) =>
          ours === REJECTED && wrong.crossOrigin === true && wrong.topOrigin === undefined,
        'the library reads signatures that are not DER': ({ damage }, ours) =>
          ours === REJECTED && damage.part === SIGNATURE,
      },
    });
  });
});
