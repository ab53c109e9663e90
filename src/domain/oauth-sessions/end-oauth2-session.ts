import {
  type AuditActor,
  type AuditEventKind,
  actorDetail,
  INSERT_AUDIT_EVENT,
  newAuditEventId,
} from '#domain/audit/audit-event.ts';
import { insertSyncsOfEnded, type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { PERSONAL_ENDED_DEVICES, personalEndingCte } from '#domain/personal-sessions/end-personal-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import {
  oauthSessionIsLive,
  refreshTokenIsUnconsumed,
  refreshTokenIsUnrevoked,
} from '#domain/records/liveness/oauth-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { insertLogoutJobs } from './backchannel-logout.ts';
import { COMPAT_ENDED_DEVICES, compatFinishingCtes } from './end-compat-session.ts';

export type OAuth2SessionEndReason =
  /** The user has left the groups that the client is limited to. */
  'access_lost' | 'admin' | 'client_revoked' | 'code_reused' | 'device_replaced' | 'logout' | 'refresh_token_reused';

export interface OAuth2SessionEnd {
  readonly reason: OAuth2SessionEndReason;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request that ended it, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The administrator who ended it, for the audit log. */
  readonly detail?: AuditActor['detail'];
  /** Whether a homeserver is connected, which must be notified of the removed device. */
  readonly syncsDevices: boolean;
}

/**
 * Ends a session and its child sessions. Their tokens stop working at the commit, because every statement that accepts
 * a token reads its session. Deletes the salts, so that successors of refresh tokens can no longer be derived, and
 * records the audit event. Uses one statement, which also works outside a transaction.
 *
 * @returns whether this call ended it; false if it had already ended or never existed
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
    eventKind: end.reason === 'access_lost' ? 'app_access_lost' : 'session_ended',
    ip: end.address ?? null,
    userAgent: end.userAgent ?? null,
    detail: actorDetail(end),
    ...sessionEndParams(end.syncsDevices),
  });
  return row !== undefined;
}

/** Returns a row if the session itself was ended. */
const endSession = statement<
  { id: string },
  SessionEndParams & {
    readonly id: string;
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
    readonly eventKind: AuditEventKind;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly detail: string;
  }
>(
  'end-oauth2-session',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where id = :id::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
  )}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, :eventKind::text, user_id, client_id, id, :ip::inet, :userAgent::text,
           :detail::jsonb || jsonb_build_object('reason', :reason::text), :now::timestamptz
      from ended where id = :id::uuid
  )
  select id from ended where id = :id::uuid`,
);

const endAll = statement<
  { oauth2: number; compat: number },
  SessionEndParams & {
    readonly userId: string;
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
  }
>(
  'end-application-sessions-of-user',
  `with recursive ${endingCtes(
    `select id from oauth2_sessions where user_id = :userId::uuid and ${oauthSessionIsLive('oauth2_sessions')}`,
    ':now::timestamptz',
    ':reason::text',
    {
      compat: {
        roots: `select id from compat_sessions where user_id = :userId::uuid and ${compatSessionIsLive('compat_sessions')}`,
        reason: ':reason::text',
      },
    },
  )}, all_ended as (
    select id from ended union all select id from compat_ended
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', :userId::uuid, null, null, null, null,
           jsonb_build_object('reason', :reason::text, 'sessions', count(id)), :now::timestamptz
      from all_ended having count(id) > 0
  )
  select (select count(id) from ended)::integer as oauth2, (select count(id) from compat_ended)::integer as compat`,
);

export interface EndedApplicationSessions {
  readonly oauth2Sessions: number;
  /** Sessions of chat clients. */
  readonly compatSessions: number;
}

/**
 * Ends all application and chat client sessions of a user with their tokens, and records one audit event for all. Uses
 * one statement, which also works outside a transaction.
 * @returns numbers of sessions ended by this call
 */
export async function endApplicationSessionsOfUser(
  queryable: Queryable,
  user: UserId,
  end: {
    readonly reason: 'admin' | 'deactivated' | 'password_changed' | 'password_recovered';
    readonly now: number;
    /** Whether a homeserver is connected and must be notified of the removed devices by this call. */
    readonly syncsDevices: boolean;
  },
): Promise<EndedApplicationSessions> {
  const row = await queryable.first(endAll, {
    userId: toUuid(user),
    now: new Date(end.now),
    reason: end.reason,
    auditEventId: newAuditEventId(end.now),
    ...sessionEndParams(end.syncsDevices),
  });
  return { oauth2Sessions: row?.oauth2 ?? 0, compatSessions: row?.compat ?? 0 };
}

interface Ending {
  /** Chat client sessions to end as well: a query of IDs, and a text expression on `compat_sessions`. */
  readonly compat?: { readonly roots: string; readonly reason: string };
  /** Personal sessions to revoke as well: a query of IDs. */
  readonly personal?: { readonly roots: string };
  /** See `insertDeviceSyncs`. */
  readonly syncDueAt?: string;
}

/**
 * Returns CTEs that end sessions inside a larger statement (oauth 9.6):
 *
 * - `tree`: the sessions of `roots` and their live descendants
 * - `ended`: those sessions of `tree` that this statement finished
 * - `erased`: revokes live refresh tokens and deletes the salts, so that successors can no longer be derived
 * - `ended_told`: queues a logout token for each client that wants one, unless the client ended the session itself
 * - `ended_synced`: notifies the homeserver of the removed devices
 * - with `compat`, also the CTEs of `compatFinishingCtes`; with `personal`, also the CTE of `personalEndingCte`
 *
 * Tokens of a finished session do not work, even if they are not marked as revoked. A concurrent rotation may leave one
 * unmarked. Locks in the usual order, sessions before tokens.
 *
 * Expects a preceding `with recursive`, and `SessionEndParams`.
 * @param roots a query of session IDs
 * @param now parameter with the time, cast to `timestamptz`; @param reason text expression
 */
export function endingCtes(
  roots: string,
  now: string,
  reason: string,
  { compat, personal, syncDueAt }: Ending = {},
): string {
  const devices = ['select user_id, device_id, finish_reason from ended'];
  const further: string[] = [];
  if (compat !== undefined) {
    devices.push(COMPAT_ENDED_DEVICES);
    further.push(compatFinishingCtes(compat.roots, now, compat.reason));
  }
  if (personal !== undefined) {
    devices.push(PERSONAL_ENDED_DEVICES);
    further.push(personalEndingCte(personal.roots, now));
  }
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
    returning id, user_id, client_id, scope, device_id, finish_reason
  ), erased as (
    update oauth2_refresh_tokens t
       set revoked_at = case when ${refreshTokenIsUnconsumed('t')} then ${now} else t.revoked_at end, rotation_salt = null
     where t.session_id in (select id from ended)
       and ${refreshTokenIsUnrevoked('t')} and (${refreshTokenIsUnconsumed('t')} or t.rotation_salt is not null)
  ), ended_told as (
    ${insertLogoutJobs('ended', now, `${reason} <> 'client_revoked'`)}
  )${further.map((ctes) => `, ${ctes}`).join('')}, ended_synced as (
    ${insertSyncsOfEnded(devices, now, syncDueAt)}
  )`;
}
