import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { outside, resumeTask } from '#platform/base/tasks.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type Client, type ClientRow, clientColumns, clientOfRow } from './client.ts';
import { isNameOf, namedClientId } from './client-names.ts';

const KNOWN_MS = 60_000;
/**
 * How long an entry is used while it is being refreshed, so that a slow database does not block a client's requests.
 */
const RECALLED_MS = 10 * KNOWN_MS;
/** Short, so that a client registered at another instance works almost immediately. */
const UNKNOWN_MS = 2_000;
const MAX_ENTRIES = 10_000;
/** Metadata as text. A client may register 64 KiB, and anyone can make the service read many clients. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Memory of the largest keys after their first use. */
const BYTES_OF_KEY = 3 * 1024;
/** Anyone can request unknown IDs; these must not evict existing clients. */
const MAX_UNKNOWN = 1_000;

interface ReadClient {
  readonly client: Client;
  /** Approximate memory use. */
  readonly bytes: number;
}

interface Entry extends ReadClient {
  readonly readAt: number;
}

/**
 * Caches clients by ID and reads each from the database at most once a minute. An entry may be stale, so it alone
 * grants nothing: statements that act for a client compare its `version` and `disabled_at`. Callers that find the
 * client changed call `forget` and read it once more.
 */
export class ClientDirectory {
  readonly #database: Queryable;
  readonly #keys: KeyRing;
  readonly #clock: Clock;
  /** In the order of reading, oldest first. */
  readonly #entries = new Map<ClientId, Entry>();
  #bytes = 0;
  /** When to retry an unknown ID; in the order of reading. */
  readonly #unknown = new Map<ClientId, number>();
  readonly #pending = new Map<ClientId, Promise<ReadClient | undefined>>();

  constructor(database: Queryable, keys: KeyRing, clock: Clock) {
    this.#database = database;
    this.#keys = keys;
    this.#clock = clock;
  }

  /**
   * Returns the client; undefined if it does not exist or is disabled. Runs no query while the entry is fresh.
   * @throws Error if its stored secret cannot be decrypted
   */
  async find(id: ClientId): Promise<Client | undefined> {
    const now = this.#clock.now();
    const entry = this.#entries.get(id);
    if (entry !== undefined && now - entry.readAt < KNOWN_MS) return entry.client;
    if (now < (this.#unknown.get(id) ?? 0)) return undefined;
    const pending = this.#pending.get(id);
    // The promise belongs to a different task: continue in a new stretch of this one.
    if (pending !== undefined) return (await outside(pending))?.client;
    const reading = this.#read(id);
    this.#pending.set(id, reading);
    try {
      const read = await reading;
      // After `forget`, the row that was read may predate the change.
      if (this.#pending.get(id) === reading) this.#remember(id, read);
      return read?.client;
    } finally {
      if (this.#pending.get(id) === reading) this.#pending.delete(id);
    }
  }

  /**
   * Returns the client with this `client_id` (see `client-names.ts`). A client with a metadata document is found only
   * by its URL, not by its ID, so that each client has exactly one `client_id`.
   */
  async findNamed(name: string): Promise<Client | undefined> {
    const id = namedClientId(name);
    return id === undefined ? undefined : ifNamed(await this.find(id), name);
  }

  /** Like `recall`, but by `client_id`. */
  recallNamed(name: string): Client | undefined {
    const id = namedClientId(name);
    return id === undefined ? undefined : ifNamed(this.recall(id), name);
  }

  /**
   * Returns the client as it was known up to ten minutes ago, without waiting. An entry older than a minute is
   * refreshed in the background. Do not reject a request based on this result; use `find` for that.
   */
  recall(id: ClientId): Client | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const age = this.#clock.now() - entry.readAt;
    if (age >= RECALLED_MS) return undefined;
    // Runs outside of any request. If it fails, the next call retries.
    if (age >= KNOWN_MS) resumeTask(undefined, () => void this.find(id).catch(() => undefined));
    return entry.client;
  }

  /** Drops the cached entry, after a statement found the client changed. */
  forget(id: ClientId): void {
    this.#drop(id);
    this.#unknown.delete(id);
    // A pending read may have started before the change.
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

/** Uses the primary key. Disabled clients are treated as unknown everywhere. */
const findClient = statement<ClientRow & { readonly metadata_bytes: number }, { readonly id: string }>(
  'client-by-id',
  `select ${clientColumns('oauth2_clients')}, octet_length(metadata::text) as metadata_bytes
     from oauth2_clients
    where id = :id::uuid and ${clientIsEnabled('oauth2_clients')}`,
);
