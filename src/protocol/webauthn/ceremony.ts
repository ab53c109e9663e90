/**
 * Parses and validates a browser's response at the end of a passkey ceremony. Makes no queries: the caller compares the
 * challenge and the credential.
 * @see WebAuthn Level 3, 7.1 and 7.2
 */
import { createHash, type KeyObject } from 'node:crypto';
import { equalDigests, sha256 } from '#platform/base/secret.ts';
import { type AuthenticatorData, MAX_CREDENTIAL_ID_BYTES, parseAuthenticatorData } from './authenticator-data.ts';
import { decodeCbor } from './cbor.ts';
import { isSignedByCredential } from './credential-key.ts';

/** The site that a passkey is for. */
export interface RelyingParty {
  /** Host of the public base URL. */
  readonly id: string;
  readonly origin: string;
}

interface ClientData {
  readonly type: string;
  /** In base64url, which browsers encode canonically. */
  readonly challenge: string;
  readonly origin: string;
  /** The ceremony ran in a frame of another site. */
  readonly isCrossOrigin: boolean;
  readonly bytes: Buffer;
}

/** The response of a sign-in with a passkey (`AuthenticationResponseJSON`). */
export interface Assertion {
  readonly credentialId: Buffer;
  readonly client: ClientData;
  readonly authenticator: AuthenticatorData;
  readonly authenticatorBytes: Buffer;
  readonly signature: Buffer;
  /** The owner as stored by the authenticator; undefined if not provided. */
  readonly userHandle: Buffer | undefined;
}

/** The response of a passkey registration (`RegistrationResponseJSON`). */
export interface Attestation {
  readonly client: ClientData;
  readonly authenticator: AuthenticatorData;
  readonly credentialId: Buffer;
  readonly key: KeyObject;
  readonly aaguid: string | undefined;
  readonly transports: readonly string[];
}

/** Why a ceremony is rejected, for the log. */
export type CeremonyProblem =
  | 'wrong_type'
  | 'wrong_origin'
  | 'cross_origin'
  | 'wrong_rp_id'
  | 'user_not_present'
  | 'user_not_verified'
  | 'wrong_backup_state'
  | 'wrong_signature';

/** Limit for each part. The largest is an attestation with certificates. */
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

/** Browsers omit it or send null or an empty string if the authenticator did not provide it. */
function parseUserHandle(value: unknown): { readonly bytes: Buffer | undefined } | undefined {
  if (value === undefined || value === null || value === '') return { bytes: undefined };
  const bytes = bytesOf(value);
  return bytes === undefined || bytes.length > MAX_USER_HANDLE_BYTES ? undefined : { bytes };
}

/** Ignores the attestation statement: none was requested, and it would not change the result. */
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

/** Returns the SHA-256 of the challenge in a response, the format of stored challenges. */
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
  // A key that cannot leave its device cannot be backed up.
  if (authenticator.isBackedUp && !authenticator.isBackupEligible) return 'wrong_backup_state';
  return undefined;
}

interface ParsedCredential {
  readonly credentialId: Buffer | undefined;
  readonly client: ClientData | undefined;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Parses the parts that both kinds of response have. */
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

/** Returns the transports that the browser reports, which are only a hint for later. */
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
