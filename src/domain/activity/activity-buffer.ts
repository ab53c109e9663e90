/**
 * When, from where and with which user agent sessions were last active: the columns `last_active_at`, `last_active_ip`
 * and `user_agent` of `user_sessions`, `oauth2_sessions`, `compat_sessions` and `personal_sessions`. This module writes
 * them for the modules that own the tables. It also stores the language that users last used on pages, when secrets of
 * managed clients were last used, the days on which accounts were active, counters of the statistics, and when sign-ins
 * through providers succeeded and failed.
 */
import { rememberLanguages } from '#domain/accounts/remember-languages.ts';
import type { UsedSecret } from '#domain/clients/accepted-secret.ts';
import { recordSecretUses } from '#domain/clients/managed/record-secret-uses.ts';
import { ActiveDays, activeDaysOf } from '#domain/statistics/active-days.ts';
import { Counters } from '#domain/statistics/counters.ts';
import { ProviderStates } from '#domain/upstream/provider-states.ts';
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import { resumeTask } from '#platform/base/tasks.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import type {
  BrowserSessionId,
  ClientId,
  CompatSessionId,
  OAuth2SessionId,
  PersonalSessionId,
  UserId,
} from '#vocabulary/ids.ts';

interface Activity {
  /** The first use that is not written yet; undefined: the last one is the only one. */
  since?: number;
  at: number;
  address: string | undefined;
  userAgent: string | undefined;
}

interface UsedLanguage {
  readonly at: number;
  readonly language: string;
}

/** A session is written at most once per interval, unless `FLUSH_ENTRIES` others were active in between. */
const FLUSH_INTERVAL_MS = 60_000;
const FLUSH_ENTRIES = 10_000;
/** Rows per statement. */
const BATCH_ENTRIES = 1_000;
/** While the database is unreachable, activity of further sessions is dropped. */
const MAX_ENTRIES = 100_000;

/** Parallel arrays with one element per session. */
interface ActivityParams {
  readonly ids: readonly string[];
  readonly times: readonly Date[];
  readonly ips: readonly (string | null)[];
  readonly userAgents: readonly (string | null)[];
}

const recordBrowserSessionActivity = activityStatement('record-browser-session-activity', 'user_sessions');
const recordOAuth2SessionActivity = activityStatement('record-oauth2-session-activity', 'oauth2_sessions');
const recordCompatSessionActivity = activityStatement('record-compat-session-activity', 'compat_sessions');
const recordPersonalSessionActivity = activityStatement('record-personal-session-activity', 'personal_sessions');

/**
 * Collects activity in memory and writes it in batches, outside of requests. A crash loses at most one minute of
 * last-seen times, which no decision depends on.
 */
