import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';

/** How long an expired reference can still be distinguished from an unknown one. */
const PUSHED_REQUEST_RETENTION_SECONDS = 300;

export const authorizationGrantSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-oauth2-authorization-grants',
    minute: 30,
    batch: deleteOldest('sweep-oauth2-authorization-grants', {
      table: 'oauth2_authorization_grants',
      orderedBy: 'created_at',
      isDue: 't.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({ createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-device-code-grants',
    minute: 32,
    batch: deleteOldest('sweep-oauth2-device-code-grants', {
      table: 'oauth2_device_code_grants',
      orderedBy: 'created_at',
      isDue: 't.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({ createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
  {
    name: 'cleanup-oauth2-pushed-requests',
    minute: 34,
    batch: deleteOldest('sweep-oauth2-pushed-requests', {
      table: 'oauth2_pushed_requests',
      key: 'request_uri_hash',
      orderedBy: 'expires_at',
      isDue: 't.expires_at < :expiredBefore::timestamptz',
    }),
    parameters: (now) => ({ expiredBefore: secondsBefore(now, PUSHED_REQUEST_RETENTION_SECONDS) }),
  },
];
