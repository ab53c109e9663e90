/** When each sweep is due, table `sweep_runs`: once an hour, however often processes start and stop. */
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { Sweep } from './sweep.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const schedule = statement<never, { readonly names: readonly string[]; readonly dueAt: readonly Date[] }>(
  'schedule-sweeps',
  `insert into sweep_runs (name, due_at)
  select run.name, run.due_at from unnest(:names::text[], :dueAt::timestamptz[]) as run (name, due_at) order by run.name
  on conflict (name) do nothing`,
);

const listDue = statement<{ name: string }, { readonly names: readonly string[]; readonly now: Date }>(
  'due-sweeps',
  'select name from sweep_runs where name = any (:names::text[]) and due_at <= :now::timestamptz',
);

const reschedule = statement<never, { readonly name: string; readonly dueAt: Date }>(
  'reschedule-sweep',
  'update sweep_runs set due_at = :dueAt::timestamptz where name = :name::text',
);

/** Sweeps that this database does not know yet become due at their next minute. */
export async function scheduleSweeps(database: Queryable, sweeps: readonly Sweep[], now: number): Promise<void> {
  await database.execute(schedule, {
    names: sweeps.map(({ name }) => name),
    dueAt: sweeps.map((sweep) => nextRun(sweep, now)),
  });
}

export async function listDueSweeps(
  database: Queryable,
  sweeps: readonly Sweep[],
  now: number,
): Promise<ReadonlySet<string>> {
  const rows = await database.rows(listDue, { names: sweeps.map(({ name }) => name), now: new Date(now) });
  return new Set(rows.map(({ name }) => name));
}

/** After a run that came to its end. */
export async function scheduleSweep(database: Queryable, sweep: Sweep, now: number): Promise<void> {
  await database.execute(reschedule, { name: sweep.name, dueAt: nextRun(sweep, now) });
}

function nextRun({ minute }: Sweep, now: number): Date {
  const thisHour = Math.floor(now / HOUR_MS) * HOUR_MS + minute * MINUTE_MS;
  return new Date(thisHour > now ? thisHour : thisHour + HOUR_MS);
}
