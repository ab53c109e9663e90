/**
 * The session is not finished. A condition for statements; the idle and absolute limits are `judgeViewer`'s, which
 * finishes a session that has passed one.
 * @param session alias of `user_sessions`
 */
export function browserSessionIsLive(session: string): string {
  return `${session}.finished_at is null`;
}
