/**
 * What a browser sends at the end of a passkey ceremony, and whether it is right. Nothing here reads the database: the
 * challenge and the credential are compared by the caller.
 * @see WebAuthn Level 3, 7.1 and 7.2
 */
import { createHash, type KeyObject } from 'node:crypto';
import { equalDigests, sha256 } from '#platform/base/secret.ts';
import { type AuthenticatorData, MAX_CREDENTIAL_ID_BYTES, parseAuthenticatorData } from './authenticator-data.ts';
import { decodeCbor } from './cbor.ts';
import { isSignedByCredential } from './credential-key.ts';

/** The site that a passkey is for. */
export interface RelyingParty {
  /** Host of the public base. */
  readonly id: string;
  readonly origin: string;
}

interface ClientData {
  readonly type: string;
  /** As base64url, which the browser writes in one way only. */
  readonly challenge: string;
  readonly origin: string;
  /** In a frame of another site. */
  readonly isCrossOrigin: boolean;
  readonly bytes: Buffer;
}

/** What signing in with a passkey brings (`AuthenticationResponseJSON`). */
export interface Assertion {
  readonly credentialId: Buffer;
  readonly client: ClientData;
  readonly authenticator: AuthenticatorData;
  readonly authenticatorBytes: Buffer;
  readonly signature: Buffer;
  /** Whose it is, as the authenticator has stored it; undefined when it does not say. */
  readonly userHandle: Buffer | undefined;
}

/** What adding a passkey brings (`RegistrationResponseJSON`). */
export interface Attestation {
  readonly client: ClientData;
  readonly authenticator: AuthenticatorData;
  readonly credentialId: Buffer;
  readonly key: KeyObject;
  readonly aaguid: string | undefined;
  readonly transports: readonly string[];
}

/** Why a ceremony is refused; for the log. */
export type CeremonyProblem =
  | 'wrong_type'
  | 'wrong_origin'
  | 'cross_origin'
  | 'wrong_rp_id'
  | 'user_not_present'
  | 'user_not_verified'
  | 'wrong_backup_state'
  | 'wrong_signature';

/** Of each part; the largest that authenticators write is an attestation with certificates. */
const MAX_PART_CHARACTERS = 32_768;
const MAX_USER_HANDLE_BYTES = 64;
const MAX_TRANSPORTS = 8;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const TRANSPORT = /^[a-z][a-z-]{0,31}$/;

export function parseAssertion(json: unknown): Assertion | undefined {
  const { credentialId, client, response } = parseCredential(json);
  const authenticatorBytes = bytesOf(response['authenticatorData']);
  const signature = bytesOf(response['signature']);
  const authenticator = authenticatorBytes && parseAuthenticatorData(authenticatorBytes);
  const userHandle = parseUserHandle(response['userHandle']);
  if (!credentialId || !client || !authenticatorBytes || !authenticator || !signature || !userHandle) return undefined;
  return { credentialId, client, authenticator, authenticatorBytes, signature, userHandle: userHandle.bytes };
}

/** Browsers leave it out, send null or an empty text when the authenticator did not say. */
function parseUserHandle(value: unknown): { readonly bytes: Buffer | undefined } | undefined {
  if (value === undefined || value === null || value === '') return { bytes: undefined };
  const bytes = bytesOf(value);
  return bytes === undefined || bytes.length > MAX_USER_HANDLE_BYTES ? undefined : { bytes };
}

/** A statement about the make of the authenticator is not looked at: none was asked for, and it would decide nothing. */
export function parseAttestation(json: unknown): Attestation | undefined {
  const { credentialId, client, response } = parseCredential(json);
  const decoded = decodeAlone(bytesOf(response['attestationObject']));
  const authData = decoded instanceof Map ? decoded.get('authData') : undefined;
  const authenticator = Buffer.isBuffer(authData) ? parseAuthenticatorData(authData) : undefined;
  const credential = authenticator?.credential;
  if (!credentialId || !client || !authenticator || !credential?.id.equals(credentialId)) return undefined;
  const { key, aaguid } = credential;
  return { client, authenticator, credentialId, key, aaguid, transports: transportsOf(response['transports']) };
}

/** SHA-256 of the challenge that an answer was made for, as stored challenges are kept. */
export function challengeHash({ client }: { readonly client: Pick<ClientData, 'challenge'> }): Buffer {
  return sha256(client.challenge);
}

/** @param spki the credential's key */
export function assertionProblem(assertion: Assertion, party: RelyingParty, spki: Buffer): CeremonyProblem | undefined {
  const problem = ceremonyProblem(assertion, 'webauthn.get', party);
  if (problem !== undefined) return problem;
  const signed = Buffer.concat([assertion.authenticatorBytes, sha256OfBytes(assertion.client.bytes)]);
  return isSignedByCredential(spki, signed, assertion.signature) ? undefined : 'wrong_signature';
}

export function attestationProblem(attestation: Attestation, party: RelyingParty): CeremonyProblem | undefined {
  return ceremonyProblem(attestation, 'webauthn.create', party);
}

function ceremonyProblem(
  { client, authenticator }: Pick<Assertion, 'client' | 'authenticator'>,
  type: 'webauthn.create' | 'webauthn.get',
  party: RelyingParty,
): CeremonyProblem | undefined {
  if (client.type !== type) return 'wrong_type';
  if (client.origin !== party.origin) return 'wrong_origin';
  if (client.isCrossOrigin) return 'cross_origin';
  if (!equalDigests(authenticator.rpIdHash, sha256(party.id))) return 'wrong_rp_id';
  if (!authenticator.isUserPresent) return 'user_not_present';
  if (!authenticator.isUserVerified) return 'user_not_verified';
  // A key that cannot leave its device is not on others.
  if (authenticator.isBackedUp && !authenticator.isBackupEligible) return 'wrong_backup_state';
  return undefined;
}

interface ParsedCredential {
  readonly credentialId: Buffer | undefined;
  readonly client: ClientData | undefined;
  readonly response: Readonly<Record<string, unknown>>;
}

/** What both kinds of answer have. */
function parseCredential(json: unknown): ParsedCredential {
  const { id, rawId, type, response } = record(json);
  const members = record(response);
  const credentialId = type === 'public-key' && id === rawId ? bytesOf(id) : undefined;
  return {
    credentialId:
      credentialId !== undefined && credentialId.length <= MAX_CREDENTIAL_ID_BYTES ? credentialId : undefined,
    client: parseClientData(bytesOf(members['clientDataJSON'])),
    response: members,
  };
}

function parseClientData(bytes: Buffer | undefined): ClientData | undefined {
  if (bytes === undefined) return undefined;
  const { type, challenge, origin, crossOrigin, topOrigin } = record(parseJson(bytes.toString()));
  if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string') return undefined;
  const isCrossOrigin = (crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined;
  return { type, challenge, origin, isCrossOrigin, bytes };
}

function decodeAlone(bytes: Buffer | undefined): unknown {
  const decoded = bytes === undefined ? undefined : decodeCbor(bytes);
  return decoded !== undefined && decoded.size === bytes?.length ? decoded.value : undefined;
}

/** What the browser knows of the ways to reach the authenticator; a hint for later, whatever it says. */
function transportsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const texts = value.filter((one): one is string => typeof one === 'string' && TRANSPORT.test(one));
  return [...new Set(texts)].slice(0, MAX_TRANSPORTS);
}

function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || value.length > MAX_PART_CHARACTERS || !BASE64URL.test(value)) return undefined;
  return Buffer.from(value, 'base64url');
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sha256OfBytes(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
