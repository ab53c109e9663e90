/**
 * The current policy data: the configuration, combined with what an administrator last stored in the table
 * `policy_data` (operations 4.11). It changes at runtime, so read it when needed instead of keeping a copy.
 */
import { type AddedPolicyData, addPolicyData } from '#config/policy-data.ts';
import type { PolicyData } from '#config/sections/policy.ts';
import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';

export interface LivePolicyDeps {
  readonly configured: PolicyData;
  readonly database: Queryable;
  readonly log: Log;
}

/** Other processes store data too. Polling is used because transaction poolers do not support `LISTEN`. */
const INTERVAL_MS = 1000;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/** Reads the primary key backwards, newest first. */
const findNewerData = statement<{ id: string; data: unknown }, { readonly known: string }>(
  'newer-policy-data',
  'select id, data from policy_data where id > :known::uuid order by id desc limit 10',
);

export class LivePolicy {
  readonly #deps: LivePolicyDeps;
  #inForce: ReturnType<typeof prepare>;
  /** The newest row seen. Older rows are not read any more. */
  #known = LOWEST;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;

  /** Usernames that may request admin scopes, in addition to accounts with that right. */
  readonly adminUsers: Pick<ReadonlySet<string>, 'has'> = { has: (name) => this.#inForce.adminUsers.has(name) };
  /** Clients that may use admin scopes for themselves. */
  readonly adminClients: Pick<ReadonlySet<ClientId>, 'has'> = { has: (id) => this.#inForce.adminClients.has(id) };

  constructor(deps: LivePolicyDeps) {
    this.#deps = deps;
    this.#inForce = prepare(deps.configured);
  }

  get data(): PolicyData {
    return this.#inForce.data;
  }

  /** Returns what the policy data would be with this data instead of the stored data. Changes nothing. */
  judge(added: unknown): AddedPolicyData {
    return addPolicyData(this.#deps.configured, added);
  }

  /** Returns the last stored data as it would take effect; undefined if there is none. Changes nothing. */
  async judgeStored(): Promise<{ readonly id: Ulid<'policy-data'>; readonly judged: AddedPolicyData } | undefined> {
    const newest = await this.#deps.database.first(findNewerData, { known: LOWEST });
    return newest && { id: fromUuid(newest.id), judged: this.judge(newest.data) };
  }

  /**
   * Activates stored data, unless newer data is active.
   * @param id of its row
   */
  adopt(id: string, data: PolicyData): void {
    if (id <= this.#known) return;
    this.#known = id;
    this.#inForce = prepare(data);
  }

  /** Checks for newer data with one statement. Unusable data is logged once, and the previous data stays active. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  /** Starts to poll once a second. */
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
      this.#deps.log.error('policy.invalid', 'stored policy data is invalid; the previous data stays in effect', {
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
      this.#deps.log.debug('policy.unread', 'reading policy data failed', { reason: describeError(error).message });
    }
  }
}

function prepare(data: PolicyData) {
  return { data, adminUsers: new Set(data.adminUsers), adminClients: new Set(data.adminClients) };
}
