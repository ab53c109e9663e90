/**
 * All metrics of the service (operations 7.2). Search for a name to find where it is reported. A page of the manual is
 * generated from this table, and a test compares the table with the output of a running service.
 *
 * Label values come from the program or the configuration, never from a request. Otherwise metrics could expose
 * secrets, and anyone could create new time series.
 */
import { counter, gauge, histogram } from '#platform/base/metric-kinds.ts';
import { PLATFORM_METRICS } from '#platform/base/metric-table.ts';
import { CHAT_RESULTS, FLOW_RESULTS, GRANT_TYPE_LABELS, LIMITER_LABELS, OAUTH_RESULTS } from './metric-labels.ts';

const TOKEN_OF_CHAT_CLIENT = ['compat', 'oauth2', 'unknown'];
const FLUSH_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];

const { latchkey_rate_limited_total: rateLimited } = PLATFORM_METRICS;
const RATE_LIMITED: typeof rateLimited = { ...rateLimited, known: { limiter: LIMITER_LABELS } };

export const METRICS = {
  latchkey_build_info: gauge('Always 1; the labels identify the version.', ['version', 'node', 'database'], {
    across: 'first',
  }),
  ...PLATFORM_METRICS,
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
  latchkey_rate_limited_total: RATE_LIMITED,
  latchkey_activity_pending: gauge('Sessions whose last activity has not been written yet.', []),
  latchkey_activity_flush_seconds: histogram('Duration of writing collected activity.', [], FLUSH_BUCKETS),
  latchkey_activity_dropped_total: counter('Activity updates dropped because the buffer was full.', []),
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
  latchkey_oauth2_introspections_total: counter(
    'Introspection requests, by token type.',
    ['kind', 'result'],
    {
      kind: ['access_token', 'refresh_token', 'unknown'],
      result: ['active', 'inactive', 'refused', 'error'],
    },
    // Reported as `oauth2_access_token`, `compat_refresh_token` and so on.
    { coarse: { kind: (kind) => /(?:access|refresh)_token$/.exec(kind)?.[0] ?? kind } },
  ),
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

type AllMetrics = typeof METRICS;

declare module '#platform/base/metric-table.ts' {
  interface MetricTable extends AllMetrics {}
}
