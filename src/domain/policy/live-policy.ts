/**
 * The policy data in force: that of the configuration, and what an administrator stored last in the table
 * `policy_data` (operations 4.11). It changes while the service runs, so nobody keeps a copy: ask for it when it is
 * needed.
 */
import { type AddedPolicyData, addPolicyData } from '#config/policy-data.ts';
import type { PolicyData } from '#config/sections/policy.ts';
import { type ClientId, fromUuid, type Ulid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

export interface LivePolicyDeps {
  readonly configured: PolicyData;
  readonly database: Queryable;
  readonly log: Log;
}

/** Other processes store data, too. Nothing depends on `LISTEN`, which transaction poolers do not carry. */
const INTERVAL_MS = 1000;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/** Primary key, backwards; the newest first. */
const findNewerData = statement<{ id: string; data: unknown }, { readonly known: string }>(
  'newer-policy-data',
  'select id, data from policy_data where id > :known::uuid order by id desc limit 10',
);

export class LivePolicy {
  readonly #deps: LivePolicyDeps;
  #inForce: ReturnType<typeof prepare>;
  /** The newest row that was looked at; those before it are not asked for again. */
  #known = LOWEST;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;

  /** User names that may ask for admin scopes, in addition to accounts that have the right. */
  readonly adminUsers: Pick<ReadonlySet<string>, 'has'> = { has: (name) => this.#inForce.adminUsers.has(name) };
  /** Clients that may administer this service themselves. */
  readonly adminClients: Pick<ReadonlySet<ClientId>, 'has'> = { has: (id) => this.#inForce.adminClients.has(id) };

  constructor(deps: LivePolicyDeps) {
    this.#deps = deps;
    this.#inForce = prepare(deps.configured);
  }

  get data(): PolicyData {
    return this.#inForce.data;
  }

  /** What would be in force with this data in place of what was stored before; it changes nothing. */
  judge(added: unknown): AddedPolicyData {
    return addPolicyData(this.#deps.configured, added);
  }

  /** The data that was stored last, as it would come into force; undefined: there is none. It changes nothing. */
  async judgeStored(): Promise<{ readonly id: Ulid<'policy-data'>; readonly judged: AddedPolicyData } | undefined> {
    const newest = await this.#deps.database.first(findNewerData, { known: LOWEST });
    return newest && { id: fromUuid(newest.id), judged: this.judge(newest.data) };
  }

  /** Puts stored data into force, unless newer data is. @param id of its row */
  adopt(id: string, data: PolicyData): void {
    if (id <= this.#known) return;
    this.#known = id;
    this.#inForce = prepare(data);
  }

  /** Looks for newer data, by one statement. Data that cannot be used is logged once, and what was before stays. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  /** Begins to look once a second. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#tryToRefresh(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #refresh(): Promise<void> {
    const rows = await this.#deps.database.rows(findNewerData, { known: this.#known });
    for (const { id, data } of rows) {
      const judged = this.judge(data);
      if (judged.ok) {
        this.adopt(id, judged.data);
        break;
      }
      this.#deps.log.error('policy.invalid', 'stored policy data cannot be used; what was in force before stays', {
        policy_data: fromUuid(id),
        path: judged.path.join('.'),
        reason: judged.problem,
      });
    }
    const newest = rows[0]?.id;
    if (newest !== undefined && newest > this.#known) this.#known = newest;
  }

  async #tryToRefresh(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#deps.log.debug('policy.unread', 'policy data could not be read', { reason: describeError(error).message });
    }
  }
}

function prepare(data: PolicyData) {
  return { data, adminUsers: new Set(data.adminUsers), adminClients: new Set(data.adminClients) };
}
