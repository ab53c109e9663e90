/**
 * Table `homeserver_leases`: only one process at a time updates a user at the homeserver, so that the last call carries
 * the latest data (chat-compat 11.7). A sign-in holds the lease from before it registers its device until its session
 * is stored. A job holds it while it reads and calls. No transaction is open during the call.
 *
 * A process that takes the lease of a dead owner must queue a device sync, because the homeserver may have a device
 * without a session.
 */
import { randomUUID } from 'node:crypto';
import { BATCH_ROWS, deleteOldestSql, START, type Sweep } from '#domain/clean-up/sweep.ts';
import { leaseIsOver, leaseIsPast } from '#domain/records/liveness/homeserver.ts';
import type { Clock } from '#platform/base/clock.ts';
import { currentTask, evenWhenOver, resumeTask } from '#platform/base/tasks.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { insertDeviceSyncs } from './device-sync-jobs.ts';

const LEASE_SECONDS = 60;
/** A third of the lease, so that two renewals may fail. */
const RENEW_MS = 20_000;

export type TakeLeaseParams = {
  /** As a UUID. */
  readonly userId: string;
  readonly owner: string;
  readonly until: Date;
  readonly now: Date;
  readonly queuedBy: string | null;
};

/**
 * CTEs that take the lease. `leased(user_id)` is empty while another process has it. A lease that a concurrent
 * statement is releasing counts as held: a statement that waited for it would not see what its holder has written.
 */
export const TAKE_LEASE_CTES = `abandoned as materialized (
    select lease.user_id from homeserver_leases lease
     where lease.user_id = :userId::uuid and ${leaseIsOver('lease', ':now::timestamptz')}
  ), leased as (
    insert into homeserver_leases as lease (user_id, owner, expires_at)
    select id, :owner::uuid, :until::timestamptz from users
     where id = :userId::uuid
       and not exists (select from homeserver_leases held
                        where held.user_id = users.id and not ${leaseIsOver('held', ':now::timestamptz')})
    on conflict (user_id) do update set owner = excluded.owner, expires_at = excluded.expires_at
     where ${leaseIsOver('lease', ':now::timestamptz')}
    returning user_id
  ), owed as (
    ${insertDeviceSyncs('select user_id from abandoned where exists (select from leased)', ':now::timestamptz')}
  )`;

/**
 * Returns the CTE `fenced` for the statement that writes under the lease. It has a row if the lease was held, which it
 * also releases, or if `:leaseOwner` is null because no lease is needed.
 * @param user parameter of the user's ID
 * @param after CTE that the write depends on; if it is empty, the lease is kept
 */
export function giveBackLeaseCtes(user: string, after: string): string {
  return `given_back as (
    delete from homeserver_leases
     where user_id = ${user} and owner = :leaseOwner::uuid and exists (select from ${after})
    returning user_id
  ), fenced as materialized (
    select 1 as held from given_back union all select 1 from ${after} where :leaseOwner::uuid is null
  )`;
}

const takeLease = statement<{ user_id: string }, TakeLeaseParams>(
  'take-homeserver-lease',
  `with ${TAKE_LEASE_CTES} select user_id from leased`,
);

interface OwnLease {
  readonly userId: string;
  readonly owner: string;
}

const renewLease = statement<never, OwnLease & { readonly until: Date }>(
  'renew-homeserver-lease',
  `update homeserver_leases set expires_at = :until::timestamptz
    where user_id = :userId::uuid and owner = :owner::uuid`,
);

const releaseLease = statement<never, OwnLease>(
  'release-homeserver-lease',
  'delete from homeserver_leases where user_id = :userId::uuid and owner = :owner::uuid',
);

const releaseLeaseOwing = statement<never, OwnLease & { readonly now: Date; readonly queuedBy: string | null }>(
  'release-homeserver-lease-owing',
  `with released as (
    delete from homeserver_leases where user_id = :userId::uuid and owner = :owner::uuid
  )
  ${insertDeviceSyncs('select :userId::uuid as user_id', ':now::timestamptz')}`,
);

export interface LeaseDeps {
  readonly database: Queryable;
  readonly clock: Clock;
}

/** A lease that is renewed until it is released. */
export class HeldLease {
  readonly owner: string;
  /** Aborted when another process has or may have the lease. */
  readonly signal: AbortSignal;
  readonly #deps: LeaseDeps;
  readonly #userId: string;
  readonly #lost = new AbortController();
  readonly #renewal: NodeJS.Timeout;
  #endsAt: number;
  #isOver = false;

