/**
 * Notifies clients that one of their sessions has ended (OpenID Connect Back-Channel Logout 1.0, oauth 17.2). The
 * statement that ends the session inserts the job. The job creates the token when it runs, because a token is valid for
 * two minutes. Session and client may be deleted in the meantime, so the payload contains everything that the token
 * needs.
 */

import { clientIdentifier } from '#domain/clients/client-names.ts';
import { type Subjects, sectorHost, sectorUriColumn } from '#domain/clients/subjects.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { clientIsVouchedFor } from '#domain/records/liveness/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { DONE, INSERT_JOB, type JobOutcome, type JobQueue, ON_WAITING_JOB } from '#platform/jobs/queue.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { LOGOUT_TOKEN_TYPE, logoutTokenClaims } from '#protocol/oidc/logout-token-claims.ts';

export interface BackchannelLogoutDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly signingKeys: SigningKeys;
  readonly subjects: Subjects;
  readonly outbound: Pick<OutboundHttp, 'post'>;
  readonly issuer: string;
}

/** A separate queue, so that static clients do not wait for dynamic ones, which may respond slowly on purpose. */
const QUEUE_OF_CONFIGURED = 'backchannel-logout';
const QUEUE_OF_REGISTERED = 'backchannel-logout-registered';
/** A request takes at most five seconds. */
const TIME_LIMIT_SECONDS = 60;

/**
 * SQL condition: the client must be notified when the session ends.
 * @param session alias of `oauth2_sessions`; @param client alias of `oauth2_clients`
 */
export function hasBackchannelLogout(session: string, client: string): string {
  return `('openid' = any (${session}.scope) and ${session}.user_id is not null
    and ${client}.metadata ->> 'backchannel_logout_uri' is not null)`;
}

/** Client data at the end of the session: names in the payload and columns of `client`. */
const RECEIVER = [
  ['is_static', 'client.is_static'],
  ['uri', `client.metadata ->> 'backchannel_logout_uri'`],
  ['algorithm', `client.metadata ->> 'id_token_signed_response_alg'`],
  ['sector_uri', sectorUriColumn('client')],
  ['document_url', 'client.document_url'],
] as const;

/**
 * Returns an insert for a larger statement: one job for each session whose client must be notified. Expects
 * `:queuedBy`.
 * @param sessions table or CTE with `id`, `user_id`, `client_id` and `scope`
 * @param now parameter with the time, cast to `timestamptz`; @param condition on `s`
 */
export function insertLogoutJobs(sessions: string, now: string, condition: string): string {
  return `${INSERT_JOB}
    select gen_random_uuid(), case when ${clientIsVouchedFor('client')} then '${QUEUE_OF_CONFIGURED}' else '${QUEUE_OF_REGISTERED}' end,
           jsonb_build_object('session_id', s.id, 'user_id', s.user_id, 'client_id', s.client_id, ${RECEIVER.map(([name, column]) => `'${name}', ${column}`).join(', ')}),
           s.id::text, :queuedBy::text, ${now}, ${now}
      from ${sessions} s join oauth2_clients client on client.id = s.client_id
     where ${condition} and ${hasBackchannelLogout('s', 'client')}
    ${ON_WAITING_JOB}`;
}

/** Returns the queues of clients that someone vouches for, and of dynamic clients. */
export function backchannelLogoutQueues(deps: BackchannelLogoutDeps): {
  readonly configured: JobQueue;
  readonly registered: JobQueue;
} {
  const queue = (name: string): JobQueue => ({
    name,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: ({ payload }) => sendLogoutToken(deps, payload),
  });
  return { configured: queue(QUEUE_OF_CONFIGURED), registered: queue(QUEUE_OF_REGISTERED) };
}

async function sendLogoutToken(deps: BackchannelLogoutDeps, payload: unknown): Promise<JobOutcome> {
  const { clock, database, issuer, outbound, signingKeys, subjects } = deps;
  const session = await database.first(readLogout, { payload: JSON.stringify(payload) });
  if (session?.session_id == null) return { kind: 'failed', reason: 'the payload has no session ID' };
  // The client no longer has a logout URI.
  if (session.uri === null) return DONE;
  const claims = logoutTokenClaims({
    issuer,
    clientId: clientIdentifier(fromUuid(session.client_id), session.document_url),
    subject: subjects.of(fromUuid(session.user_id), sectorHost(session.sector_uri)),
    sessionId: fromUuid(session.session_id),
    now: clock.now(),
    id: randomBase64Url(),
  });
  const token = await signingKeys.signJwt(claims, { alg: session.algorithm, typ: LOGOUT_TOKEN_TYPE });
  const posted = await outbound.post(session.uri, { logout_token: token }, { isConfigured: session.is_static });
  if (!posted.ok) {
    const reason = `client ${fromUuid(session.client_id)} could not be reached: ${posted.reason}`;
    return { kind: posted.reason === 'url' ? 'failed' : 'retry', reason };
  }
  // 2.8: 200, or 204 from some frameworks. 400 means that the client rejected the token.
  if (posted.status === 200 || posted.status === 204) return DONE;
  const reason = `client ${fromUuid(session.client_id)} responded with ${posted.status}`;
  return { kind: posted.status === 400 ? 'failed' : 'retry', reason };
}

type LogoutRow =
  | {
      readonly session_id: string;
      readonly user_id: string;
      readonly client_id: string;
      readonly is_static: boolean;
      readonly uri: string | null;
      readonly algorithm: string;
      readonly sector_uri: string | null;
      /** Null, also in jobs of older versions: `client_id` is the ID. */
      readonly document_url: string | null;
    }
  | { readonly session_id: null };

/** Reads the payload. Prefers the current data of the client if it still exists. */
const readLogout = statement<LogoutRow, { readonly payload: string }>(
  'read-backchannel-logout',
  `select told.session_id, told.user_id, told.client_id,
          ${RECEIVER.map(([name, column]) => `case when client.id is null then told.${name} else ${column} end as ${name}`).join(', ')}
     from jsonb_to_record(:payload::jsonb) as told (
       session_id uuid, user_id uuid, client_id uuid, is_static boolean, uri text, algorithm text, sector_uri text,
       document_url text
     )
     left join oauth2_clients client on client.id = told.client_id`,
);
