/**
 * Ends expired sessions (oauth 9.3), notifies their clients, and leaves the rows to the usual cleanup:
 *
 * - sessions that exceeded `oauth.session_max_lifetime`; their tokens are rejected from that time on
 * - sessions of dynamic clients that were unused for `experimental.inactive_session_expiration`
 */
import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import {
  type EndingWalkRow,
  endingWalkSql,
  type Sweep,
  secondsBefore,
  sweepEnding,
  unusedSince,
} from '#domain/clean-up/sweep.ts';
import { type SessionEndParams, sessionEndParams, spreadOver } from '#domain/homeserver/device-sync-jobs.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { statement } from '#platform/postgres/statement.ts';
import { endingCtes } from './end-oauth2-session.ts';

/** Live sessions of users. The conditions match the partial index `oauth2_sessions_live_of_users`. */
const IN_RANGE = `(t.created_at, t.id) > (:fromAt::timestamptz, :fromId::uuid)
  and ${oauthSessionIsLive('t')} and t.user_id is not null and t.created_at > '-infinity'`;

type ExpiryParams = SessionEndParams & {
  readonly fromAt: string;
  readonly fromId: string;
  readonly now: Date;
};

function endingOf(reason: string): string {
  return `${endingCtes('select due.id from due', ':now::timestamptz', `'${reason}'`, { syncDueAt: spreadOver(':now::timestamptz') })}, audited as (
    ${INSERT_AUDIT_EVENT}
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', user_id, client_id, id, null, null,
           '{"reason": "${reason}"}'::jsonb, :now::timestamptz
      from ended
  )`;
}

const endOfAge = statement<EndingWalkRow, ExpiryParams & { readonly createdUntil: Date }>(
  'expire-oauth2-sessions',
  endingWalkSql({
    table: 'oauth2_sessions',
    range: `${IN_RANGE} and t.created_at <= :createdUntil::timestamptz`,
    orderedBy: 'created_at',
    isDue: oauthSessionIsLive('t'),
    ending: endingOf('expired'),
  }),
);

/** Counts refreshes immediately: their tokens are stored before the activity is written. */
const endOfUse = statement<EndingWalkRow, ExpiryParams & { readonly unusedSince: Date }>(
  'expire-unused-oauth2-sessions',
  endingWalkSql({
    table: 'oauth2_sessions',
    range: `${IN_RANGE} and t.created_at < :unusedSince::timestamptz`,
    orderedBy: 'created_at',
    isDue: `${oauthSessionIsLive('t')} and coalesce(t.last_active_at, t.created_at) < :unusedSince::timestamptz
      and not (select client.is_static from oauth2_clients client where client.id = t.client_id)
      and not exists (select from oauth2_access_tokens token
                       where token.session_id = t.id and token.created_at >= :unusedSince::timestamptz)`,
    ending: endingOf('inactive'),
  }),
);

export const expirySweeps: readonly Sweep[] = [
  {
    name: 'expire-oauth2-sessions',
    endsSessions: true,
    minute: 13,
    sweep: async (database, now, { sessionMaxLifetimeSeconds, syncsDevices }, from) => {
      if (sessionMaxLifetimeSeconds === undefined) return { rows: 0, next: undefined };
      return await sweepEnding(database, endOfAge, {
        fromAt: from.at,
        fromId: from.id,
        now: new Date(now),
        ...sessionEndParams(syncsDevices),
        createdUntil: secondsBefore(now, sessionMaxLifetimeSeconds),
      });
    },
  },
  {
    name: 'expire-unused-oauth2-sessions',
    endsSessions: true,
    minute: 3,
    everyMinutes: 15,
    sweep: async (database, now, { unusedOAuth2SessionsSeconds, syncsDevices }, from) => {
      if (unusedOAuth2SessionsSeconds === undefined) return { rows: 0, next: undefined };
      return await sweepEnding(database, endOfUse, {
        fromAt: from.at,
        fromId: from.id,
        now: new Date(now),
        ...sessionEndParams(syncsDevices),
        unusedSince: unusedSince(now, unusedOAuth2SessionsSeconds),
      });
    },
  },
];
