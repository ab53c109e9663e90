/**
 * Ends expired sessions (oauth 9.3), notifies their clients, and leaves the rows to the usual cleanup:
 *
 * - sessions that exceeded `oauth.session_max_lifetime`; their tokens are rejected from that time on
 * - sessions of dynamic clients that were unused for `experimental.inactive_session_expiration`
 */
import { auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { endSessions, type SweepRow, secondsBefore, unusedSince } from '#domain/clean-up/sweep.ts';
import { sessionEndParams, spreadOver } from '#domain/homeserver/device-sync-jobs.ts';
import { clientIsVouchedFor } from '#domain/records/liveness/clients.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { endingCtes } from './end-oauth2-session.ts';

/** Live sessions of users. The conditions match the partial index `oauth2_sessions_live_of_users`. */
const IS_LIVE_OF_USER = `${oauthSessionIsLive('t')} and t.user_id is not null and t.created_at > '-infinity'`;

function endingOf(reason: string): string {
  return `${endingCtes('select due.id from due', ':now::timestamptz', `'${reason}'`, { syncDueAt: spreadOver(':now::timestamptz') })}, audited as (
    ${INSERT_AUDIT_EVENT}
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', user_id, client_id, id, null, null,
           '{"reason": "${reason}"}'::jsonb, :now::timestamptz
      from ended
  )`;
}

export const expirySweeps: readonly SweepRow[] = [
  {
    name: 'expire-oauth2-sessions',
    minute: 13,
    batch: endSessions('expire-oauth2-sessions', {
      table: 'oauth2_sessions',
      orderedBy: 'created_at',
      within: `${IS_LIVE_OF_USER} and t.created_at <= :createdUntil::timestamptz`,
      isDue: oauthSessionIsLive('t'),
      ending: endingOf('expired'),
    }),
    parameters: (now, { sessionMaxLifetimeSeconds: lifetime, syncsDevices }) =>
      lifetime === undefined
        ? undefined
        : { now: new Date(now), ...sessionEndParams(syncsDevices), createdUntil: secondsBefore(now, lifetime) },
  },
  {
    // Counts refreshes immediately: their tokens are stored before the activity is written.
    name: 'expire-unused-oauth2-sessions',
    minute: 3,
    everyMinutes: 15,
    batch: endSessions('expire-unused-oauth2-sessions', {
      table: 'oauth2_sessions',
      orderedBy: 'created_at',
      within: `${IS_LIVE_OF_USER} and t.created_at < :unusedSince::timestamptz`,
      isDue: `${oauthSessionIsLive('t')} and coalesce(t.last_active_at, t.created_at) < :unusedSince::timestamptz
        and not (select ${clientIsVouchedFor('client')} from oauth2_clients client where client.id = t.client_id)
        and not exists (select from oauth2_access_tokens token
                         where token.session_id = t.id and token.created_at >= :unusedSince::timestamptz)`,
      ending: endingOf('inactive'),
    }),
    parameters: (now, { unusedOAuth2SessionsSeconds: unused, syncsDevices }) =>
      unused === undefined
        ? undefined
        : { now: new Date(now), ...sessionEndParams(syncsDevices), unusedSince: unusedSince(now, unused) },
  },
];
