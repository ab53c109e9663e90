import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** Above this, the planner's estimate is good enough. Counting would take time proportional to the table size. */
const MAX_COUNTED = 100_000;

interface Kind {
  readonly kind: 'browser' | 'compat' | 'oauth2' | 'personal';
  readonly table: string;
  /** The condition of the partial index `index`, which contains only live sessions. */
  readonly isLive: string;
  readonly index: string;
}

const KINDS: readonly Kind[] = [
  {
    kind: 'browser',
    table: 'user_sessions',
    isLive: browserSessionIsLive('s'),
    index: 'user_sessions_live_of_user',
  },
  {
    kind: 'compat',
    table: 'compat_sessions',
    isLive: compatSessionIsLive('s'),
    index: 'compat_sessions_live_of_user',
  },
  {
    // Sessions of users only. An application's own session is as old as the application.
    kind: 'oauth2',
    table: 'oauth2_sessions',
    isLive: `${oauthSessionIsLive('s')} and s.user_id is not null and s.created_at < 'infinity'`,
    index: 'oauth2_sessions_live_of_user',
  },
  {
    // Only administrators create these sessions, so there are few.
    kind: 'personal',
    table: 'personal_sessions',
    isLive: personalSessionIsLive('s'),
    index: 'personal_sessions_actor',
  },
];

const countLive = statement<{ kind: Kind['kind']; counted: number; estimated: number }, { readonly limit: number }>(
  'count-live-sessions',
  KINDS.map(
    ({ kind, table, isLive, index }) => `select '${kind}' as kind,
      (select count(*) from (select from ${table} s where ${isLive} limit :limit::integer) as live)::float8 as counted,
      coalesce((select reltuples from pg_class where oid = to_regclass('${index}')), 0)::float8 as estimated`,
  ).join('\nunion all '),
);

/** Counts the sessions that have not ended. Numbers above 100,000 are estimates. */
export async function countLiveSessions(
  database: Queryable,
): Promise<readonly { readonly kind: Kind['kind']; readonly count: number }[]> {
  const rows = await database.rows(countLive, { limit: MAX_COUNTED + 1 });
  return rows.map(({ kind, counted, estimated }) => ({
    kind,
    count: counted <= MAX_COUNTED ? counted : Math.max(counted, estimated),
  }));
}
