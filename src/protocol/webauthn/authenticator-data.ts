import type { KeyObject } from 'node:crypto';
import { decodeCbor } from './cbor.ts';
import { readCredentialKey } from './credential-key.ts';

/** Data that an authenticator signs in a ceremony (WebAuthn 6.1). */
export interface AuthenticatorData {
  /** SHA-256 of the RP ID. */
  readonly rpIdHash: Buffer;
  readonly isUserPresent: boolean;
  readonly isUserVerified: boolean;
  /** The key can exist on several devices. */
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  /** 0 if the authenticator does not count. */
  readonly signCount: number;
  /** Present in a registration. */
  readonly credential: AttestedCredential | undefined;
}

export interface AttestedCredential {
  /** Authenticator model in UUID format; undefined if not provided. */
  readonly aaguid: string | undefined;
  readonly id: Buffer;
  readonly key: KeyObject;
}

const FLAG = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  attested: 0x40,
  extended: 0x80,
};
const FIXED_BYTES = 37;
const NO_AAGUID = '00000000-0000-0000-0000-000000000000';
/** WebAuthn 5.8.3. */
export const MAX_CREDENTIAL_ID_BYTES = 1023;

/** @returns undefined if the data is truncated, has trailing bytes, or contains a key that was not offered */
export function parseAuthenticatorData(bytes: Buffer): AuthenticatorData | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const flags = bytes.readUInt8(32);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  const attested = has(FLAG.attested) ? readCredential(bytes.subarray(FIXED_BYTES)) : undefined;
  if (has(FLAG.attested) && attested === undefined) return undefined;
  const rest = bytes.subarray(FIXED_BYTES + (attested?.size ?? 0));
  const extensions = has(FLAG.extended) ? decodeCbor(rest) : undefined;
  if (has(FLAG.extended) && !(extensions?.value instanceof Map)) return undefined;
  if (rest.length !== (extensions?.size ?? 0)) return undefined;
  return {
    rpIdHash: bytes.subarray(0, 32),
    isUserPresent: has(FLAG.userPresent),
    isUserVerified: has(FLAG.userVerified),
    isBackupEligible: has(FLAG.backupEligible),
    isBackedUp: has(FLAG.backedUp),
    signCount: bytes.readUInt32BE(33),
    credential: attested?.credential,
  };
}

function readCredential(bytes: Buffer): { readonly credential: AttestedCredential; readonly size: number } | undefined {
  if (bytes.length < 18) return undefined;
  const keyAt = 18 + bytes.readUInt16BE(16);
  const id = bytes.subarray(18, keyAt);
  if (id.length === 0 || id.length > MAX_CREDENTIAL_ID_BYTES) return undefined;
  const decoded = decodeCbor(bytes.subarray(keyAt));
  const key = decoded?.value instanceof Map ? readCredentialKey(decoded.value) : undefined;
  if (decoded === undefined || key === undefined) return undefined;
  const aaguid = bytes.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
  return {
    credential: { aaguid: aaguid === NO_AAGUID ? undefined : aaguid, id, key },
    size: keyAt + decoded.size,
  };
}
