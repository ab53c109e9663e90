import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

const sweepGrants = statement<never, { readonly createdBefore: Date }>(
  'sweep-oauth2-authorization-grants',
  deleteOldestSql('oauth2_authorization_grants', 'id', 'created_at', 't.created_at < :createdBefore::timestamptz'),
);

const sweepDeviceCodeGrants = statement<never, { readonly createdBefore: Date }>(
  'sweep-oauth2-device-code-grants',
  deleteOldestSql('oauth2_device_code_grants', 'id', 'created_at', 't.created_at < :createdBefore::timestamptz'),
);

/** How long an expired reference can still be distinguished from an unknown one. */
const PUSHED_REQUEST_RETENTION_SECONDS = 300;

const sweepPushedRequests = statement<never, { readonly expiredBefore: Date }>(
  'sweep-oauth2-pushed-requests',
  deleteOldestSql(
    'oauth2_pushed_requests',
    'request_uri_hash',
    'expires_at',
    't.expires_at < :expiredBefore::timestamptz',
  ),
);

export const authorizationGrantSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-oauth2-authorization-grants',
    minute: 30,
    sweep: (database, now, { pendingFlowsSeconds }) =>
      sweepAll(database, sweepGrants, { createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-device-code-grants',
    minute: 32,
    sweep: (database, now, { pendingFlowsSeconds }) =>
      sweepAll(database, sweepDeviceCodeGrants, { createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-pushed-requests',
    minute: 34,
    sweep: (database, now) =>
      sweepAll(database, sweepPushedRequests, { expiredBefore: secondsBefore(now, PUSHED_REQUEST_RETENTION_SECONDS) }),
  },
];
