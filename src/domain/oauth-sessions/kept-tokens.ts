/**
 * Tokens that no longer work but are kept to detect the reuse of refresh tokens (oauth 9.4, chat-compat 7). For each
 * live session these are the last consumed refresh token and the access token of its successor, however old they are.
 */
export interface SessionTables {
  readonly sessions: string;
  readonly refreshTokens: string;
  /** These conditions take a table alias. */
  readonly sessionIsLive: (session: string) => string;
  readonly refreshTokenIsLive: (token: string) => string;
  readonly refreshTokenIsUnconsumed: (token: string) => string;
}

/** Returns a condition on `t`, an access token. Whether it was used distinguishes a lost response from reuse. */
export function accessTokenIsKept({ sessions, refreshTokens, ...is }: SessionTables): string {
  return `exists (
      select from ${refreshTokens} n
        join ${sessions} s on s.id = n.session_id and ${is.sessionIsLive('s')}
       where n.session_id = t.session_id and n.access_token_id = t.id
         and n.predecessor_id is not null and ${is.refreshTokenIsLive('n')}
    )`;
}

/**
 * Returns a condition on `t`, a refresh token. If it is presented, its successor is returned once more or the session
 * ends.
 */
export function refreshTokenIsKept({ sessions, refreshTokens, ...is }: SessionTables): string {
  return `exists (
      select from ${refreshTokens} n
        join ${sessions} s on s.id = n.session_id and ${is.sessionIsLive('s')}
       where n.id = t.successor_id and ${is.refreshTokenIsUnconsumed('n')}
    )`;
}
