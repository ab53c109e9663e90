import {
  deleteOldestSql,
  type Sweep,
  secondsBefore,
  sweepAll,
  sweepSome,
  type WalkRow,
  walkSql,
} from '#domain/clean-up/sweep.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Authorizations that led to a browser session are deleted with it, because sign-out by the provider must find it. */
const sweepAuthorizations = statement<
  WalkRow,
  { readonly fromAt: string; readonly fromId: string; readonly createdBefore: Date }
>(
  'sweep-upstream-authorizations',
  walkSql({
    table: 'upstream_authorizations',
    range:
      '(t.created_at, t.id) > (:fromAt::timestamptz, :fromId::uuid) and t.created_at < :createdBefore::timestamptz',
    orderedBy: 'created_at',
    isDue: 't.user_session_id is null',
    action: 'delete from upstream_authorizations t',
  }),
);

/** Links of users who signed in at a provider and never got an account here. */
const sweepUnownedLinks = statement<never, { readonly createdBefore: Date }>(
  'sweep-upstream-links',
  deleteOldestSql(
    'upstream_links',
    'id',
    'created_at',
    't.user_id is null and t.created_at < :createdBefore::timestamptz',
  ),
);

export const upstreamSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-upstream-authorizations',
    minute: 40,
    sweep: (database, now, { upstreamSessionsSeconds }, from) =>
      sweepSome(database, sweepAuthorizations, {
        fromAt: from.at,
        fromId: from.id,
        createdBefore: secondsBefore(now, upstreamSessionsSeconds),
      }),
  },
  {
    name: 'cleanup-upstream-links',
    minute: 42,
    sweep: (database, now, { pendingFlowsSeconds }) =>
      sweepAll(database, sweepUnownedLinks, { createdBefore: secondsBefore(now, pendingFlowsSeconds) }),
  },
];
