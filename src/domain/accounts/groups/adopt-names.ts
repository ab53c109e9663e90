/**
 * Creates records of groups that only accounts and identities list: from before groups had records, from an older
 * version that still runs, and from sign-in providers. Also notes which groups a provider reports.
 */

import type { Clock } from '#platform/base/clock.ts';
import { DONE, type JobOutcome, type JobQueue } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { newIdSql, type Statement, statement } from '#platform/postgres/statement.ts';
import { isReportedByProvider } from './lock-group.ts';
import { rewriteGroupNames } from './rewrite-names.ts';

export interface AdoptDeps {
  readonly database: Queryable;
  readonly clock: Pick<Clock, 'now'>;
}

const EVERY_MINUTES = 15;
const TIME_LIMIT_SECONDS = 600;
const BATCH_ROWS = 1000;
const START = '00000000-0000-0000-0000-000000000000';

export function adoptGroupNamesQueue(deps: AdoptDeps): JobQueue {
  return {
    name: 'adopt-group-names',
    minuteOfHour: 4,
    everyMinutes: EVERY_MINUTES,
    isDueAtFirstStart: true,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: ({ payload, signal }) => adoptNames(deps, positionOf(payload), signal),
  };
}

type StepName = 'users' | 'links' | 'external';

/** Where a run continues. */
interface Position {
  readonly step: StepName;
  readonly after: string;
}

async function adoptNames(
  { database, clock }: AdoptDeps,
  start: Position | undefined,
  signal: AbortSignal,
): Promise<JobOutcome> {
  // Normally done by its own job, unless that failed.
  if (start === undefined) await rewriteGroupNames({ database }, signal);
  let step: StepName | undefined = start?.step ?? 'users';
  let after = start?.after ?? START;
  while (step !== undefined) {
    if (signal.aborted) return { kind: 'unfinished', payload: { step, after } satisfies Position };
    const { walk, next }: Step = STEPS[step];
    const row = await database.first(walk, { after, now: new Date(clock.now()) });
    if (row === undefined) step = next;
    after = row?.last ?? START;
  }
  return DONE;
}

function positionOf(payload: unknown): Position | undefined {
  if (typeof payload !== 'object' || payload === null || !('step' in payload) || !('after' in payload))
    return undefined;
  const { step, after } = payload;
  return isStep(step) && typeof after === 'string' ? { step, after } : undefined;
}

function isStep(step: unknown): step is StepName {
  return typeof step === 'string' && Object.hasOwn(STEPS, step);
}

/** Returns the last row of a full batch. */
type Walk = Statement<{ last: string }, { readonly after: string; readonly now: Date }>;

/** Walks a table by primary key and creates missing records of the names in its column `groups`. */
function adoptFrom(table: 'users' | 'upstream_links'): Walk {
  return statement(
    `adopt-group-names-of-${table.replace('_', '-')}`,
    `with walked as materialized (
       select t.id, t.groups from ${table} t where t.id > :after::uuid order by t.id limit ${BATCH_ROWS}
     ), listed as (
       select distinct unnest(walked.groups) as name from walked where walked.groups is not null
     ), adopted as (
       insert into user_groups (id, name, created_at)
       select ${newIdSql(':now::timestamptz')}, listed.name, :now::timestamptz
         from listed
        where not exists (select from user_groups g where g.name = listed.name)
          and not exists (select from user_groups renamed where renamed.former_name = listed.name)
        order by listed.name
       on conflict (name) do nothing
     )
     select walked.id as last from walked order by walked.id offset ${BATCH_ROWS - 1} limit 1`,
  );
}

const markExternal: Walk = statement(
  'mark-external-groups',
  `with walked as materialized (
     select g.id, g.is_external, ${isReportedByProvider('g.name')} as is_reported
       from user_groups g where g.id > :after::uuid order by g.id limit ${BATCH_ROWS}
   ), marked as (
     update user_groups g set is_external = walked.is_reported
       from walked
      where g.id = walked.id and g.is_external <> walked.is_reported
   )
   select walked.id as last from walked order by walked.id offset ${BATCH_ROWS - 1} limit 1`,
);

interface Step {
  readonly walk: Walk;
  readonly next?: StepName;
}

const STEPS: Readonly<Record<StepName, Step>> = {
  users: { walk: adoptFrom('users'), next: 'links' },
  links: { walk: adoptFrom('upstream_links'), next: 'external' },
  external: { walk: markExternal },
};