export class ActivityBuffer {
  readonly counters = new Counters();
  readonly providers = new ProviderStates();
  readonly #database: Queryable;
  readonly #log: Log;
  readonly #browserSessions = new Map<BrowserSessionId, Activity>();
  readonly #oauth2Sessions = new Map<OAuth2SessionId, Activity>();
  readonly #compatSessions = new Map<CompatSessionId, Activity>();
  readonly #personalSessions = new Map<PersonalSessionId, Activity>();
  readonly #activeDays = new ActiveDays();
  readonly #languages = new Map<UserId, UsedLanguage>();
  readonly #secrets: Readonly<Record<UsedSecret, Map<ClientId, number>>> = { current: new Map(), former: new Map() };
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(database: Queryable, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  /**
   * @param at milliseconds since the epoch
   * @param address if undefined, the stored address is kept
   * @param userAgent if undefined, the stored user agent is kept
   */
  recordBrowserSession(
    id: BrowserSessionId,
    at: number,
    address: string | undefined,
    userAgent?: string | undefined,
  ): void {
    this.#record(this.#browserSessions, id, { at, address, userAgent });
  }

  recordOAuth2Session(
    id: OAuth2SessionId,
    at: number,
    address: string | undefined,
    userAgent?: string | undefined,
  ): void {
    this.#record(this.#oauth2Sessions, id, { at, address, userAgent });
  }

  recordCompatSession(
    id: CompatSessionId,
    at: number,
    address: string | undefined,
    userAgent?: string | undefined,
  ): void {
    this.#record(this.#compatSessions, id, { at, address, userAgent });
  }

  recordPersonalSession(
    id: PersonalSessionId,
    at: number,
    address: string | undefined,
    userAgent?: string | undefined,
  ): void {
    this.#record(this.#personalSessions, id, { at, address, userAgent });
  }

  /**
   * Records that a user uses pages in a language other than the stored one.
   * @param at milliseconds since the epoch
   */
  recordLanguage(user: UserId, at: number, language: string): void {
    if (this.#languages.size < MAX_ENTRIES || this.#languages.has(user)) this.#languages.set(user, { at, language });
  }

  /** @param at milliseconds since the epoch */
  recordSecretUse(client: ClientId, secret: UsedSecret, at: number): void {
    const uses = this.#secrets[secret];
    if (uses.size < MAX_ENTRIES || uses.has(client)) uses.set(client, at);
  }

  /** Number of sessions with unwritten activity. */
  get pending(): number {
    const kinds = [this.#browserSessions, this.#oauth2Sessions, this.#compatSessions, this.#personalSessions];
    return kinds.reduce((sum, { size }) => sum + size, 0);
  }

  /** Starts to write once a minute. */
  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Stops the timer and writes what is left. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.flush();
  }

  /** Writes the collected activity. A batch that fails is kept for the next flush. Never throws. */
  async flush(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
    this.#flushing = this.#flushAll();
    await this.#flushing;
  }

  async #flushAll(): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#flushTable(this.#browserSessions, recordBrowserSessionActivity, activeDaysOf.browserSessions);
      await this.#flushTable(this.#oauth2Sessions, recordOAuth2SessionActivity, activeDaysOf.oauth2Sessions);
      await this.#flushTable(this.#compatSessions, recordCompatSessionActivity, activeDaysOf.compatSessions);
      await this.#flushTable(this.#personalSessions, recordPersonalSessionActivity, activeDaysOf.personalSessions);
      await this.#write(this.#languages, (batch) => {
        const now = Math.max(...batch.map(([, used]) => used.at));
        return rememberLanguages(
          this.#database,
          batch.map(([user, { language }]) => [user, language] as const),
          now,
        );
      });
      await this.#flushSecrets('current');
      await this.#flushSecrets('former');
      await this.#flushCounters();
      await this.#flushProviders();
    } finally {
      metrics?.observe('latchkey_activity_flush_seconds', {}, (performance.now() - startedAt) / 1000);
      this.#flushing = undefined;
    }
  }

  async #flushTable<Id extends Ulid>(
    sessions: Map<Id, Activity>,
    write: Statement<never, ActivityParams>,
    insertDays: Parameters<ActiveDays['write']>[1],
  ): Promise<void> {
    await this.#write(sessions, async (batch) => {
      await this.#database.execute(write, {
        ids: batch.map(([id]) => toUuid(id)),
        times: batch.map(([, activity]) => new Date(activity.at)),
        ips: batch.map(([, activity]) => activity.address ?? null),
        userAgents: batch.map(([, activity]) => activity.userAgent ?? null),
      });
      const used = batch.map(([id, { since, at }]) => ({ id, since: since ?? at, at }));
      await this.#activeDays.write(this.#database, insertDays, used);
    });
  }

  async #flushCounters(): Promise<void> {
    try {
      await this.counters.flush(this.#database);
    } catch (error) {
      this.#log.warn('activity.failed', 'writing counters of the statistics failed; will retry', {
        cause: describeError(error).message,
      });
    }
  }

  async #flushProviders(): Promise<void> {
    try {
      await this.providers.flush(this.#database);
    } catch (error) {
      this.#log.warn('activity.failed', 'writing states of sign-in providers failed; will retry', {
        cause: describeError(error).message,
      });
    }
  }

  async #flushSecrets(secret: UsedSecret): Promise<void> {
    await this.#write(this.#secrets[secret], (batch) =>
      recordSecretUses(
        this.#database,
        batch.map(([client, at]) => ({ client, secret, at })),
      ),
    );
  }

  async #write<Id extends Ulid, Value>(
    gathered: Map<Id, Value>,
    write: (batch: readonly (readonly [Id, Value])[]) => Promise<unknown>,
  ): Promise<void> {
    const entries = [...gathered];
    gathered.clear();
    for (let start = 0; start < entries.length; start += BATCH_ENTRIES) {
      try {
        await write(entries.slice(start, start + BATCH_ENTRIES));
      } catch (error) {
        this.#log.warn('activity.failed', 'writing last-active times failed; will retry', {
          entries: entries.length - start,
          cause: describeError(error).message,
        });
        for (const [id, value] of entries.slice(start)) if (!gathered.has(id)) gathered.set(id, value);
        return;
      }
    }
  }

  #record<Id extends Ulid>(sessions: Map<Id, Activity>, id: Id, activity: Activity): void {
    const known = sessions.get(id);
    if (known !== undefined) {
      // Updated in place: most requests take this path, which leaves no garbage to collect.
      known.since ??= known.at;
      known.at = activity.at;
      known.address = activity.address ?? known.address;
      known.userAgent = activity.userAgent ?? known.userAgent;
      return;
    }
    if (sessions.size >= MAX_ENTRIES) {
      metrics?.count('latchkey_activity_dropped_total', {});
      return;
    }
    sessions.set(id, activity);
    // Runs outside any task, so that the batch is not charged to the request that filled the buffer.
    if (sessions.size === FLUSH_ENTRIES) resumeTask(undefined, () => void this.flush());
  }
}

/**
 * Locks rows in ID order, so that batches of several instances cannot deadlock. An older time never replaces a newer
 * one. An unknown address or user agent keeps the stored one.
 */
function activityStatement(label: string, table: string): Statement<never, ActivityParams> {
  return statement(
    label,
    `with seen as (
       select id, at, ip, user_agent
         from unnest(:ids::uuid[], :times::timestamptz[], :ips::inet[], :userAgents::text[]) as seen (id, at, ip, user_agent)
     ), locked as (
       select id from ${table} where id = any(:ids::uuid[]) order by id for no key update
     )
     update ${table} s
        set last_active_at = seen.at, last_active_ip = coalesce(seen.ip, s.last_active_ip),
            user_agent = coalesce(seen.user_agent, s.user_agent)
       from locked join seen on seen.id = locked.id
      where s.id = locked.id and (s.last_active_at is null or s.last_active_at < seen.at)`,
  );
}
