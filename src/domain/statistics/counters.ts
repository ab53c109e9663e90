/**
 * Statistics for administrators (administration 6), tables `statistics_buckets`, `statistics_counters`,
 * `statistics_progress` and `user_active_days`. Requests count in memory; `ActivityBuffer` writes the counts once a
 * minute. A job adds up events and counts (`roll-up.ts`). Pages read only the sums.
 */
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** What leaves no audit event. `unknown_account_failures`: wrong sign-ins with a name that no account has. */
export type CounterName = 'tokens_issued' | 'unknown_account_failures';

/** Stands for all clients together, or for no client. */
export const NO_CLIENT = '00000000-0000-0000-0000-000000000000';

export const HOUR_MS = 3_600_000;
/** While the database is unreachable, further counters are dropped. One is kept for each name, client and hour. */
const MAX_COUNTERS = 100_000;
/** Rows per statement. */
const BATCH_ROWS = 1_000;

interface Count {
  readonly hour: number;
  readonly name: CounterName;
  readonly client: string;
  value: number;
}

/** Counts in memory. A crash loses at most what was counted since the last `flush`. */
export class Counters {
  readonly #counts = new Map<string, Count>();

  /**
   * @param client undefined if the event has no client
   * @param at milliseconds since the epoch
   */
  count(name: CounterName, client: Ulid<'client'> | undefined, at: number): void {
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
    this.#add({ hour, name, client: client === undefined ? NO_CLIENT : toUuid(client), value: 1 });
  }

  /** Adds the counts to the table. If a statement fails, throws and keeps what is not written. */
  async flush(queryable: Queryable): Promise<void> {
    // In the order of the primary key, so that batches of several instances cannot deadlock.
    const counts = [...this.#counts.values()].toSorted(
      (a, b) => a.hour - b.hour || compared(a.name, b.name) || compared(a.client, b.client),
    );
    this.#counts.clear();
    for (let start = 0; start < counts.length; start += BATCH_ROWS) {
      const batch = counts.slice(start, start + BATCH_ROWS);
      try {
        await queryable.execute(addCounts, {
          hours: batch.map(({ hour }) => new Date(hour)),
          names: batch.map(({ name }) => name),
          clients: batch.map(({ client }) => client),
          values: batch.map(({ value }) => value),
        });
      } catch (error) {
        for (const count of counts.slice(start)) this.#add(count);
        throw error;
      }
    }
  }

  #add(count: Count): void {
    const key = `${count.name} ${count.client} ${count.hour}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.value += count.value;
    else if (this.#counts.size < MAX_COUNTERS) this.#counts.set(key, count);
  }
}

function compared(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const addCounts = statement<
  never,
  {
    readonly hours: readonly Date[];
    readonly names: readonly string[];
    readonly clients: readonly string[];
    readonly values: readonly number[];
  }
>(
  'add-statistics-counts',
  `insert into statistics_counters as c (hour, name, client_id, value)
   select given.hour, given.name, given.client_id, given.value
     from unnest(:hours::timestamptz[], :names::text[], :clients::uuid[], :values::bigint[])
       as given (hour, name, client_id, value)
   on conflict (hour, name, client_id) do update set value = c.value + excluded.value`,
);
