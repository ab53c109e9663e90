/**
 * Data shown to a user who must enroll at sign-in (browser-flows 4.5): a secret for their app, then recovery codes. It
 * is stored encrypted in the pending login until that ends, so that a reload shows the same data.
 */
import { newTotpSecret } from '#domain/records/totp-secret.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';

export interface FactorSetup {
  readonly secret: Buffer;
  /** In display format; empty until the app is set up. */
  readonly recoveryCodes: readonly string[];
}

/** Returns a new secret, encrypted for its pending login. */
export function newSealedSetup(keyRing: KeyRing, id: PendingLoginId): Buffer {
  return sealSetup(keyRing, id, { secret: newTotpSecret(), recoveryCodes: [] });
}

export function sealSetup(keyRing: KeyRing, id: PendingLoginId, { secret, recoveryCodes }: FactorSetup): Buffer {
  const value = [secret.toString('base64url'), ...recoveryCodes];
  return keyRing.seal('column', JSON.stringify(value), associatedData(id));
}

export function openSetup(keyRing: KeyRing, id: PendingLoginId, sealed: Buffer): FactorSetup {
  const opened = keyRing.open('column', sealed, associatedData(id));
  if (opened === undefined) throw new Error('a pending login cannot be decrypted with secrets.encryption');
  const value: unknown = JSON.parse(opened.toString());
  const [secret = '', ...recoveryCodes] = Array.isArray(value) ? value.map(String) : [];
  return { secret: Buffer.from(secret, 'base64url'), recoveryCodes };
}

function associatedData(id: PendingLoginId): string {
  return `user_pending_logins|setup_sealed|${id}`;
}
