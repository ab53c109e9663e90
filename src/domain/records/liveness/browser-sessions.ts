/**
 * SQL condition: the session is not finished. `resolveViewer` checks the idle limit, and its caller ends a session that
 * exceeds it.
 * @param session alias of `user_sessions`
 */
export function browserSessionIsLive(session: string): string {
  return `${session}.finished_at is null`;
}
