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
  latchkey_build_info: gauge('Always 1; the labels identify the version.', ['version', 'node', 'database'], {
    across: 'first',
  }),
  http_server_duration_seconds: histogram(
    'Duration of requests, from receipt until the response is ready.',
    ['listener', 'method', 'route', 'status'],
    REQUEST_BUCKETS,
    { openTelemetry: 'http.server.request.duration' },
  ),
  http_server_active_requests: gauge('Requests in progress.', ['listener', 'method'], {
    openTelemetry: 'http.server.active_requests',
  }),
  http_server_rejected_total: counter(
    'Connections and requests rejected before processing.',
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
    'Duration of outgoing requests until the response is complete. The status is `failed` if there was ' +
      'no response.',
    ['server', 'method', 'status'],
    REQUEST_BUCKETS,
    { openTelemetry: 'http.client.request.duration' },
  ),
  http_client_active_requests: gauge('Outgoing requests in progress.', ['server', 'method'], {
    openTelemetry: 'http.client.active_requests',
  }),
  db_pool_connections: gauge('Database connections.', ['state'], {
    openTelemetry: 'db.client.connection.count',
  }),
  db_pool_waiting: gauge('Callers waiting for a database connection.', [], {
    openTelemetry: 'db.client.connection.pending_requests',
  }),
  db_pool_wait_seconds: histogram(
    'Wait time for a database connection; callers that did not wait are not counted.',
    [],
    STATEMENT_BUCKETS,
    { openTelemetry: 'db.client.connection.wait_time' },
  ),
  db_query_duration_seconds: histogram(
    'Duration of database statements until the result is complete.',
    ['name'],
    STATEMENT_BUCKETS,
    { openTelemetry: 'db.client.operation.duration' },
  ),
  latchkey_password_hash_seconds: histogram(
    'Duration of password hashing and verification, excluding the wait in the queue.',
    ['operation', 'algorithm'],
    HASH_BUCKETS,
  ),
  latchkey_password_queue_length: gauge('Callers waiting for password hashing or verification.', []),
  latchkey_password_rejected_total: counter(
    'Password checks rejected because the queue was full or the wait too long.',
    [],
  ),
  latchkey_jobs_processed_seconds: histogram(
    'Duration of job runs. Interrupted runs, which restart in another process, are not counted.',
    ['queue', 'result', 'decision'],
    JOB_BUCKETS,
  ),
  latchkey_jobs_active: gauge('Jobs running in this instance.', ['queue']),
  latchkey_jobs_queued: gauge('Queued jobs in the database, including those scheduled for later.', ['queue'], {
    across: 'max',
  }),
  latchkey_jobs_oldest_due_seconds: gauge('Wait time of the oldest due job.', ['queue'], {
    across: 'max',
  }),
  latchkey_jobs_dead: gauge('Dead jobs that are still kept in the database.', ['queue'], {
    across: 'max',
  }),
  latchkey_worker_wakeups_total: counter('Polls for due jobs by workers.', ['reason'], {
    reason: ['interval', 'backlog'],
  }),
  latchkey_worker_tick_seconds: histogram('Duration of polls for due jobs.', [], TICK_BUCKETS),
  latchkey_cleanup_rows_total: counter('Rows deleted or cleared, and sessions ended, by cleanup jobs.', ['table']),
  latchkey_login_attempts_total: counter(
    'Sign-ins with a password or passkey in the browser, by result; with a second factor, counted after it.',
    ['result'],
    {
      result: ['success', 'bad_password', 'unknown_user', 'locked', 'rate_limited', 'error'],
    },
  ),
  latchkey_registrations_total: counter(
    'Registrations, counted at their start and at their end.',
    ['method', 'result'],
    {
      method: ['password', 'upstream'],
      result: FLOW_RESULTS,
    },
  ),
  latchkey_recoveries_total: counter(
    'Account recoveries, counted at their start and at their end.',
    ['method', 'result'],
    {
      method: ['email'],
      result: FLOW_RESULTS,
    },
  ),
  latchkey_reauths_total: counter('Identity confirmations requested from users.', ['method', 'result'], {
    method: ['passkey', 'password', 'upstream'],
    result: ['success', 'bad_password', 'locked', 'ended', 'rate_limited', 'error'],
  }),
  latchkey_second_factor_total: counter('Second factors entered or set up during a sign-in.', ['method', 'result'], {
    method: ['totp', 'recovery_code', 'passkey', 'setup'],
    result: ['success', 'bad_code', 'too_many_attempts', 'rate_limited', 'locked', 'ended'],
  }),
  latchkey_rate_limited_total: counter('Requests rejected by a rate limit.', ['limiter'], { limiter: LIMITER_LABELS }),
  latchkey_activity_pending: gauge('Sessions whose last activity has not been written yet.', []),
  latchkey_activity_flush_seconds: histogram('Duration of writing collected activity.', [], STATEMENT_BUCKETS),
  latchkey_activity_dropped_total: counter('Activity updates dropped because the buffer was full.', []),
  latchkey_log_dropped_total: counter('Log lines lost because the reader or disk was too slow or full.', []),
  latchkey_config_reloads_total: counter(
    'Configuration reloads, counted once per `serve` for all its processes.',
    ['result'],
    { result: ['success', 'failure'] },
    { across: 'max' },
  ),
  latchkey_oauth2_token_requests_total: counter('Token requests.', ['grant_type', 'result'], {
    grant_type: GRANT_TYPE_LABELS,
    result: OAUTH_RESULTS,
  }),
  latchkey_oauth2_introspections_total: counter('Introspection requests, by token type.', ['kind', 'result'], {
    kind: ['access_token', 'refresh_token', 'unknown'],
    result: ['active', 'inactive', 'refused', 'error'],
  }),
  latchkey_oauth2_revocations_total: counter(
    'Revocation requests, by the token type that the client specified.',
    ['kind', 'result'],
    {
      kind: ['access_token', 'refresh_token', 'unknown'],
      result: OAUTH_RESULTS,
    },
  ),
  latchkey_oauth2_client_registrations_total: counter('Dynamic client registrations.', ['kind', 'result'], {
    kind: ['create', 'update', 'delete'],
    result: OAUTH_RESULTS,
  }),
  latchkey_compat_login_total: counter('Sign-ins of chat clients.', ['type', 'result'], {
    type: ['password', 'token', 'other'],
    result: CHAT_RESULTS,
  }),
  latchkey_compat_logout_total: counter('Sign-outs by chat clients.', ['type', 'result'], {
    type: TOKEN_OF_CHAT_CLIENT,
    result: CHAT_RESULTS,
  }),
  latchkey_compat_logout_all_total: counter('Sign-outs from all devices by chat clients.', ['type', 'result'], {
    type: TOKEN_OF_CHAT_CLIENT,
    result: CHAT_RESULTS,
  }),
  latchkey_compat_refresh_total: counter('Token refreshes by chat clients.', ['type', 'result'], {
    type: ['compat', 'unknown'],
    result: CHAT_RESULTS,
  }),
  latchkey_upstream_callback_total: counter('Responses from sign-in providers.', ['provider', 'result']),
  latchkey_upstream_login_total: counter('Completed sign-ins with a sign-in provider.', ['provider', 'result']),
  latchkey_upstream_registration_total: counter(
    'Registrations with a sign-in provider, counted at their start and at their end.',
    ['provider', 'result'],
  ),
  latchkey_sessions_active: gauge(
    'Active sessions, counted every five minutes by processes that run background jobs; an estimate ' +
      'above 100,000.',
    ['kind'],
    { across: 'max' },
  ),
  latchkey_certificate_expiry_seconds: gauge(
    'Time until the TLS certificate of a listener expires; negative once it has expired.',
    ['listener'],
    { across: 'min' },
  ),
  latchkey_signing_key_age_seconds: gauge(
    'Time since the file of a signing key was written, or since the key was replaced. Keys without a ' +
      'file are not included.',
    ['kid'],
    { across: 'max' },
  ),
} as const;

export type MetricName = keyof typeof METRICS;
