/**
 * The running processes of the service, table `queue_workers`. Each sends a heartbeat twice a minute, with a digest of
 * the settings that must be identical in all of them (operations 6.1, 8.1).
 */
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

const BEAT_MS = 30_000;
/** A process without a heartbeat for this long is considered gone. */
const SILENT_MS = 120_000;
const MAX_LISTED = 1000;

export interface RegistrationOptions {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Shown in messages: host name and process id. */
  readonly name: string;
  readonly version: string;
  /** Whether it runs background jobs. */
  readonly works: boolean;
  readonly configDigest: Buffer;
  /** Check values of the current root keys. The one used for sealing comes first. */
  readonly rootKeys: () => readonly Buffer[];
  /** Private addresses that sent forwarding headers to it without being trusted proxies. */
  readonly untrustedProxies: () => readonly string[];
}

/** The registration of this process. */
export class RegisteredProcess {
  readonly #options: RegistrationOptions;
  readonly #id: string;
  readonly #startedAt: Date;
  #digest: Buffer;
  #timer: NodeJS.Timeout | undefined;
  /** Processes whose configuration differed at the last heartbeat. One difference is normal during a rollout. */
  #others = '';
  #reported = '';

  constructor(options: RegistrationOptions) {
    const now = options.clock.now();
    this.#options = options;
    this.#id = toUuid(newId(now));
    this.#startedAt = new Date(now);
    this.#digest = options.configDigest;
  }

  async start(): Promise<void> {
    this.#timer ??= setInterval(() => void this.beat(), BEAT_MS).unref();
    await this.beat();
  }

  /** Updates the configuration digest after a reload. */
  async useDigest(digest: Buffer): Promise<void> {
    this.#digest = digest;
    await this.beat();
  }

  /** Sends a heartbeat, removes silent processes and compares configurations. Never throws. */
  async beat(): Promise<void> {
    const { clock, database, log, name, rootKeys, untrustedProxies, version, works } = this.#options;
    const now = clock.now();
    try {
      await database.execute(saveProcess, {
        ...{ id: this.#id, name, version, works },
        configDigest: this.#digest,
        rootKeys: rootKeys(),
        untrustedProxies: untrustedProxies(),
        startedAt: this.#startedAt,
        now: new Date(now),
      });
      await database.execute(deleteSilent, { before: silentSince(now) });
      const rows = await listLiveProcesses(database, now);
      const others = rows.filter(({ config_digest: digest }) => !digest.equals(this.#digest)).map((row) => row.name);
      this.#compare(others.sort().join(' '));
    } catch (error) {
      // The database module reports a lost connection itself.
      log.debug('process.beat', 'process registration failed', { reason: describeError(error).message });
    }
  }

  /** Removes the registration, so that others need not wait for its expiry. Never throws. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#options.database.execute(deleteProcess, { id: this.#id });
    } catch (error) {
      this.#options.log.debug('process.beat', 'process could not be unregistered', {
        reason: describeError(error).message,
      });
    }
  }

  #compare(others: string): void {
    const isLasting = others !== '' && others === this.#others;
    this.#others = others;
    if (others === '') this.#reported = '';
    if (!isLasting || others === this.#reported) return;
    this.#reported = others;
    this.#options.log.warn('config.differs', 'other processes on this database have a different configuration', {
      processes: others,
    });
  }
}

export interface LiveProcess {
  readonly name: string;
  readonly version: string;
  readonly works: boolean;
  readonly config_digest: Buffer;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  readonly last_seen_at: number;
  /** Null for versions that do not report it. */
  readonly root_keys: readonly Buffer[] | null;
  readonly untrusted_proxies: readonly string[];
}

/** Lists the processes that sent a heartbeat within the last two minutes. */
export async function listLiveProcesses(queryable: Queryable, now: number): Promise<readonly LiveProcess[]> {
  return await queryable.rows(listLive, { since: silentSince(now), limit: MAX_LISTED });
}

function silentSince(now: number): Date {
  return new Date(now - SILENT_MS);
}

const listLive = statement<LiveProcess, { readonly since: Date; readonly limit: number }>(
  'live-processes',
  `select name, version, works, config_digest, root_keys, untrusted_proxies, ${ms('started_at')} as started_at,
          ${ms('last_seen_at')} as last_seen_at
     from queue_workers
    where queue_workers.last_seen_at >= :since::timestamptz order by queue_workers.last_seen_at limit :limit::integer`,
);

const saveProcess = statement<
  never,
  {
    readonly id: string;
    readonly name: string;
    readonly version: string;
    readonly works: boolean;
    readonly configDigest: Buffer;
    readonly rootKeys: readonly Buffer[];
    readonly untrustedProxies: readonly string[];
    readonly startedAt: Date;
    readonly now: Date;
  }
>(
  'save-process',
  `insert into queue_workers (id, name, version, works, config_digest, root_keys, untrusted_proxies, started_at, last_seen_at)
   values (:id::uuid, :name::text, :version::text, :works::boolean, :configDigest::bytea, :rootKeys::bytea[], :untrustedProxies::text[], :startedAt::timestamptz, :now::timestamptz)
   on conflict (id) do update set config_digest = excluded.config_digest, root_keys = excluded.root_keys,
     untrusted_proxies = excluded.untrusted_proxies, last_seen_at = excluded.last_seen_at`,
);

const deleteSilent = statement<never, { readonly before: Date }>(
  'delete-silent-processes',
  'delete from queue_workers where last_seen_at < :before::timestamptz',
);

const deleteProcess = statement<never, { readonly id: string }>(
  'delete-process',
  'delete from queue_workers where id = :id::uuid',
);
