import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import {
  type BrowserSessionEnd,
  FINISHING_CTES,
  type FinishParams,
  finishParams,
} from '#domain/browser-sessions/finish-browser-session.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { OAuth2SessionId } from '#vocabulary/ids.ts';
import { hasBackchannelLogout, insertLogoutJobs } from './backchannel-logout.ts';
import { endingCtes } from './end-oauth2-session.ts';

export interface SignOutDeps {
  readonly database: Queryable;
  readonly scopeRules: Pick<ScopeRules, 'outlivingSignOut'>;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
}

export interface SignOut extends BrowserSessionEnd {
  /** A session of the client that requests the sign-out. It belongs to the browser session and ends with it. */
  readonly oauthSessionId?: OAuth2SessionId;
}

/**
 * Signs a user out of one browser or all. Clients with a `backchannel_logout_uri` are notified. Their sessions end as
 * well, unless a granted scope lets them outlive the sign-out (`offline_access`, chat scopes). Other OAuth sessions
 * stay.
 *
 * Uses one statement, which also works outside a transaction. Locks in the usual order, browser sessions before OAuth
 * sessions.
 * @returns number of browser sessions ended by this call
 */
export async function signOut({ database, scopeRules, homeserver }: SignOutDeps, end: SignOut): Promise<number> {
  const row = await database.first(signOutSessions, {
    ...finishParams(end),
    oauthSessionId: end.oauthSessionId === undefined ? null : toUuid(end.oauthSessionId),
    outliving: scopeRules.outlivingSignOut,
    oauthEventId: newAuditEventId(end.now),
    ...sessionEndParams(homeserver.isConnected),
  });
  return row?.finished ?? 0;
}

const GREW_OUT_OF_THEM = `s.user_session_id = any (array(select finished.id from finished))`;
/** A child session ends with its parent, regardless of its scope. Ending it already queues its job. */
const IS_NOT_ENDED = 's.id <> all (array(select tree.id from tree))';
const OUTLIVES = 's.scope && :outliving::text[]';

/** Query of the sessions that end with the browser sessions `finished`. Expects `:outliving`. */
export const ENDED_WITH_THEM = `select s.id from oauth2_sessions s join oauth2_clients client on client.id = s.client_id
       where ${GREW_OUT_OF_THEM} and ${oauthSessionIsLive('s')}
         and ${hasBackchannelLogout('s', 'client')} and not ${OUTLIVES}`;

/**
 * The CTE `told`, after those of `endingCtes`. Notifies clients whose sessions outlive the browser sessions `finished`.
 */
export const TOLD_CTE = `told as (
    ${insertLogoutJobs('oauth2_sessions', ':now::timestamptz', `${GREW_OUT_OF_THEM} and ${oauthSessionIsLive('s')} and ${OUTLIVES} and ${IS_NOT_ENDED}`)}
  )`;

const signOutSessions = statement<
  { finished: number },
  FinishParams &
    SessionEndParams & {
      readonly oauthSessionId: string | null;
      readonly outliving: readonly string[];
      readonly oauthEventId: string;
    }
>(
  'sign-out',
  `with recursive ${FINISHING_CTES}, ${endingCtes(
    `select root.id from (
      ${ENDED_WITH_THEM}
      union
      select s.id from oauth2_sessions s where s.id = :oauthSessionId::uuid and ${oauthSessionIsLive('s')}
    ) root`,
    ':now::timestamptz',
    ':reason::text',
  )}, ${TOLD_CTE}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :oauthEventId::uuid, 'session_ended', :userId::uuid,
           case when count(ended.id) = 1 then (array_agg(ended.client_id))[1] end,
           case when count(ended.id) = 1 then (array_agg(ended.id))[1] end, :ip::inet, :userAgent::text,
           :auditDetail::jsonb || jsonb_build_object('reason', :reason::text, 'sessions', count(ended.id)),
           :now::timestamptz
      from ended having count(ended.id) > 0
  )
  select count(finished.id)::integer as finished from finished`,
);
