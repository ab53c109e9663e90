import { type ClientKind, clientKindSql } from '#domain/clients/client.ts';
import { accountIsDeactivated, accountIsLocked } from '#domain/records/liveness/accounts.ts';
import { readFigures } from '#domain/statistics/read-figures.ts';
import { wholeSteps } from '#domain/statistics/read-series.ts';
import { countJobs } from '#platform/jobs/count-jobs.ts';
import type { Database } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { countLiveSessions } from './count-live-sessions.ts';

export interface Overview {
  /** When the numbers were read, in milliseconds since the epoch. */
  readonly at: number;
  readonly users: { readonly active: number; readonly locked: number; readonly deactivated: number };
  /** Numbers above 100,000 are estimates. */
  readonly sessions: Readonly<Record<Awaited<ReturnType<typeof countLiveSessions>>[number]['kind'], number>>;
  readonly clients: Readonly<Record<Exclude<ClientKind, 'builtin'>, number>>;
  /** At most 10,000 each. */
  readonly jobs: { readonly due: number; readonly dead: number };
  /** Accounts that were active today, and within the 7 and 30 days that end today (UTC). */
  readonly activeUsers: { readonly today: number; readonly week: number; readonly month: number };
  /** Until when the figures of active users and the series are complete; undefined: there are none yet. */
  readonly figuresUntil: number | undefined;
}

/** Counting reads whole tables, so a page that is reloaded, or shown to several administrators, gets the same numbers. */
const KEPT_MS = 10_000;

const recent = new WeakMap<Database, { readonly at: number; readonly overview: Promise<Overview> }>();

/** Counts what exists now. Takes five statements, at most once every ten seconds in each process. */
export async function readOverview(database: Database, now: number): Promise<Overview> {
  const known = recent.get(database);
  if (known !== undefined && Math.abs(now - known.at) < KEPT_MS) return await known.overview;
  const overview = count(database, now);
  recent.set(database, { at: now, overview });
  try {
    return await overview;
  } catch (error) {
    recent.delete(database);
    throw error;
  }
}

async function count(database: Database, now: number): Promise<Overview> {
  const [users, sessions, clients, jobs, figures] = await Promise.all([
    database.first(countUsers, {}),
    countLiveSessions(database),
    database.rows(countClients, {}),
    countJobs(database, now),
    readFigures(database, wholeSteps('day', now, now).since),
  ]);
  const sessionsOf = (kind: string): number => sessions.find((one) => one.kind === kind)?.count ?? 0;
  const clientsOf = (kind: ClientKind): number => clients.find((one) => one.kind === kind)?.count ?? 0;
  const { until, today, week, month } = figures;
  return {
    at: now,
    users: users ?? { active: 0, locked: 0, deactivated: 0 },
    sessions: {
      browser: sessionsOf('browser'),
      oauth2: sessionsOf('oauth2'),
      compat: sessionsOf('compat'),
      personal: sessionsOf('personal'),
    },
    clients: { static: clientsOf('static'), managed: clientsOf('managed'), dynamic: clientsOf('dynamic') },
    jobs,
    activeUsers: { today, week, month },
    figuresUntil: until,
  };
}

/** As the filter `status` of the list of users does: an account that is locked and deactivated counts for both. */
const countUsers = statement<Overview['users'], NoParameters>(
  'count-users-by-status',
  `select count(*) filter (where not (${accountIsLocked('u')}) and not (${accountIsDeactivated('u')}))::float8 as active,
          count(*) filter (where ${accountIsLocked('u')})::float8 as locked,
          count(*) filter (where ${accountIsDeactivated('u')})::float8 as deactivated
     from users u`,
);

const countClients = statement<{ kind: ClientKind; count: number }, NoParameters>(
  'count-clients-by-kind',
  `select ${clientKindSql('c')} as kind, count(*)::float8 as count from oauth2_clients c group by 1`,
);
