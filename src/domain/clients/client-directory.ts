import type { Clock } from '#base/clock.ts';
import { type ClientId, toUuid } from '#base/ids.ts';
import type { KeyRing } from '#base/sealing.ts';
import { outside } from '#base/tasks.ts';
import type { Queryable } from '#db/database.ts';
import type { Client } from './client.ts';
import { clientOfRow } from './client-row.ts';
import { findClient } from './lookups.ts';

const KNOWN_MS = 60_000;
/** Short, so that a client registered at another instance works at once for a person's patience. */
const UNKNOWN_MS = 2_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly client: Client | undefined;
  readonly staleAt: number;
}

/**
 * Clients by id, read from the database at most once a minute. An entry may be stale, so nothing is granted on its
 * word alone: statements that act for a client compare its `version` and `disabled_at`, and whoever is told that the
 * client changed calls `forget` and asks again.
 */
export class ClientDirectory {
  readonly #database: Queryable;
  readonly #keys: KeyRing;
  readonly #clock: Clock;
  /** In order of reading, so that the first is the oldest. */
  readonly #entries = new Map<ClientId, Entry>();
  readonly #pending = new Map<ClientId, Promise<Client | undefined>>();

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
    const entry = this.#entries.get(id);
    if (entry !== undefined && this.#clock.now() < entry.staleAt) return entry.client;
    const pending = this.#pending.get(id);
    // Another task's promise: continue as a stretch of our own.
    if (pending !== undefined) return outside(pending);
    const reading = this.#read(id);
    this.#pending.set(id, reading);
    try {
      return await reading;
    } finally {
      if (this.#pending.get(id) === reading) this.#pending.delete(id);
    }
  }

  /** Drops what is known of a client, after a statement found it changed. */
  forget(id: ClientId): void {
    this.#entries.delete(id);
    // A reading under way may have begun before the change.
    this.#pending.delete(id);
  }

  async #read(id: ClientId): Promise<Client | undefined> {
    const row = await this.#database.first(findClient, [toUuid(id)]);
    const client = row === undefined ? undefined : clientOfRow(row, this.#keys);
    this.#entries.delete(id);
    const staleAt = this.#clock.now() + (client === undefined ? UNKNOWN_MS : KNOWN_MS);
    this.#entries.set(id, { client, staleAt });
    if (this.#entries.size > MAX_ENTRIES) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    return client;
  }
}
