/** Who caused a stored event: the user, an administrator or operator, or the server itself. */
export type Actor = 'self' | 'admin' | 'system';

/** Events that only administrators and operators cause. */
const OF_ADMINS: ReadonlySet<string> = new Set(['account_locked', 'account_unlocked', 'account_reactivated']);
/** Reasons of sessions that the user ended, here or in an application. */
const OF_USERS: ReadonlySet<string> = new Set([
  'logout',
  'client_revoked',
  'deactivated',
  'device_replaced',
  'password_changed',
  'password_recovered',
]);

/** The parts of an event that tell who caused it. */
interface EventFacts {
  readonly kind: string;
  readonly reason: string | null;
  readonly by_admin: boolean;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

export function actorOfEvent({ kind, reason, by_admin, ip, user_agent }: EventFacts): Actor {
  if (OF_ADMINS.has(kind) || by_admin || reason === 'admin') return 'admin';
  if (kind === 'app_access_lost') return 'system';
  if (kind === 'session_ended') return OF_USERS.has(reason ?? '') ? 'self' : 'system';
  // Requests have an address and nearly always a user agent. Operator commands have neither.
  return ip === null && user_agent === null ? 'admin' : 'self';
}
