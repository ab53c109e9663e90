/**
 * Returns an SQL condition: the session was neither used nor replaced by newer ones. `recoverySessionState` checks its
 * expiry.
 * @param session alias of `user_recovery_sessions`
 */
export function recoverySessionIsOpen(session: string): string {
  return `${session}.consumed_at is null`;
}
