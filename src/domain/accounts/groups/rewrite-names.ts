/**
 * Replaces the name of a renamed group, and removes that of a deleted one, in the lists of its members. With many members
 * this is a job. Each batch is one statement, and repeating it changes nothing, so the job may stop anywhere and may run
 * in several processes.
 */
import { groupExists } from '#domain/records/liveness/groups.ts';
import { DONE, INSERT_JOB, type JobOutcome, type JobQueue, ON_WAITING_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { MAX_REWRITTEN_AT_ONCE } from './lock-group.ts';

export interface RewriteDeps {
  readonly database: Queryable;
}

const QUEUE = 'rewrite-group-names';
const TIME_LIMIT_SECONDS = 600;
const BATCH_MEMBERS = 500;
/** After this many batches, other due jobs get their turn. */
const BATCHES_A_RUN = 100;

export function rewriteGroupNamesQueue(deps: RewriteDeps): JobQueue {
  return {
    name: QUEUE,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: ({ signal }) => rewriteGroupNames(deps, signal),
  };
}

/** Expects the transaction of the change. */
export async function queueRewriting(transaction: Queryable, now: number): Promise<void> {
  await transaction.execute(insertJob, { queue: QUEUE, queuedBy: queuedBy(), now: new Date(now) });
}

/**
 * Rewrites the lists of the members of a group with few members. Expects a transaction in which the group is locked.
 * @param name current or former; @param newName undefined: remove it
 */
export async function rewriteAllLists(
  transaction: Queryable,
  name: string,
  newName: string | undefined,
): Promise<void> {
  await transaction.execute(rewriteLists, { name, newName: newName ?? null, limit: MAX_REWRITTEN_AT_ONCE });
}

export async function rewriteGroupNames({ database }: RewriteDeps, signal: AbortSignal): Promise<JobOutcome> {
  for (let batches = 0; batches < BATCHES_A_RUN && !signal.aborted; batches += 1) {
    const pending = await database.first(findPending, {});
    if (pending === undefined) return DONE;
    if (await hasMoreMembers(database, pending)) continue;
    await database.execute(pending.is_deleted ? finishDeletion : finishRename, { id: pending.id });
  }
  return { kind: 'unfinished', payload: {} };
}

/** Rewrites one batch. @returns whether members may be left */
async function hasMoreMembers(database: Queryable, { name, former_name, is_deleted }: PendingRow): Promise<boolean> {
  const obsolete = [...(is_deleted ? [name] : []), ...(former_name === null ? [] : [former_name])];
  for (const listed of obsolete) {
    const newName = is_deleted ? null : name;
    const rewritten = await database.execute(rewriteLists, { name: listed, newName, limit: BATCH_MEMBERS });
    if (rewritten === BATCH_MEMBERS) return true;
  }
  return false;
}

interface PendingRow {
  readonly id: string;
  readonly name: string;
  readonly former_name: string | null;
  readonly is_deleted: boolean;
}

const insertJob = statement<never, { readonly queue: string; readonly queuedBy: string | null; readonly now: Date }>(
  'queue-rewriting-of-group-names',
  `${INSERT_JOB}
   values (gen_random_uuid(), :queue::text, '{}', :queue::text, :queuedBy::text, :now::timestamptz, :now::timestamptz)
   ${ON_WAITING_JOB}`,
);

// Another process that rewrites the same lists waits, and then finds them rewritten.
const rewriteLists = statement<
  never,
  { readonly name: string; readonly newName: string | null; readonly limit: number }
>(
  'rewrite-group-name',
  `with listing as materialized (
     select u.id, u.groups from users u
      where u.groups is not null and u.groups @> array[:name::text]
      limit :limit::integer for no key update
   )
   update users u set groups = (
     select array_agg(kept.name order by kept.name collate "C") from (
       select unnest(array_remove(listing.groups, :name::text)) as name
       union select :newName::text where :newName::text is not null
     ) kept
   )
   from listing where u.id = listing.id`,
);

const findPending = statement<PendingRow, NoParameters>(
  'find-group-to-rewrite',
  `select g.id, g.name, g.former_name, g.deleted_at is not null as is_deleted
     from user_groups g where g.former_name is not null or not (${groupExists('g')}) order by g.id limit 1`,
);

const finishRename = statement<never, { readonly id: string }>(
  'finish-group-rename',
  `update user_groups g set former_name = null
    where g.id = :id::uuid and ${groupExists('g')}
      and not exists (select from users u where u.groups is not null and u.groups @> array[g.former_name])`,
);

const finishDeletion = statement<never, { readonly id: string }>(
  'finish-group-deletion',
  `delete from user_groups g
    where g.id = :id::uuid and not (${groupExists('g')})
      and not exists (select from users u where u.groups is not null and u.groups && array[g.name, g.former_name])`,
);
