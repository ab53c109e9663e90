/**
 * Re-encrypts values stored under a former root key with the current one. The work is a job that continues where it
 * stopped, in any process (operations 3.12, 6.3). When no values are left, the database forgets the former keys, so
 * that the server can start without them.
 */

import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { DONE, INSERT_JOB, type Job, type JobOutcome, type JobQueue, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { processesThatLack } from './root-keys-in-use.ts';
import { BATCH_ROWS, SEALED_FIELDS, type SealedField } from './sealed-fields.ts';
import { findKeyChecks, forgetFormerKeys, rootKeyChecks } from './server-state.ts';

export const REENCRYPT_QUEUE = 'reencrypt-fields';

export interface ReencryptDeps {
  readonly database: Queryable;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the totals in the process that completes the work. */
  readonly onFinished?: (progress: ReencryptionProgress) => void;
}

/** After this many batches, the progress is stored and other due jobs get their turn. */
const BATCHES_A_RUN = 20;
const TIME_LIMIT_SECONDS = 600;
const WAIT_SECONDS = 10;

/** Progress of the work, stored as the payload of its job. */
export interface ReencryptionProgress {
  /** The next field; undefined for the first. */
  readonly field: string | undefined;
  readonly after: string | undefined;
  /** Number of values examined, re-encrypted, and not readable with any key. */
  readonly examined: number;
  readonly resealed: number;
  readonly unreadable: number;
}

export function reencryptFieldsQueue(deps: ReencryptDeps): JobQueue {
  return { name: REENCRYPT_QUEUE, timeLimitSeconds: TIME_LIMIT_SECONDS, run: (job) => reencrypt(deps, job) };
}

/** A single row for all processes, so that the work never runs twice concurrently. */
const JOB_ID = '7265656e-6372-4970-8000-7466696c6473';

/** Leaves a waiting or running job unchanged and restarts a failed one. */
const insertJob = statement<
  never,
  { readonly id: string; readonly queue: string; readonly queuedBy: string | null; readonly now: Date }
>(
  'queue-reencryption',
  `${INSERT_JOB}
   values (:id::uuid, :queue::text, '{}', null, :queuedBy::text, :now::timestamptz, :now::timestamptz)
   on conflict (id) do update
     set payload = excluded.payload, created_at = excluded.created_at, due_at = excluded.due_at,
       attempt = 0, worker = null, failed_at = null, failed_reason = null
     where queue_jobs.failed_at is not null`,
);

/** Queues the job, unless it is already waiting or running. */
export async function queueReencryption({ database, clock }: Pick<ReencryptDeps, 'clock' | 'database'>): Promise<void> {
  const now = new Date(clock.now());
  await database.execute(insertJob, { id: JOB_ID, queue: REENCRYPT_QUEUE, queuedBy: queuedBy(), now });
}

async function reencrypt(deps: ReencryptDeps, { payload, signal }: Job): Promise<JobOutcome> {
  const { clock, database, keyRing, log } = deps;
  const needed = await findKeyChecks(database);
  // A process that encrypts with a former key could add values that this job has already passed.
  const others = await processesThatLack(database, rootKeyChecks(keyRing)[0], 'sealing', clock.now());
  if (others.length > 0) {
    return {
      kind: 'postponed',
      reason: `processes with a different root key: ${others.join(' ')}`,
      afterSeconds: WAIT_SECONDS,
    };
  }
  let progress = parseProgress(payload);
  for (let batches = 0; batches < BATCHES_A_RUN && !signal.aborted; batches += 1) {
    const field = fieldOf(progress);
    if (field === undefined) return await finish(deps, needed, progress);
    progress = await resealBatch(deps, field, progress);
  }
  const { examined, resealed } = progress;
  log.info('keys.reencrypting', 're-encrypting stored values with the current root key', { examined, resealed });
  return { kind: 'unfinished', payload: progress };
}

async function finish(deps: ReencryptDeps, needed: Buffer, progress: ReencryptionProgress): Promise<JobOutcome> {
  const { database, keyRing, log } = deps;
  const { examined, resealed, unreadable } = progress;
  if (unreadable > 0)
    log.warn('keys.unreadable', 'stored values cannot be decrypted with any configured root key', { unreadable });
  // Starts over if another key was added since, because the job may have passed values under that key.
  if (!(await forgetFormerKeys(database, keyRing, needed))) return { kind: 'unfinished', payload: {} };
  deps.onFinished?.(progress);
  log.info('keys.reencrypted', 'stored values re-encrypted with the current root key', { examined, resealed });
  return DONE;
}

async function resealBatch(
  { database, keyRing }: ReencryptDeps,
  field: SealedField,
  { after = field.start, ...progress }: ReencryptionProgress,
): Promise<ReencryptionProgress> {
  const rows = await database.rows(field.read, { after });
  const judged = rows.map((row) => ({
    ...row,
    value: keyRing.reseal('column', row.sealed, field.associatedData(row.key)),
  }));
  const changed = judged.flatMap(({ key, sealed, value }) =>
    typeof value === 'string' ? [] : [{ key, sealed, value }],
  );
  if (changed.length > 0) {
    await database.execute(field.write, {
      keys: changed.map(({ key }) => key),
      before: changed.map(({ sealed }) => sealed),
      sealed: changed.map(({ value }) => value),
    });
  }
  const isLast = rows.length < BATCH_ROWS;
  return {
    field: isLast ? (SEALED_FIELDS[SEALED_FIELDS.indexOf(field) + 1]?.name ?? END) : field.name,
    after: isLast ? undefined : rows.at(-1)?.key,
    examined: progress.examined + rows.length,
    resealed: progress.resealed + changed.length,
    unreadable: progress.unreadable + judged.filter(({ value }) => value === 'unreadable').length,
  };
}

const END = 'end';

/** Restarts from the first field if this version does not know the field. Re-encrypting is idempotent. */
function fieldOf({ field }: ReencryptionProgress): SealedField | undefined {
  if (field === END) return undefined;
  return SEALED_FIELDS.find(({ name }) => name === field) ?? SEALED_FIELDS[0];
}

export function parseProgress(payload: unknown): ReencryptionProgress {
  const members: Readonly<Record<string, unknown>> =
    typeof payload === 'object' && payload !== null ? Object.fromEntries(Object.entries(payload)) : {};
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  const { field, after, examined, resealed, unreadable } = members;
  return {
    ...{ field: text(field), after: text(after) },
    ...{ examined: count(examined), resealed: count(resealed), unreadable: count(unreadable) },
  };
}
