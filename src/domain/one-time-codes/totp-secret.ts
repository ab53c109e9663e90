/**
 * Second factors by one-time codes: the secret that an account shares with an authenticator app, table
 * `user_totp_secrets`, attempts to set an app up, `user_totp_enrolments`, and recovery codes for people who lost it,
 * `user_recovery_codes`. Who has no app has no recovery codes. A change of any of them is a security event of the
 * account. Sign-in asks for the codes.
 *
 * A secret is stored sealed and bound to its row, and told to nobody after it was set up.
 */
import { randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { encodeBase32, type OtpauthLabel, otpauthUrl } from '#protocol/one-time-codes/otpauth-url.ts';
import { TOTP_SECRET_BYTES } from '#protocol/one-time-codes/totp.ts';

type SecretTable = 'user_totp_enrolments' | 'user_totp_secrets';

export function newTotpSecret(): Buffer {
  return randomBytes(TOTP_SECRET_BYTES);
}

/** A secret as it is shown once: to type it, and as a link for a QR code. */
export interface ShownTotpSecret {
  /** Base 32. */
  readonly secret: string;
  readonly otpauthUrl: string;
}

export function showTotpSecret(secret: Buffer, label: OtpauthLabel): ShownTotpSecret {
  return { secret: encodeBase32(secret), otpauthUrl: otpauthUrl(label, secret) };
}

/** @param id of the row, as a ULID */
export function sealTotpSecret(keyRing: KeyRing, table: SecretTable, id: string, secret: Buffer): Buffer {
  return keyRing.seal('column', secret, sealedFor(table, id));
}

/** @throws Error when none of the keys opens it, or it was moved here from another row */
export function openTotpSecret(keyRing: KeyRing, table: SecretTable, id: string, sealed: Buffer): Buffer {
  const secret = keyRing.open('column', sealed, sealedFor(table, id));
  if (secret === undefined) throw new Error(`none of the keys opens the secret of ${id} in ${table}`);
  return secret;
}

function sealedFor(table: SecretTable, id: string): string {
  return `${table}|secret_sealed|${id}`;
}
