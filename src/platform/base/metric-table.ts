/** The metrics that the platform reports. `src/vocabulary/metric-table.ts` lists all. */
import { counter, gauge, histogram } from './metric-kinds.ts';

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STATEMENT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];
const HASH_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const JOB_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600];
const TICK_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

export const PLATFORM_METRICS = {
  http_server_duration_seconds: histogram(
    'Duration of requests, from receipt until the response is ready.',
    ['listener', 'method', 'route', 'status'],
    REQUEST_BUCKETS,
    { openTelemetry: 'http.server.request.duration', coarse: { status: (status) => `${status.slice(0, 1)}xx` } },
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
  latchkey_log_dropped_total: counter('Log lines lost because the reader or disk was too slow or full.', []),
  latchkey_rate_limited_total: counter('Requests rejected by a rate limit.', ['limiter']),
} as const;

type PlatformMetrics = typeof PLATFORM_METRICS;

/** The types of all metrics by name. The product adds its own by declaration merging. */
export interface MetricTable extends PlatformMetrics {}

export type MetricName = keyof MetricTable;
