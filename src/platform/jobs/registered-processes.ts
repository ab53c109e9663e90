/**
 * The processes of the service that live, table `queue_workers`: each says so twice a minute, with a digest of what has
 * to be configured alike in all of them (operations 6.1, 8.1).
 */
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

const BEAT_MS = 30_000;
/** Who has not been heard for so long is gone. */
const SILENT_MS = 120_000;
const MAX_LISTED = 1000;

export interface RegistrationOptions {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** For messages: machine and process id. */
  readonly name: string;
  readonly version: string;
  /** Whether it does background work. */
  readonly works: boolean;
  readonly configDigest: Buffer;
  /** Check values of the root keys that it has now, the one that it seals with first. */
  readonly rootKeys: () => readonly Buffer[];
  /** Private addresses that sent it forwarding headers and are not trusted. */
  readonly untrustedProxies: () => readonly string[];
}

/** This process, as others see it. */
export class RegisteredProcess {
  readonly #options: RegistrationOptions;
  readonly #id: string;
  readonly #startedAt: Date;
  #digest: Buffer;
  #timer: NodeJS.Timeout | undefined;
  /** Others were found to differ at the last beat; while configurations are rolled out that is no news. */
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

  /** After a reload. */
  async useDigest(digest: Buffer): Promise<void> {
    this.#digest = digest;
    await this.beat();
  }

  /** Says that it lives, forgets who does not, and compares configurations. Never throws. */
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
      // The database says by itself when it is lost.
      log.debug('process.beat', 'the process could not be registered', { reason: describeError(error).message });
    }
  }

  /** Others need not wait until it is silent. Never throws. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#options.database.execute(deleteProcess, { id: this.#id });
    } catch (error) {
      this.#options.log.debug('process.beat', 'the process is still registered', {
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
    this.#options.log.warn('config.differs', 'other processes on this database have another configuration', {
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
  /** Null for a version that does not say. */
  readonly root_keys: readonly Buffer[] | null;
  readonly untrusted_proxies: readonly string[];
}

/** Who was heard of within two minutes. */
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
