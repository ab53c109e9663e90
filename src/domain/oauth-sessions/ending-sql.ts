import { oauthSessionIsLive, refreshTokenIsUnconsumed, refreshTokenIsUnrevoked } from './liveness.ts';

/**
 * CTEs that end sessions inside a larger statement (oauth.md 9.6): `doomed`, the sessions of `roots` and their
 * descendants that still live; `ended`, those of them that this statement finished; `erased`, which leaves no live
 * refresh token behind, and no salt from which a successor could be derived again.
 *
 * A token of a finished session is dead with or without its own mark; a rotation that commits in the same instant may
 * leave one unmarked. Sessions are locked before their tokens, as everywhere. Expects `with recursive` before it.
 * @param roots a query of session ids
 * @param now parameter with the time, cast to `timestamptz`; @param reason text expression
 */
export function endingCtes(roots: string, now: string, reason: string): string {
  return `doomed (id) as (
    ${roots}
    union all
    select child.id
      from oauth2_sessions child join doomed on child.parent_session_id = doomed.id
     where ${oauthSessionIsLive('child')}
  ), ended as (
    update oauth2_sessions
       set finished_at = ${now}, finish_reason = ${reason}
     where id in (select id from doomed) and ${oauthSessionIsLive('oauth2_sessions')}
    returning id, user_id, client_id
  ), erased as (
    update oauth2_refresh_tokens t
       set revoked_at = case when ${refreshTokenIsUnconsumed('t')} then ${now} else t.revoked_at end, rotation_salt = null
     where t.session_id in (select id from ended)
       and ${refreshTokenIsUnrevoked('t')} and (${refreshTokenIsUnconsumed('t')} or t.rotation_salt is not null)
  )`;
}
