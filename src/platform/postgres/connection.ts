import type { Client } from 'pg';
import { resumeTask, type Task } from '#platform/base/tasks.ts';
import { type Command, GroupedQuery, singleQuery } from './command.ts';
import { ConnectionLost, readFailure } from './failures.ts';
import { type Completed, RowShapes } from './prepared-query.ts';

/** Called once, outside any stretch: whoever waits for it is resumed through `resumeTask`. */
export type Done = (failure: unknown, completed: Completed | undefined) => void;

export interface ConnectionEvents {
  /** The connection is gone; `reason` is undefined when we closed it. */
  ended(connection: Connection, reason: unknown): void;
  /** A statement took `elapsedMs`, not counting its wait for those before it on the connection. */
  slow(label: string, elapsedMs: number): void;
}

/**
 * One connection to the server. Statements sent to it are answered in their order; each is timed and charged to the
 * task on whose behalf it is sent.
 */
export class Connection {
  readonly openedAt = performance.now();
  /** Statements sent and not yet answered. */
  inFlight = 0;
  /** When the connection was last given work or gave an answer. */
  lastActiveAt = this.openedAt;
  /** No longer given out; ends when what it was asked is answered. */
  isRetired = false;
  isLost = false;
  /** Reserved by a transaction, between statements too. */
  isLent = false;
  readonly #client: Client;
  readonly #events: ConnectionEvents;
  readonly #slowMs: number;
  readonly #shapes: RowShapes;
  #lostReason: unknown;
  #isClosing = false;

  constructor(client: Client, events: ConnectionEvents, slowMs: number) {
    this.#client = client;
    this.#events = events;
    this.#slowMs = slowMs;
    this.#shapes = new RowShapes(client);
    client.on('error', (error) => this.#end(error));
    client.on('end', () => this.#end(new Error('the server closed the connection')));
  }

  /** May be given new work. */
  get isUsable(): boolean {
    return !this.isRetired && !this.isLost;
  }

  /** Outside a transaction, with nothing under way. */
  get isClean(): boolean {
    return this.inFlight === 0 && this.#client.getTransactionStatus() === 'I';
  }

  /**
   * Hands a command to the driver, with commands before it in the same synchronization group. Counts as one statement
   * of `task`.
   */
  send(command: Command, task: Task | undefined, done: Done, before: readonly Command[] = []): void {
    const sentAt = performance.now();
    if (this.inFlight === 0) this.lastActiveAt = sentAt;
    this.inFlight += 1;
    if (task !== undefined) task.queries += 1;
    let isAnswered = false;
    const answer = (error: unknown, completed: Completed | undefined): void => {
      // The driver reports a parameter it could not encode at once, and once more when the server is in step again.
      if (isAnswered) return;
      isAnswered = true;
      const now = performance.now();
      const startedAt = Math.max(sentAt, this.lastActiveAt);
      this.lastActiveAt = now;
      this.inFlight -= 1;
      if (task !== undefined) {
        task.dbMs += now - sentAt;
        task.fetched += completed?.rows.length ?? 0;
      }
      if (now - startedAt > this.#slowMs) {
        resumeTask(task, () => this.#events.slow(command.label, now - startedAt));
      }
      if (error === null || error === undefined) done(undefined, completed);
      else {
        const failure = readFailure(command.label, error, this.#lostReason);
        // The server's farewell comes before the end of the connection; a repetition must not go there again.
        if (failure instanceof ConnectionLost) this.#end(error instanceof Error ? error : failure);
        done(failure, undefined);
      }
      this.#closeWhenRetired();
    };
    this.#client.query(
      before.length === 0 ? singleQuery(command, this.#shapes, answer) : new GroupedQuery(before, command, answer),
    );
  }

  /** Gives it no further work and ends it once it is idle. */
  retire(): void {
    this.isRetired = true;
    this.#closeWhenRetired();
  }

  /** Ends the reservation of a transaction. */
  handBack(): void {
    this.isLent = false;
    this.#closeWhenRetired();
  }

  /** Ends it at once; what is under way fails with `ConnectionLost`. */
  destroy(reason: Error): void {
    this.#client.connection.stream.destroy(reason);
  }

  /** Says goodbye to the server; resolves when the connection is closed, destroyed if that takes over five seconds. */
  async close(): Promise<void> {
    this.isRetired = true;
    this.#isClosing = true;
    const giveUp = setTimeout(() => this.#client.connection.stream.destroy(), 5_000);
    await this.#client.end();
    clearTimeout(giveUp);
  }

  #closeWhenRetired(): void {
    if (this.isRetired && this.inFlight === 0 && !this.isLent && !this.#isClosing) void this.close();
  }

  #end(reason: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.#lostReason = reason;
    this.#client.connection.stream.destroy();
    this.#events.ended(this, this.#isClosing ? undefined : reason);
  }
}
