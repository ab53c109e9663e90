import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { endingCtes } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { compatAccessTokenIsLive, compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { accessTokenIsLive, oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { tokenOrigin } from '#protocol/oauth/chat-client-token.ts';
import type { CompatSessionId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';

export interface LogOut {
  /** A token of a chat client, or an OAuth access token for the client API. */
  readonly token: string;
  /**
   * `own`: the session of the token. `compat`: all sessions of chat clients. `all`: also OAuth sessions with access to
   * the client API, and personal sessions that the user created for themselves.
   */
  readonly which: 'own' | 'compat' | 'all';
  /** The scopes that grant access to the client API. */
  readonly clientApiScopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether a homeserver is connected, which must be notified of removed devices. */
  readonly syncsDevices: boolean;
}

export type LogOutOutcome =
  | {
      readonly ok: true;
      readonly user: { readonly id: UserId; readonly username: string };
      /** The session of the token. */
      readonly session:
        | { readonly kind: 'compat'; readonly id: CompatSessionId }
        | { readonly kind: 'oauth2'; readonly id: OAuth2SessionId };
    }
  /** `stale`: the token has expired or was rotated, but its session is still live. */
  | { readonly ok: false; readonly reason: 'stale' | 'unknown' };

/**
 * Ends a chat client's session, or all sessions of its user (chat-compat 6). Also works for locked users. Runs one
 * statement, none for text that is not an access token.
 */
export async function logOut(database: Queryable, request: LogOut): Promise<LogOutOutcome> {
  const { token, which, clientApiScopes, now, address, userAgent, syncsDevices } = request;
  const origin = tokenOrigin(token);
  if (origin?.kind !== 'access-token' || origin.source === 'personal') return { ok: false, reason: 'unknown' };
  const isOfChatClient = origin.source === 'chat-client';
  const row = await database.first(isOfChatClient ? logOutChatClient : logOutOAuthClient, {
    tokenHash: sha256(token),
    which,
    clientApiScopes,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    ...sessionEndParams(syncsDevices),
  });
  if (row === undefined) return { ok: false, reason: 'unknown' };
  if (!row.is_live) return { ok: false, reason: 'stale' };
  // A concurrent request has ended the session.
  if (!row.is_ended) return { ok: false, reason: 'unknown' };
  return {
    ok: true,
    user: { id: fromUuid(row.user_id), username: row.username },
    session: isOfChatClient
      ? { kind: 'compat', id: fromUuid(row.session_id) }
      : { kind: 'oauth2', id: fromUuid(row.session_id) },
  };
}

interface LogOutRow {
  readonly session_id: string;
  readonly user_id: string;
  readonly username: string;
  /** Whether the token is live; its session is. */
  readonly is_live: boolean;
  /** Whether this call ended sessions. */
  readonly is_ended: boolean;
}

type LogOutParams = SessionEndParams & {
  readonly tokenHash: Buffer;
  readonly which: LogOut['which'];
  readonly clientApiScopes: readonly string[];
  readonly now: Date;
  readonly auditEventId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
};

const NOW = ':now::timestamptz';

/**
 * Locks in the order OAuth sessions, compat sessions, tokens.
 * @param presented query of the token with `session_id`, `user_id`, `username`, `is_live`; its session is live
 * @param own conditions for the session of the token: on `s`, an OAuth session, and `c`, a chat client's session
 */
function logOutSql(presented: string, own: { readonly oauth: string; readonly compat: string }): string {
  return `with recursive presented as materialized (
    ${presented}
  ), ${endingCtes(
    `select s.id from presented p join oauth2_sessions s on s.user_id = p.user_id
      where p.is_live and ${oauthSessionIsLive('s')}
        and case :which::text when 'own' then ${own.oauth} when 'all' then s.scope && :clientApiScopes::text[] else false end`,
    NOW,
    `case :which::text when 'own' then 'client_revoked' else 'logout' end`,
    {
      compat: {
        roots: `select c.id from presented p join compat_sessions c on c.user_id = p.user_id
         where p.is_live and ${compatSessionIsLive('c')} and (:which::text <> 'own' or ${own.compat})`,
        reason: `'logout'`,
      },
      personal: {
        roots: `select s.id from presented p join personal_sessions s on s.actor_user_id = p.user_id
         where p.is_live and ${personalSessionIsLive('s')} and :which::text = 'all'
           and s.owner_user_id = p.user_id and s.scope && :clientApiScopes::text[]`,
      },
    },
  )}, all_ended as (
    select id, client_id from ended union all select id, null::uuid from compat_ended
    union all select id, null::uuid from personal_ended
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_ended', p.user_id,
           case when :which::text = 'own' then (select e.client_id from all_ended e where e.id = p.session_id) end,
           case when :which::text = 'own' then p.session_id end, :ip::inet, :userAgent::text,
           jsonb_build_object('reason', 'logout')
             || case when :which::text = 'own' then '{}' else jsonb_build_object('sessions', (select count(*) from all_ended)) end,
           ${NOW}
      from presented p where exists (select from all_ended)
  )
  select p.session_id, p.user_id, p.username, p.is_live, exists (select from all_ended) as is_ended from presented p`;
}

/** Uses the unique index on `token_hash`, then primary keys. */
const logOutChatClient = statement<LogOutRow, LogOutParams>(
  'log-out-chat-client',
  logOutSql(
    `select s.id as session_id, s.user_id, u.username, ${compatAccessTokenIsLive('t', NOW)} as is_live
       from compat_access_tokens t
       join compat_sessions s on s.id = t.session_id
       join users u on u.id = s.user_id
      where t.token_hash = :tokenHash::bytea and ${compatSessionIsLive('s')}`,
    { oauth: 'false', compat: 'c.id = p.session_id' },
  ),
);

/** Rejects key-bound tokens, because the request contains no proof of possession. */
const logOutOAuthClient = statement<LogOutRow, LogOutParams>(
  'log-out-oauth-client',
  logOutSql(
    `select s.id as session_id, s.user_id, u.username, ${accessTokenIsLive('t', NOW)} as is_live
       from oauth2_access_tokens t
       join oauth2_sessions s on s.id = t.session_id
       join users u on u.id = s.user_id
      where t.token_hash = :tokenHash::bytea and ${oauthSessionIsLive('s')}
        and t.dpop_jkt is null and t.scope && :clientApiScopes::text[]`,
    { oauth: 's.id = p.session_id', compat: 'false' },
  ),
);
