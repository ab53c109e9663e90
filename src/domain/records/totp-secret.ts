/**
 * One-time codes as second factors. Table `user_totp_secrets` has the secrets shared with authenticator apps,
 * `user_totp_enrolments` the unfinished enrollments, and `user_recovery_codes` the codes for users who lost their app.
 * Accounts without an app have no recovery codes. Every change is a security event of the account. Sign-in requests the
 * codes.
 *
 * A secret is stored encrypted and bound to its row. It is never shown after enrollment.
 */
import { randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { encodeBase32, type OtpauthLabel, otpauthUrl } from '#protocol/one-time-codes/otpauth-url.ts';
import { TOTP_SECRET_BYTES } from '#protocol/one-time-codes/totp.ts';

type SecretTable = 'user_totp_enrolments' | 'user_totp_secrets';

export function newTotpSecret(): Buffer {
  return randomBytes(TOTP_SECRET_BYTES);
}

/** A secret in the forms shown once: for manual entry, and as a URL for a QR code. */
export interface ShownTotpSecret {
  /** Base 32. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

export function showTotpSecret(secret: Buffer, label: OtpauthLabel): ShownTotpSecret {
  return { secret: encodeBase32(secret), otpauthUrl: otpauthUrl(label, secret) };
}

/** @param id ID of the row, as a ULID */
export function sealTotpSecret(keyRing: KeyRing, table: SecretTable, id: string, secret: Buffer): Buffer {
  return keyRing.seal('column', secret, sealedFor(table, id));
}

/** @throws Error if no key opens it, or it was copied from another row */
export function openTotpSecret(keyRing: KeyRing, table: SecretTable, id: string, sealed: Buffer): Buffer {
  const secret = keyRing.open('column', sealed, sealedFor(table, id));
  if (secret === undefined)
    throw new Error(`the secret of ${id} in ${table} cannot be decrypted with any configured key`);
  return secret;
}

function sealedFor(table: SecretTable, id: string): string {
  return `${table}|secret_sealed|${id}`;
}
