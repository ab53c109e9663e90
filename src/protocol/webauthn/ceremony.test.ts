import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type CborInput,
  cbor,
  type Deviations,
  type KeyKind,
  PasskeyAuthenticator,
} from '#test/support/passkey-authenticator.ts';
import { assertionProblem, attestationProblem, challengeHash, parseAssertion, parseAttestation } from './ceremony.ts';
import { exportCredentialKey } from './credential-key.ts';

const BASE = 'https://auth.example.org/';
const PARTY = { id: 'auth.example.org', origin: 'https://auth.example.org' };
const OPTIONS = {
  challenge: randomBytes(32).toString('base64url'),
  user: { id: randomBytes(16).toString('base64url') },
};

function made(authenticator: PasskeyAuthenticator, wrong: Deviations = {}) {
  const attestation = parseAttestation(authenticator.create(OPTIONS, wrong));
  return attestation ?? expect.fail('the answer cannot be read');
}

function problemOfSignIn(authenticator: PasskeyAuthenticator, wrong: Deviations = {}) {
  const spki = exportCredentialKey(made(authenticator).key);
  const assertion = parseAssertion(JSON.parse(authenticator.get(OPTIONS, wrong))) ?? expect.fail('cannot be read');
  return assertionProblem(assertion, PARTY, spki);
}

const WRONG: readonly (readonly [string, Deviations])[] = [
  ['wrong_origin', { origin: 'https://auth.example.org.evil.example' }],
  ['wrong_origin', { origin: 'http://auth.example.org' }],
  ['wrong_origin', { origin: 'https://auth.example.org:8443' }],
  ['cross_origin', { crossOrigin: true }],
  ['cross_origin', { topOrigin: 'https://evil.example' }],
  ['wrong_rp_id', { rpId: 'example.org' }],
  ['user_not_present', { isUserPresent: false }],
  ['user_not_verified', { isUserVerified: false }],
  ['wrong_backup_state', { isBackupEligible: false }],
];

