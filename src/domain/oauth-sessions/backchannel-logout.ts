/**
 * Tells clients that a session of theirs has ended (OpenID Connect Back-Channel Logout 1.0, oauth 17.2). The job is
 * written by the statement that ends the session; the token is made when the job runs, for it is good for two minutes.
 */
import { type Subjects, sectorHost, sectorUriColumn } from '#domain/clients/subjects.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, parseId, toUuid } from '#platform/base/ids.ts';
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

const QUEUE = 'backchannel-logout';
/** A request takes five seconds at most. */
const TIME_LIMIT_SECONDS = 60;

/**
 * The client wants to know when the session ends.
 * @param session alias of `oauth2_sessions`; @param client alias of `oauth2_clients`
 */
export function hasBackchannelLogout(session: string, client: string): string {
  return `('openid' = any (${session}.scope) and ${session}.user_id is not null
    and ${client}.metadata ->> 'backchannel_logout_uri' is not null)`;
}

/**
 * An insert, inside a larger statement, of a job for each session whose client wants to know. Expects `:queuedBy`.
 * @param sessions table or CTE with `id`, `user_id`, `client_id` and `scope`
 * @param now parameter with the time, cast to `timestamptz`; @param condition on `s`
 */
export function insertLogoutJobs(sessions: string, now: string, condition: string): string {
  return `${INSERT_JOB}
    select gen_random_uuid(), '${QUEUE}', jsonb_build_object('session_id', s.id), s.id::text, :queuedBy::text, ${now}, ${now}
      from ${sessions} s join oauth2_clients client on client.id = s.client_id
     where ${condition} and ${hasBackchannelLogout('s', 'client')}
    ${ON_WAITING_JOB}`;
}

export function backchannelLogoutQueue(deps: BackchannelLogoutDeps): JobQueue {
  return {
    name: QUEUE,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: ({ payload }) => sendLogoutToken(deps, payload),
  };
}

async function sendLogoutToken(deps: BackchannelLogoutDeps, payload: unknown): Promise<JobOutcome> {
  const { clock, database, issuer, outbound, signingKeys, subjects } = deps;
  const uuid = sessionIdOf(payload);
  if (uuid === undefined) return { kind: 'failed', reason: 'the payload names no session' };
  const session = await database.first(findSession, { id: uuid });
  // Session or client are deleted by now, or the client no longer wants to know.
  if (session?.uri == null) return DONE;
  const claims = logoutTokenClaims({
    issuer,
    clientId: fromUuid(session.client_id),
    subject: subjects.of(fromUuid(session.user_id), sectorHost(session.sector_uri)),
    sessionId: fromUuid(uuid),
    now: clock.now(),
    id: randomBase64Url(),
  });
  const token = await signingKeys.signJwt(claims, { alg: session.algorithm, typ: LOGOUT_TOKEN_TYPE });
  const posted = await outbound.post(session.uri, { logout_token: token }, { isConfigured: session.is_static });
  if (!posted.ok) {
    const reason = `client ${fromUuid(session.client_id)} was not reached: ${posted.reason}`;
    return { kind: posted.reason === 'url' ? 'failed' : 'retry', reason };
  }
  // 2.8: 200, and 204 from some frameworks; 400 says that the token was understood and refused.
  if (posted.status === 200 || posted.status === 204) return DONE;
  const reason = `client ${fromUuid(session.client_id)} answered ${posted.status}`;
  return { kind: posted.status === 400 ? 'failed' : 'retry', reason };
}

function sessionIdOf(payload: unknown): string | undefined {
  if (typeof payload !== 'object' || payload === null || !('session_id' in payload)) return undefined;
  const { session_id: uuid } = payload;
  if (typeof uuid !== 'string') return undefined;
  const id = parseId(fromUuid(uuid));
  return id === undefined ? undefined : toUuid(id);
}

const findSession = statement<
  {
    readonly user_id: string;
    readonly client_id: string;
    readonly is_static: boolean;
    readonly uri: string | null;
    readonly algorithm: string;
    readonly sector_uri: string | null;
  },
  { readonly id: string }
>(
  'session-of-logout-token',
  `select s.user_id, s.client_id, client.is_static, client.metadata ->> 'backchannel_logout_uri' as uri,
          client.metadata ->> 'id_token_signed_response_alg' as algorithm,
          ${sectorUriColumn('client')} as sector_uri
     from oauth2_sessions s join oauth2_clients client on client.id = s.client_id
    where s.id = :id::uuid and s.user_id is not null`,
);
