import { createHmac } from 'node:crypto';
import type { KeyRing } from '#platform/base/sealing.ts';

/**
 * The part of a bucket's key that stands for a name no account has. Keyed, so that the table tells nobody what was
 * typed, by mistake perhaps a password.
 * @param name already lower-cased
 */
export function unknownNameKey(keyRing: KeyRing, name: string): string {
  return createHmac('sha256', keyRing.derive('rate-limit-names')).update(name).digest('base64url');
}
