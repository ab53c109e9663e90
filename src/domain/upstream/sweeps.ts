import { deleteOldest, type SweepRow, secondsBefore, walkTable } from '#domain/clean-up/sweep.ts';

export const upstreamSweeps: readonly SweepRow[] = [
  {
    // An authorization that led to a browser session is deleted with it, because sign-out by the provider must find it.
    name: 'cleanup-upstream-authorizations',
    minute: 40,
    batch: walkTable('sweep-upstream-authorizations', {
      table: 'upstream_authorizations',
      orderedBy: 'created_at',
      within: 't.created_at < :createdBefore::timestamptz',
      isDue: 't.user_session_id is null',
      action: 'delete from upstream_authorizations t',
    }),
    parameters: (now, { upstreamSessionsSeconds }) => ({ createdBefore: secondsBefore(now, upstreamSessionsSeconds) }),
  },
  {
    // Links of users who signed in at a provider and never got an account here.
    name: 'cleanup-upstream-links',
    minute: 42,
    batch: deleteOldest('sweep-upstream-links', {
      table: 'upstream_links',
      orderedBy: 'created_at',
      isDue: 't.user_id is null and t.created_at < :createdBefore::timestamptz',
    }),
    parameters: (now, { pendingFlowsSeconds }) => ({ createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
];
