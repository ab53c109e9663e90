/**
 * Metrics that Matrix Authentication Service (MAS) has too, with its names, labels and units
 * (`telemetry.metrics.names: mas`). A page of the manual is generated from this table.
 */
import type { MetricRename, MetricRenames } from '#platform/base/metric-kinds.ts';
import type { METRICS } from './metric-table.ts';

type Labels = Readonly<Record<string, string>>;

const HTTP = { 'network.protocol.name': 'http' };
const SESSION_TOKENS = ['oauth2_access_token', 'oauth2_refresh_token', 'compat_access_token', 'compat_refresh_token'];

const same = (labels: Labels): Labels => labels;

/** Leaves out the labels that MAS does not have. */
const none = (): Labels => ({});

const client = ({ server = '', method = '' }: Labels): Labels => ({
  'http.request.method': method,
  'peer.service': server,
});

const queue = ({ queue: name = '' }: Labels): Labels => ({ 'job.queue.name': name });

const LOGIN_RESULTS: Labels = { success: 'success', bad_password: 'mismatch', unknown_user: 'mismatch' };

export const MAS_METRICS = {
  http_server_duration_seconds: {
    name: 'http.server.duration',
    unit: '',
    help: 'without `network.protocol.version` and `url.scheme`',
    labels: ({ listener = '', method = '', route = '', status = '' }) => ({
      ...HTTP,
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'mas.listener.name': listener,
    }),
  },
  http_server_active_requests: {
    name: 'http.server.active_requests',
    unit: '',
    help: 'without `network.protocol.version`, `url.scheme` and `http.route`',
    labels: ({ listener = '', method = '' }) => ({
      ...HTTP,
      'http.request.method': method,
      'mas.listener.name': listener,
    }),
  },
  http_client_request_duration_seconds: {
    name: 'http.client.request.duration',
    unit: 'ms',
    help: '`peer.service` is the destination, such as `homeserver`',
    labels: ({ status = '', ...labels }) => ({ ...client(labels), 'http.response.status_class': status }),
  },
  http_client_active_requests: {
    name: 'http.client.active_requests',
    unit: '',
    help: '`peer.service` is the destination, such as `homeserver`',
    labels: client,
  },
  db_pool_connections: {
    name: 'db.connections.usage',
    unit: '',
    help: '`state` is `idle` or `used`',
    labels: same,
  },
  latchkey_jobs_processed_seconds: {
    name: 'job.process.duration',
    unit: 'ms',
    help: '`result` is `success`, `failed` or `crashed`',
    labels: ({ result = '', ...labels }) => ({ ...queue(labels), result }),
  },
  latchkey_jobs_active: { name: 'job.active_tasks', unit: '', help: '', labels: queue },
  latchkey_worker_wakeups_total: { name: 'job.worker.wakeups', unit: '', help: '', labels: none },
  latchkey_worker_tick_seconds: { name: 'job.worker.tick_duration', unit: 'ms', help: '', labels: none },
  latchkey_login_attempts_total: {
    name: 'mas.user.password_login_attempt',
    unit: '',
    help: 'passkeys are included; locked accounts and rate limits are `error`',
    labels: ({ result = '' }) => ({ result: LOGIN_RESULTS[result] ?? 'error' }),
  },
  latchkey_registrations_total: {
    name: 'mas.user.password_registration',
    unit: '',
    help: 'completed registrations with a password',
    labels: ({ method, result }) => (method === 'password' && result === 'success' ? {} : undefined),
  },
  latchkey_oauth2_token_requests_total: {
    name: 'mas.oauth2.token_request',
    unit: '',
    help: '`grant_type` has the values of `latchkey_oauth2_token_requests_total`',
    labels: ({ grant_type = '', result }) => ({ grant_type, successful: result === 'success' ? 'success' : 'error' }),
  },
  latchkey_oauth2_introspections_total: {
    name: 'mas.oauth2.introspection_request',
    unit: '',
    help: 'refused callers and failures are not counted; `kind` may be `unknown`',
    labels: ({ kind = '', result }) =>
      result === 'active' || result === 'inactive' ? { kind, active: String(result === 'active') } : undefined,
    known: {
      kind: [...SESSION_TOKENS, 'personal_access_token', 'unknown'],
      result: ['active', 'inactive', 'refused', 'error'],
    },
  },
  latchkey_oauth2_client_registrations_total: {
    name: 'mas.oauth2.registration_request',
    unit: '',
    help: '`created` includes what MAS calls `reused`',
    labels: ({ kind, result }) =>
      kind === 'create' ? { result: result === 'success' ? 'created' : 'denied' } : undefined,
  },
  latchkey_compat_login_total: { name: 'mas.compat.login_request', unit: '', help: '', labels: same },
  latchkey_compat_logout_total: { name: 'mas.compat.logout_request', unit: '', help: '', labels: same },
  latchkey_compat_logout_all_total: { name: 'mas.compat.logout_all_request', unit: '', help: '', labels: same },
  latchkey_upstream_callback_total: { name: 'mas.upstream_oauth2.callback', unit: '', help: '', labels: same },
  latchkey_upstream_login_total: { name: 'mas.upstream_oauth2.login', unit: '', help: '', labels: same },
  latchkey_upstream_registration_total: { name: 'mas.upstream_oauth2.registration', unit: '', help: '', labels: same },
  latchkey_activity_flush_seconds: {
    name: 'mas.activity_tracker.flush_time',
    unit: 'ms',
    help: '',
    labels: same,
  },
  latchkey_activity_pending: {
    name: 'mas.activity_tracker.pending_records',
    unit: '',
    help: 'sessions, not updates',
    labels: same,
  },
  latchkey_build_info: {
    name: 'target_info',
    unit: '',
    help: '`/metrics` only; `latchkey_build_info` is kept. Collectors get the version with the resource',
    labels: ({ version = '' }) => ({ 'service.name': 'mas-cli', 'service.version': version }),
    isAdditional: true,
    isTextOnly: true,
  },
} as const satisfies { readonly [Name in keyof typeof METRICS]?: MetricRename } satisfies MetricRenames;
