/**
 * All metrics of the service (operations 7.2). Search for a name to find where it is reported. A page of the manual is
 * generated from this table, and a test compares the table with the output of a running service.
 *
 * Label values come from the program or the configuration, never from a request. Otherwise metrics could expose
 * secrets, and anyone could create new time series.
 */
import { counter, gauge, histogram } from './metric-kinds.ts';
import { CHAT_RESULTS, FLOW_RESULTS, GRANT_TYPE_LABELS, LIMITER_LABELS, OAUTH_RESULTS } from './metric-labels.ts';

const TOKEN_OF_CHAT_CLIENT = ['compat', 'oauth2', 'unknown'];
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STATEMENT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];
const HASH_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const JOB_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600];
const TICK_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

export const METRICS = {
  latchkey_build_info: gauge('Always 1; the labels say what runs.', ['version', 'node', 'database'], {
    across: 'first',
  }),
  http_server_duration_seconds: histogram(
    'Time from the receipt of a request until its answer is ready.',
    ['listener', 'method', 'route', 'status'],
    REQUEST_BUCKETS,
    { openTelemetry: 'http.server.request.duration' },
  ),
  http_server_active_requests: gauge('Requests that are being served.', ['listener', 'method'], {
    openTelemetry: 'http.server.active_requests',
  }),
  http_server_rejected_total: counter(
    'Connections and requests that were refused before any work was done.',
    ['reason'],
    {
      reason: [
        ...['malformed', 'header_overflow', 'header_timeout', 'http2', 'tls', 'proxy'],
        ...['limit', 'overloaded', 'lagging'],
      ],
    },
    { openTelemetry: 'latchkey.http.rejected' },
  ),
  http_client_request_duration_seconds: histogram(
    'Time that a call of another server took, until its answer was complete. Its status is `failed` when none came.',
    ['server', 'method', 'status'],
    REQUEST_BUCKETS,
    { openTelemetry: 'http.client.request.duration' },
  ),
  http_client_active_requests: gauge('Calls of other servers that are under way.', ['server', 'method'], {
    openTelemetry: 'http.client.active_requests',
  }),
  db_pool_connections: gauge('Connections to the database.', ['state'], {
    openTelemetry: 'db.client.connection.count',
  }),
  db_pool_waiting: gauge('Callers that wait for a connection to the database.', [], {
    openTelemetry: 'db.client.connection.pending_requests',
  }),
  db_pool_wait_seconds: histogram(
    'How long callers waited for a connection to the database; those that got one at once are not counted.',
    [],
    STATEMENT_BUCKETS,
    { openTelemetry: 'db.client.connection.wait_time' },
  ),
  db_query_duration_seconds: histogram(
    'Time from the start of a statement at the database until its result is complete.',
    ['name'],
    STATEMENT_BUCKETS,
    { openTelemetry: 'db.client.operation.duration' },
  ),
  latchkey_password_hash_seconds: histogram(
    'Time that hashing or checking a password took, without its wait in the queue.',
    ['operation', 'algorithm'],
    HASH_BUCKETS,
  ),
  latchkey_password_queue_length: gauge('Callers that wait to have a password hashed or checked.', []),
  latchkey_password_rejected_total: counter(
    'Passwords that were not looked at: the queue was full or the wait too long.',
    [],
  ),
  latchkey_jobs_processed_seconds: histogram(
    'Time that a run of a job took. Interrupted runs, which begin again elsewhere, are not counted.',
    ['queue', 'result', 'decision'],
    JOB_BUCKETS,
  ),
  latchkey_jobs_active: gauge('Jobs that run in this instance.', ['queue']),
  latchkey_jobs_queued: gauge('Jobs in the database that wait, those of a later time included.', ['queue'], {
    across: 'max',
  }),
  latchkey_jobs_oldest_due_seconds: gauge('How long the oldest job that is due has waited.', ['queue'], {
    across: 'max',
  }),
  latchkey_jobs_dead: gauge('Jobs in the database that were given up and are still kept.', ['queue'], {
    across: 'max',
  }),
  latchkey_worker_wakeups_total: counter('Times that a worker looked for jobs.', ['reason'], {
    reason: ['interval', 'backlog'],
  }),
  latchkey_worker_tick_seconds: histogram('Time that looking for due jobs took.', [], TICK_BUCKETS),
  latchkey_cleanup_rows_total: counter('Rows that clean-up removed or emptied, and sessions that it ended.', ['table']),
  latchkey_login_attempts_total: counter(
    'Sign-ins by password or passkey on the page, by how they end; with a second factor, after that.',
    ['result'],
    {
      result: ['success', 'bad_password', 'unknown_user', 'locked', 'rate_limited', 'error'],
    },
  ),
  latchkey_registrations_total: counter('Registrations, each when it begins and when it ends.', ['method', 'result'], {
    method: ['password', 'upstream'],
    result: FLOW_RESULTS,
  }),
  latchkey_recoveries_total: counter(
    'Recoveries of accounts, each when it begins and when it ends.',
    ['method', 'result'],
    {
      method: ['email'],
      result: FLOW_RESULTS,
    },
  ),
  latchkey_reauths_total: counter('Times that somebody had to prove again who they are.', ['method', 'result'], {
    method: ['passkey', 'password', 'upstream'],
    result: ['success', 'bad_password', 'locked', 'ended', 'rate_limited', 'error'],
  }),
  latchkey_second_factor_total: counter(
    'Second factors that were given, or set up, in the course of a sign-in.',
    ['method', 'result'],
    {
      method: ['totp', 'recovery_code', 'passkey', 'setup'],
      result: ['success', 'bad_code', 'too_many_attempts', 'rate_limited', 'locked', 'ended'],
    },
  ),
  latchkey_rate_limited_total: counter('Requests that a rate limit refused.', ['limiter'], { limiter: LIMITER_LABELS }),
  latchkey_activity_pending: gauge('Sessions whose last activity is not written yet.', []),
  latchkey_activity_flush_seconds: histogram('Time that writing gathered activity took.', [], STATEMENT_BUCKETS),
  latchkey_activity_dropped_total: counter('Last activities that were not remembered: too many waited.', []),
  latchkey_log_dropped_total: counter('Lines of the log that are lost: its reader or its disk took no more.', []),
  latchkey_config_reloads_total: counter(
    'Times that the configuration was read again, each with every process of a `serve`.',
    ['result'],
    { result: ['success', 'failure'] },
    { across: 'max' },
  ),
  latchkey_oauth2_token_requests_total: counter('Requests for tokens.', ['grant_type', 'result'], {
    grant_type: GRANT_TYPE_LABELS,
    result: OAUTH_RESULTS,
  }),
  latchkey_oauth2_introspections_total: counter('Introspections, by the kind of token.', ['kind', 'result'], {
    kind: ['access_token', 'refresh_token', 'unknown'],
    result: ['active', 'inactive', 'refused', 'error'],
  }),
  latchkey_oauth2_revocations_total: counter(
    'Revocations, by the kind of token that the client names.',
    ['kind', 'result'],
    {
      kind: ['access_token', 'refresh_token', 'unknown'],
      result: OAUTH_RESULTS,
    },
  ),
  latchkey_oauth2_client_registrations_total: counter('Clients that registered themselves.', ['kind', 'result'], {
    kind: ['create', 'update', 'delete'],
    result: OAUTH_RESULTS,
  }),
  latchkey_compat_login_total: counter('Sign-ins of chat clients.', ['type', 'result'], {
    type: ['password', 'token', 'other'],
    result: CHAT_RESULTS,
  }),
  latchkey_compat_logout_total: counter('Chat clients that sign themselves out.', ['type', 'result'], {
    type: TOKEN_OF_CHAT_CLIENT,
    result: CHAT_RESULTS,
  }),
  latchkey_compat_logout_all_total: counter('Chat clients that sign out all of their person.', ['type', 'result'], {
    type: TOKEN_OF_CHAT_CLIENT,
    result: CHAT_RESULTS,
  }),
  latchkey_compat_refresh_total: counter('Refreshes of chat clients.', ['type', 'result'], {
    type: ['compat', 'unknown'],
    result: CHAT_RESULTS,
  }),
  latchkey_upstream_callback_total: counter('Answers of sign-in providers.', ['provider', 'result']),
  latchkey_upstream_login_total: counter('Sign-ins through a provider that end in an account here.', [
    'provider',
    'result',
  ]),
  latchkey_upstream_registration_total: counter(
    'Registrations through a provider, each when it begins and when it ends.',
    ['provider', 'result'],
  ),
  latchkey_sessions_active: gauge(
    'Sessions that have not ended, counted every five minutes by processes that do background work; above 100,000 an estimate.',
    ['kind'],
    { across: 'max' },
  ),
  latchkey_certificate_expiry_seconds: gauge(
    'Time until the certificate of a listener expires; negative when it has expired.',
    ['listener'],
    { across: 'min' },
  ),
  latchkey_signing_key_age_seconds: gauge(
    'Time since the file of a signing key was written, or since the key was replaced. Keys in no file are left out.',
    ['kid'],
    { across: 'max' },
  ),
} as const;

export type MetricName = keyof typeof METRICS;
