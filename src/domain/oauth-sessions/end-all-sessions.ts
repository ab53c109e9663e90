import { type AuditActor, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { finishedCte } from '#domain/browser-sessions/finish-browser-session.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { personalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';
import { endingCtes } from './end-oauth2-session.ts';
import { ENDED_WITH_THEM, type SignOutDeps, TOLD_CTE } from './sign-out.ts';

export type SessionKind = 'browser' | 'oauth2' | 'compat' | 'personal';

/** A request to end a user's sessions, by the user or by an administrator. */
export interface EverythingEnd {
  readonly userId: UserId;
  readonly kinds: ReadonlySet<SessionKind>;
  /** The browser session to keep; undefined: none. */
  readonly kept: BrowserSessionId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The user (with request data for the audit log) or an administrator. */
  readonly by:
    | { readonly kind: 'person'; readonly address: string | undefined; readonly userAgent: string | undefined }
    | { readonly kind: 'admin'; readonly actor: AuditActor };
}

/** Numbers of ended sessions. */
export interface EndedEverything {
  readonly browserSessions: number;
  readonly oauth2Sessions: number;
  /** Sessions of chat clients. */
  readonly compatSessions: number;
  /** Sessions that act as the user or belong to the user. */
  readonly personalSessions: number;
}

/**
 * Ends a user's sessions of these kinds, with their tokens. Ending a browser session also ends the application sessions
 * that `signOut` would end. Uses one statement, one audit event, and one job for all devices at the homeserver. Locks
 * in the usual order: browser sessions, OAuth sessions, compat sessions, personal sessions.
 */
export async function endAllSessions(
  { database, scopeRules, homeserver }: SignOutDeps,
  { userId, kinds, kept, now, by }: EverythingEnd,
): Promise<EndedEverything> {
  const actor: AuditActor = by.kind === 'admin' ? by.actor : { address: by.address, userAgent: by.userAgent };
  const row = await database.first(endSessions, {
    userId: toUuid(userId),
    endsBrowsers: kinds.has('browser'),
    endsOauth2: kinds.has('oauth2'),
    endsCompat: kinds.has('compat'),
    endsPersonal: kinds.has('personal'),
    keptSessionId: kept === undefined ? null : toUuid(kept),
    outliving: scopeRules.outlivingSignOut,
    now: new Date(now),
    reason: by.kind === 'admin' ? 'admin' : 'logout',
    auditEventId: newAuditEventId(now),
    clientId: actor.clientId === undefined ? null : toUuid(actor.clientId),
    ip: actor.address ?? null,
    userAgent: actor.userAgent ?? null,
    detail: JSON.stringify(actor.detail ?? {}),
    ...sessionEndParams(homeserver.isConnected),
  });
  return {
    browserSessions: row?.browser_sessions ?? 0,
    oauth2Sessions: row?.oauth2_sessions ?? 0,
    compatSessions: row?.compat_sessions ?? 0,
    personalSessions: row?.personal_sessions ?? 0,
  };
}

const endSessions = statement<
  { browser_sessions: number; oauth2_sessions: number; compat_sessions: number; personal_sessions: number },
  SessionEndParams & {
    readonly userId: string;
    readonly endsBrowsers: boolean;
    readonly endsOauth2: boolean;
    readonly endsCompat: boolean;
    readonly endsPersonal: boolean;
    readonly keptSessionId: string | null;
    readonly outliving: readonly string[];
    readonly now: Date;
    readonly reason: string;
    readonly auditEventId: string;
    readonly clientId: string | null;
    readonly detail: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'end-all-sessions-of-user',
  `with recursive ${finishedCte(':endsBrowsers::boolean and id is distinct from :keptSessionId::uuid')}, ${endingCtes(
    `select root.id from (
      ${ENDED_WITH_THEM}
      union
      select s.id from oauth2_sessions s
       where s.user_id = :userId::uuid and ${oauthSessionIsLive('s')} and :endsOauth2::boolean
    ) root`,
    ':now::timestamptz',
    ':reason::text',
    {
      compat: {
        roots: `select id from compat_sessions
          where user_id = :userId::uuid and ${compatSessionIsLive('compat_sessions')} and :endsCompat::boolean`,
        reason: ':reason::text',
      },
      personal: {
        roots: `select of_user.id from (${personalSessionsOfUser(':userId::uuid')}) of_user where :endsPersonal::boolean`,
      },
    },
  )}, ${TOLD_CTE}, counted as (
    select (select count(finished.id) from finished)::integer as browser_sessions,
           (select count(ended.id) from ended)::integer as oauth2_sessions,
           (select count(compat_ended.id) from compat_ended)::integer as compat_sessions,
           (select count(personal_ended.id) from personal_ended)::integer as personal_sessions
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'sessions_ended', :userId::uuid, :clientId::uuid, null, :ip::inet, :userAgent::text,
           jsonb_build_object('browser_sessions', counted.browser_sessions, 'oauth2_sessions', counted.oauth2_sessions,
             'compat_sessions', counted.compat_sessions, 'personal_sessions', counted.personal_sessions) || :detail::jsonb, :now::timestamptz
      from counted where counted.browser_sessions + counted.oauth2_sessions + counted.compat_sessions
        + counted.personal_sessions > 0
  )
  select counted.browser_sessions, counted.oauth2_sessions, counted.compat_sessions, counted.personal_sessions from counted`,
);
