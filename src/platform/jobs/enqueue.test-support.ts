import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { INSERT_JOB, ON_WAITING_JOB, queuedBy } from './queue.ts';

const insertJob = statement<
  never,
  {
    readonly id: string;
    readonly queue: string;
    readonly payload: string;
    readonly dedupKey: string | null;
    readonly queuedBy: string | null;
    readonly now: Date;
    readonly dueAt: Date;
  }
>(
  'test-insert-job',
  `${INSERT_JOB}
   values (:id::uuid, :queue::text, :payload::jsonb, :dedupKey::text, :queuedBy::text, :now::timestamptz,
     :dueAt::timestamptz)
   ${ON_WAITING_JOB}`,
);

export interface NewJob {
  readonly queue: string;
  /** Ids and small values, never secrets. */
  readonly payload: object;
  /** A queue has at most one waiting job per key. */
  readonly dedupKey?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds since the epoch. Defaults to `now`. */
  readonly dueAt?: number;
}

/** Inserts a job. Pass the transaction of the change that needs it. */
export async function enqueueJob(queryable: Queryable, job: NewJob): Promise<void> {
  const { queue, payload, dedupKey, now, dueAt } = job;
  await queryable.execute(insertJob, {
    id: toUuid(newId(now)),
    queue,
    payload: JSON.stringify(payload),
    dedupKey: dedupKey ?? null,
    queuedBy: queuedBy(),
    now: new Date(now),
    dueAt: new Date(dueAt ?? now),
  });
}
