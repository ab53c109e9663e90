import type { Secret } from '#platform/base/secret.ts';
import type { Client } from './client.ts';

/** Which secret of a client was used: after a rotation, the former one works until its grace period ends. */
export type UsedSecret = 'current' | 'former';

/**
 * Returns the secret that a condition holds for. Tries all secrets of the client, so that the response time does not
 * show which one a guess is close to.
 * @param now milliseconds since the epoch
 */
export function acceptedSecret(
  { formerSecret, secret }: Pick<Client, 'formerSecret' | 'secret'>,
  now: number,
  accepts: (secret: Secret) => boolean,
): UsedSecret | undefined {
  const isCurrent = secret !== undefined && accepts(secret);
  const isFormer = formerSecret !== undefined && accepts(formerSecret.secret) && now < formerSecret.expiresAt;
  if (isCurrent) return 'current';
  return isFormer ? 'former' : undefined;
}
