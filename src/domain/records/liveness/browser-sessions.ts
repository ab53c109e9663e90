/**
 * SQL condition: the session is not finished. `resolveViewer` checks the idle limit, and its caller ends a session that
 * exceeds it.
 * @param session alias of `user_sessions`
 */
export function browserSessionIsLive(session: string): string {
  return `${session}.finished_at is null`;
}

/**
 * SQL condition: the cookie of the server that the session was imported from is no longer accepted.
 * @param imported alias of `imported_browser_sessions`
 * @param now parameter with the time, a `timestamptz`
 */
export function importedSessionIsExpired(imported: string, now: string): string {
  return `(${imported}.expires_at <= ${now})`;
}
