import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type OAuth2SessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { insertLogoutJobs } from './backchannel-logout.ts';
import { oauthSessionIsLive, refreshTokenIsUnconsumed, refreshTokenIsUnrevoked } from './liveness.ts';

export type OAuth2SessionEndReason =
  | 'client_revoked'
  | 'code_reused'
  | 'device_replaced'
  | 'logout'
  | 'refresh_token_reused';

export interface OAuth2SessionEnd {
  readonly reason: OAuth2SessionEndReason;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** From the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Ends a session and its child sessions at once: their tokens stop working with the commit, since every statement that
 * accepts one reads its session. Erases the salts from which successors of refresh tokens could be derived again, and
 * writes the audit event. One statement, so that it may be sent alone or inside the caller's transaction.
 *
 * @returns whether this call ended it; false when it was finished or never existed
 */
export async function endOAuth2Session(
  queryable: Queryable,
  id: OAuth2SessionId,
  end: OAuth2SessionEnd,
): Promise<boolean> {
  const row = await queryable.first(endSession, {
    id: toUuid(id),
    now: new Date(end.now),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    ip: end.address ?? null,
    userAgent: end.userAgent ?? null,
    queuedBy: queuedBy(),
  });
  return row !== undefined;
}

/** Returns a row when the session itself was ended. */
const endSession = statement<
  { id: string },
  {
    readonly id: string;
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly queuedBy: string | null;
  }
>(
  'end-oauth2-session',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where id = :id::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', user_id, client_id, id, :ip::inet, :userAgent::text,
           jsonb_build_object('reason', :reason::text), :now::timestamptz
      from ended where id = :id::uuid
  )
  select id from ended where id = :id::uuid`,
);

const endAll = statement<
  { ended: number },
  {
    readonly userId: string;
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
    readonly queuedBy: string | null;
  }
>(
  'end-oauth2-sessions-of-user',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where user_id = :userId::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', :userId::uuid, null, null, null, null,
           jsonb_build_object('reason', :reason::text, 'sessions', count(ended.id)), :now::timestamptz
      from ended having count(ended.id) > 0
  )
  select count(ended.id)::integer as ended from ended`,
);

/**
 * Ends every session of a user with its tokens, and one audit event for all. One statement, so that it may be sent
 * alone or inside the caller's transaction.
 * @returns how many sessions this call ended
 */
export async function endOAuth2SessionsOfUser(
  queryable: Queryable,
  user: UserId,
  end: { readonly reason: 'password_changed'; readonly now: number },
): Promise<number> {
  const row = await queryable.first(endAll, {
    userId: toUuid(user),
    now: new Date(end.now),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    queuedBy: queuedBy(),
  });
  return row?.ended ?? 0;
}

/**
 * CTEs that end sessions inside a larger statement (oauth.md 9.6): `tree`, the sessions of `roots` and their
 * descendants that are still live; `ended`, those of them that this statement finished; `erased`, which leaves no live
 * refresh token behind, and no salt from which a successor could be derived again; `ended_told`, which queues a logout
 * token for each client that wants one, unless the client ended the session itself.
 *
 * A token of a finished session does not work, with or without its own mark; a rotation that commits in the same instant may
 * leave one unmarked. Sessions are locked before their tokens, as everywhere.
 *
 * Expects `with recursive` before it, and the parameter `:queuedBy`.
 * @param roots a query of session ids
 * @param now parameter with the time, cast to `timestamptz`; @param reason text expression
 */
export function endingCtes(roots: string, now: string, reason: string): string {
  return `tree (id) as (
    ${roots}
    union all
    select child.id
      from oauth2_sessions child join tree on child.parent_session_id = tree.id
     where ${oauthSessionIsLive('child')}
  ), ended as (
    update oauth2_sessions
       set finished_at = ${now}, finish_reason = ${reason}
     where id in (select id from tree) and ${oauthSessionIsLive('oauth2_sessions')}
    returning id, user_id, client_id, scope
  ), erased as (
    update oauth2_refresh_tokens t
       set revoked_at = case when ${refreshTokenIsUnconsumed('t')} then ${now} else t.revoked_at end, rotation_salt = null
     where t.session_id in (select id from ended)
       and ${refreshTokenIsUnrevoked('t')} and (${refreshTokenIsUnconsumed('t')} or t.rotation_salt is not null)
  ), ended_told as (
    ${insertLogoutJobs('ended', now, `${reason} not in ('client_revoked', 'client_deleted')`)}
  )`;
}
