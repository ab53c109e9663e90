/**
 * A registration on its way: table `user_registrations`. It holds what the person has said so far and becomes an
 * account when nothing is missing; until then it reserves nothing, not even the name.
 *
 * Open until `completed_at` is set or its time is over. It belongs to the browser that began it, whose cookie names
 * it; that is the doors' business.
 */
import type { RegistrationId } from '#platform/base/ids.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

export interface Registration {
  readonly id: RegistrationId;
  readonly username: string;
  /** Undefined until the person was asked. */
  readonly displayName: string | undefined;
  /** Where the person goes on afterwards. */
  readonly action: PostAuthAction | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly isCompleted: boolean;
}

export type RegistrationState = 'open' | 'completed' | 'expired';

/**
 * @param ttlSeconds how long a person has for all steps
 * @param now milliseconds since the epoch
 */
export function registrationState(
  registration: Pick<Registration, 'createdAt' | 'isCompleted'>,
  ttlSeconds: number,
  now: number,
): RegistrationState {
  if (registration.isCompleted) return 'completed';
  return now - registration.createdAt < ttlSeconds * 1000 ? 'open' : 'expired';
}
