/**
 * Which tokens are kept although they no longer work: those by which a refresh token that comes back is judged (oauth 9.4,
 * chat-compat 7). Of each live session that is its last consumed refresh token, and the access token of that one's
 * successor, however old they are.
 */
export interface SessionTables {
  readonly sessions: string;
  readonly refreshTokens: string;
  /** Conditions on an alias. */
  readonly sessionIsLive: (session: string) => string;
  readonly refreshTokenIsLive: (token: string) => string;
  readonly refreshTokenIsUnconsumed: (token: string) => string;
}

/** Condition on `t`, an access token: a lost answer is told from a reuse by whether it was used. */
export function accessTokenIsKept({ sessions, refreshTokens, ...is }: SessionTables): string {
  return `exists (
      select from ${refreshTokens} n
        join ${sessions} s on s.id = n.session_id and ${is.sessionIsLive('s')}
       where n.session_id = t.session_id and n.access_token_id = t.id
         and n.predecessor_id is not null and ${is.refreshTokenIsLive('n')}
    )`;
}

/** Condition on `t`, a refresh token: it is answered with its successor once more, or ends the session. */
export function refreshTokenIsKept({ sessions, refreshTokens, ...is }: SessionTables): string {
  return `exists (
      select from ${refreshTokens} n
        join ${sessions} s on s.id = n.session_id and ${is.sessionIsLive('s')}
       where n.id = t.successor_id and ${is.refreshTokenIsUnconsumed('n')}
    )`;
}