  /** @param endsAt when the lease expires, in milliseconds since the epoch */
  constructor(deps: LeaseDeps, { userId, owner }: OwnLease, endsAt: number) {
    this.#deps = deps;
    this.#userId = userId;
    this.#endsAt = endsAt;
    this.owner = owner;
    this.signal = this.#lost.signal;
    const task = currentTask();
    this.#renewal = setInterval(() => {
      resumeTask(undefined, () => {
        void this.#renew().then((isKept) => {
          if (!isKept) resumeTask(task, () => this.#lost.abort(new Error('the lease was lost to another process')));
        });
      });
    }, RENEW_MS).unref();
  }

  /** Marks the lease as released by a statement of the caller. */
  end(): void {
    clearInterval(this.#renewal);
    this.#isOver = true;
  }

  /** Releases the lease, unless that has already happened. */
  async release(): Promise<void> {
    if (this.#isOver) return;
    this.end();
    const params = { userId: this.#userId, owner: this.owner };
    await evenWhenOver(() => this.#deps.database.execute(releaseLease, params));
  }

  /** Releases the lease and queues a sync, because the homeserver may know a device without a session. */
  async releaseOwing(): Promise<void> {
    this.end();
    const params = {
      userId: this.#userId,
      owner: this.owner,
      now: new Date(this.#deps.clock.now()),
      queuedBy: queuedBy(),
    };
    await evenWhenOver(() => this.#deps.database.execute(releaseLeaseOwing, params));
  }

  async #renew(): Promise<boolean> {
    const { clock, database } = this.#deps;
    const until = clock.now() + LEASE_SECONDS * 1000;
    try {
      const kept = await database.execute(renewLease, {
        userId: this.#userId,
        owner: this.owner,
        until: new Date(until),
      });
      if (kept > 0) this.#endsAt = until;
      return kept > 0 || this.#isOver;
    } catch {
      // The next renewal may succeed. If the lease is lost, the database reports that.
      return clock.now() < this.#endsAt;
    }
  }
}

/**
 * Takes the lease of a user.
 * @param take runs a statement with `TAKE_LEASE_CTES`, which returns no row while another process has the lease
 * @returns undefined if another process has the lease or the user does not exist; otherwise always release it
 */
export async function takeUserLease<Row>(
  deps: LeaseDeps,
  userId: string,
  take: (params: TakeLeaseParams) => Promise<Row | undefined>,
): Promise<{ readonly lease: HeldLease; readonly row: Row } | undefined> {
  const now = deps.clock.now();
  const endsAt = now + LEASE_SECONDS * 1000;
  const own = { userId, owner: randomUUID() };
  const row = await take({ ...own, until: new Date(endsAt), now: new Date(now), queuedBy: queuedBy() });
  return row === undefined ? undefined : { lease: new HeldLease(deps, own, endsAt), row };
}

/**
 * Runs work under the lease of a user.
 * @param userId as a UUID
 * @param work its signal is aborted with the given one, or when another process takes the lease
 * @returns undefined if the work did not run: another process has the lease, or the user does not exist
 */
export async function withUserLease<Value>(
  deps: LeaseDeps,
  userId: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<{ readonly value: Value } | undefined> {
  const taken = await takeUserLease(deps, userId, (params) => deps.database.first(takeLease, params));
  if (taken === undefined) return undefined;
  try {
    return { value: await work(AbortSignal.any([signal, taken.lease.signal])) };
  } finally {
    await taken.lease.release();
  }
}

const sweepLeases = statement<{ count: number }, { readonly now: Date; readonly queuedBy: string | null }>(
  'sweep-homeserver-leases',
  `with removed as (
    ${deleteOldestSql({
      table: 'homeserver_leases',
      key: 'user_id',
      orderedBy: 'expires_at',
      isDue: leaseIsPast('t', ':now::timestamptz'),
    })}
    returning d.user_id
  ), owed as (
    ${insertDeviceSyncs('select user_id from removed', ':now::timestamptz')}
  )
  select count(*)::integer as count from removed`,
);

export const leaseSweep: Sweep = {
  name: 'cleanup-homeserver-leases',
  minute: 3,
  everyMinutes: 5,
  sweep: async (database, now) => {
    const row = await database.first(sweepLeases, { now: new Date(now), queuedBy: queuedBy() });
    const rows = row?.count ?? 0;
    return { rows, next: rows < BATCH_ROWS ? undefined : START };
  },
};