describe('passkey ceremonies', () => {
  test.each<KeyKind>(['P-256', 'Ed25519', 'RSA'])('a passkey with a key of type %s is created and used', (kind) => {
    const authenticator = new PasskeyAuthenticator(BASE, kind);
    const attestation = made(authenticator, { aaguid: Buffer.from('bada5566a7aa401fbd9645619a55120d', 'hex') });
    expect(attestationProblem(attestation, PARTY)).toBeUndefined();
    expect(attestation).toMatchObject({
      credentialId: authenticator.credentialId,
      aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d',
      transports: ['internal', 'hybrid'],
    });
    expect(challengeHash(attestation)).toHaveLength(32);
    expect(problemOfSignIn(authenticator)).toBeUndefined();
  });

  test.each(WRONG)('a passkey used incorrectly is rejected: %s %o', (problem, wrong) => {
    const authenticator = new PasskeyAuthenticator(BASE);
    expect(problemOfSignIn(authenticator, wrong)).toBe(problem);
    expect(attestationProblem(made(authenticator, wrong), PARTY)).toBe(problem);
  });

  test('the response of one ceremony is invalid for the other', () => {
    const authenticator = new PasskeyAuthenticator(BASE);
    expect(problemOfSignIn(authenticator, { type: 'webauthn.create' })).toBe('wrong_type');
    expect(attestationProblem(made(authenticator, { type: 'webauthn.get' }), PARTY)).toBe('wrong_type');
  });

  test('a signature by another key is rejected', () => {
    const [one, other] = [new PasskeyAuthenticator(BASE), new PasskeyAuthenticator(BASE)];
    const assertion = parseAssertion(JSON.parse(other.get(OPTIONS))) ?? expect.fail('cannot be read');
    expect(assertionProblem(assertion, PARTY, exportCredentialKey(made(one).key))).toBe('wrong_signature');
  });

  test('a flag changed after signing is detected', () => {
    const authenticator = new PasskeyAuthenticator(BASE);
    const response = JSON.parse(authenticator.get(OPTIONS, { isUserVerified: false }));
    const data = Buffer.from(response.response.authenticatorData, 'base64url');
    data.writeUInt8(data.readUInt8(32) | 0x04, 32);
    response.response.authenticatorData = data.toString('base64url');
    const assertion = parseAssertion(response) ?? expect.fail('cannot be read');
    expect(assertionProblem(assertion, PARTY, exportCredentialKey(made(authenticator).key))).toBe('wrong_signature');
  });

  test('an authenticator with an attestation statement is accepted, whatever the statement says', () => {
    const authenticator = new PasskeyAuthenticator(BASE);
    const plain = made(authenticator);
    const attStmt = new Map<string, CborInput>([
      ['alg', -7],
      ['sig', Buffer.alloc(70)],
      ['x5c', [Buffer.alloc(600), Buffer.alloc(600)]],
    ]);
    const response = JSON.parse(JSON.stringify(authenticator.create(OPTIONS)));
    const authData = authDataOf(response);
    response.response.attestationObject = cbor(
      new Map<string, CborInput>([
        ['fmt', 'packed'],
        ['attStmt', attStmt],
        ['authData', authData],
      ]),
    ).toString('base64url');
    expect(parseAttestation(response)?.credentialId).toEqual(plain.credentialId);
  });

  test('authenticator extensions are ignored', () => {
    const authenticator = new PasskeyAuthenticator(BASE);
    const response = JSON.parse(JSON.stringify(authenticator.create(OPTIONS)));
    const authData = Buffer.concat([authDataOf(response), cbor(new Map([['credProtect', 3]]))]);
    expect(parseAttestation(withAuthData(response, authData))).toBeUndefined();
    authData.writeUInt8(authData.readUInt8(32) | 0x80, 32);
    expect(parseAttestation(withAuthData(response, authData))).toBeDefined();
  });

  test.each<[string, Deviations]>([
    ['an algorithm that was not offered', { algorithm: -35 }],
    ['the algorithm of another kind of key', { algorithm: -257 }],
    ['bytes after the data', { trailer: Buffer.alloc(1) }],
    ['another credential than it says', { credentialId: Buffer.alloc(16, 1) }],
    ['a credential without a name', { credentialId: Buffer.alloc(0) }],
    ['a name of 1,024 bytes', { credentialId: Buffer.alloc(1024, 1) }],
    ['an attestation that is not a map', { attestationObject: cbor([1]) }],
    ['an attestation without data', { attestationObject: cbor(new Map<string, CborInput>([['fmt', 'none']])) }],
    [
      'an attestation with bytes after its end',
      { attestationObject: Buffer.concat([cbor(new Map([['authData', Buffer.alloc(37)]])), Buffer.alloc(1)]) },
    ],
    ['no credential', { attestationObject: cbor(new Map([['authData', Buffer.alloc(37)]])) }],
    ['truncated data', { attestationObject: cbor(new Map([['authData', Buffer.alloc(36)]])) }],
    ['32 KiB of lists', { attestationObject: Buffer.alloc(24_000, 0x81) }],
    ['more than 32 KiB', { attestationObject: cbor(new Map([['authData', Buffer.alloc(40_000)]])) }],
  ])('a registration with %s is invalid', (_, wrong) => {
    expect(parseAttestation(new PasskeyAuthenticator(BASE).create(OPTIONS, wrong))).toBeUndefined();
  });

  test.each<[string, (response: Record<string, unknown>) => unknown]>([
    ['null', () => null],
    ['a text', () => 'passkey'],
    ['a list', () => []],
    ['another type', (response) => ({ ...response, type: 'password' })],
    ['two names', (response) => ({ ...response, rawId: 'AAAA' })],
    ['no response', (response) => ({ ...response, response: undefined })],
    ['client data that is not JSON', (response) => withResponse(response, { clientDataJSON: 'AAAA' })],
    ['client data that is null', (response) => withResponse(response, { clientDataJSON: 'bnVsbA' })],
    ['a signature that is not base64url', (response) => withResponse(response, { signature: 'a+b/' })],
    ['an empty signature', (response) => withResponse(response, { signature: '' })],
    ['a handle that is a number', (response) => withResponse(response, { userHandle: 7 })],
    [
      'a handle of 65 bytes',
      (response) => withResponse(response, { userHandle: Buffer.alloc(65).toString('base64url') }),
    ],
    [
      'authenticator data of 36 bytes',
      (response) => withResponse(response, { authenticatorData: Buffer.alloc(36).toString('base64url') }),
    ],
  ])('a response that is %s is invalid', (_, change) => {
    const authenticator = new PasskeyAuthenticator(BASE);
    expect(parseAssertion(change(JSON.parse(authenticator.get(OPTIONS))))).toBeUndefined();
  });

  test('no altered or truncated response causes a crash', () => {
    const authenticator = new PasskeyAuthenticator(BASE);
    const response = JSON.parse(JSON.stringify(authenticator.create(OPTIONS)));
    const attestation = Buffer.from(response.response.attestationObject, 'base64url');
    for (let index = 0; index < attestation.length; index += 1) {
      for (const value of [0x00, 0x1b, 0x5f, 0x7f, 0x9f, 0xbf, 0xff]) {
        const changed = Buffer.from(attestation);
        changed.writeUInt8(value, index);
        parseAttestation(withResponse(response, { attestationObject: changed.toString('base64url') }));
      }
      const cut = withResponse(response, { attestationObject: attestation.toString('base64url', 0, index) });
      expect(parseAttestation(cut)).toBeUndefined();
    }
  });
});

function withResponse(response: Record<string, unknown>, members: object): object {
  return { ...response, response: { ...Object(response['response']), ...members } };
}

function withAuthData(response: Record<string, unknown>, authData: Buffer): object {
  const attestationObject = cbor(
    new Map<string, CborInput>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]),
  );
  return withResponse(response, { attestationObject: attestationObject.toString('base64url') });
}

/** Returns the last member, at the end of the attestation object. */
function authDataOf(response: { readonly response: { readonly attestationObject: string } }): Buffer {
  const bytes = Buffer.from(response.response.attestationObject, 'base64url');
  const at = bytes.indexOf('authData') + 'authData'.length;
  return bytes.subarray(at + (bytes.readUInt8(at) === 0x58 ? 2 : 3));
}
