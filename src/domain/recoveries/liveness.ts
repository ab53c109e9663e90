/**
 * Nobody has used the session, and it has not given way to newer ones. A condition for statements; how long it may be
 * used is `recoverySessionState`'s.
 * @param session alias of `user_recovery_sessions`
 */
export function recoverySessionIsOpen(session: string): string {
  return `${session}.consumed_at is null`;
}
