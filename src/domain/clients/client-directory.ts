import type { Clock } from '#platform/base/clock.ts';
import { type ClientId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { outside, resumeTask } from '#platform/base/tasks.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type Client, type ClientRow, clientColumns, clientOfRow } from './client.ts';
import { isNameOf, namedClientId } from './client-names.ts';
import { clientIsEnabled } from './liveness.ts';

const KNOWN_MS = 60_000;
/** While it is read again, so that a slow database does not hold up all requests of a client each minute. */
const RECALLED_MS = 10 * KNOWN_MS;
/** Short, so that a client registered at another instance works at once for a person's patience. */
const UNKNOWN_MS = 2_000;
const MAX_ENTRIES = 10_000;
/** Of metadata, as text: an application may register 64 KiB, and anybody can make us read many such. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What the largest keys take once they were used. */
const BYTES_OF_KEY = 3 * 1024;
/** Anybody can ask for IDs that do not exist; they must not push out clients that do. */
const MAX_UNKNOWN = 1_000;

interface ReadClient {
  readonly client: Client;
  /** About what it takes in memory. */
  readonly bytes: number;
}

interface Entry extends ReadClient {
  readonly readAt: number;
}

/**
 * Clients by id, read from the database at most once a minute. An entry may be stale, so nothing is granted on its word
 * alone: statements that act for a client compare its `version` and `disabled_at`, and callers that are told that the
 * client changed call `forget` and ask again.
 */
export class ClientDirectory {
  readonly #database: Queryable;
  readonly #keys: KeyRing;
  readonly #clock: Clock;
  /** In order of reading, so that the first is the oldest. */
  readonly #entries = new Map<ClientId, Entry>();
  #bytes = 0;
  /** Until when an ID counts as that of no client, in order of reading. */
  readonly #unknown = new Map<ClientId, number>();
  readonly #pending = new Map<ClientId, Promise<ReadClient | undefined>>();

  constructor(database: Queryable, keys: KeyRing, clock: Clock) {
    this.#database = database;
    this.#keys = keys;
    this.#clock = clock;
  }

  /**
   * The client; undefined when there is none or it is disabled. No query while the entry is fresh.
   * @throws Error when its stored secret cannot be opened
   */
  async find(id: ClientId): Promise<Client | undefined> {
    const now = this.#clock.now();
    const entry = this.#entries.get(id);
    if (entry !== undefined && now - entry.readAt < KNOWN_MS) return entry.client;
    if (now < (this.#unknown.get(id) ?? 0)) return undefined;
    const pending = this.#pending.get(id);
    // Another task's promise: continue as a stretch of our own.
    if (pending !== undefined) return (await outside(pending))?.client;
    const reading = this.#read(id);
    this.#pending.set(id, reading);
    try {
      const read = await reading;
      // After `forget`, what was read may be older than the change.
      if (this.#pending.get(id) === reading) this.#remember(id, read);
      return read?.client;
    } finally {
      if (this.#pending.get(id) === reading) this.#pending.delete(id);
    }
  }

  /**
   * The client that others name so (see `client-names.ts`). The id of one that is named by an address names nobody:
   * there is one name for each client.
   */
  async findNamed(name: string): Promise<Client | undefined> {
    const id = namedClientId(name);
    return id === undefined ? undefined : ifNamed(await this.find(id), name);
  }

  /** `recall` by that name. */
  recallNamed(name: string): Client | undefined {
    const id = namedClientId(name);
    return id === undefined ? undefined : ifNamed(this.recall(id), name);
  }

  /**
   * The client as it was known up to ten minutes ago, without waiting; it is read again once that was a minute ago.
   * Nobody may be refused on its word: who is not who it says is judged by `find`.
   */
  recall(id: ClientId): Client | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const age = this.#clock.now() - entry.readAt;
    if (age >= RECALLED_MS) return undefined;
    // Not on behalf of a request, and one that fails is tried again by the next.
    if (age >= KNOWN_MS) resumeTask(undefined, () => void this.find(id).catch(() => undefined));
    return entry.client;
  }

  /** Drops what is known of a client, after a statement found it changed. */
  forget(id: ClientId): void {
    this.#drop(id);
    this.#unknown.delete(id);
    // A reading under way may have begun before the change.
    this.#pending.delete(id);
  }

  async #read(id: ClientId): Promise<ReadClient | undefined> {
    const row = await this.#database.first(findClient, { id: toUuid(id) });
    if (row === undefined) return undefined;
    const keyCount = row.metadata.jwks?.keys.length ?? 0;
    return { client: clientOfRow(row, this.#keys), bytes: row.metadata_bytes + keyCount * BYTES_OF_KEY };
  }

  #remember(id: ClientId, read: ReadClient | undefined): void {
    this.#drop(id);
    this.#unknown.delete(id);
    const now = this.#clock.now();
    if (read === undefined) {
      this.#unknown.set(id, now + UNKNOWN_MS);
      dropOldest(this.#unknown, MAX_UNKNOWN);
      return;
    }
    this.#entries.set(id, { ...read, readAt: now });
    this.#bytes += read.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(id: ClientId): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
  }
}

function ifNamed(client: Client | undefined, name: string): Client | undefined {
  return client !== undefined && isNameOf(client, name) ? client : undefined;
}

function dropOldest(map: Map<ClientId, unknown>, maximum: number): void {
  if (map.size <= maximum) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}

/** Primary key; a disabled client is unknown everywhere. */
const findClient = statement<ClientRow & { readonly metadata_bytes: number }, { readonly id: string }>(
  'client-by-id',
  `select ${clientColumns('oauth2_clients')}, octet_length(metadata::text) as metadata_bytes
     from oauth2_clients
    where id = :id::uuid and ${clientIsEnabled('oauth2_clients')}`,
);
