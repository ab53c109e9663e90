import type { Connection } from './connection.ts';
import { ConnectionSet, type ConnectionSetOptions } from './connection-set.ts';
import { type WaitingGauge, type WaitingLimits, WaitingLine } from './waiting-line.ts';

export type SourceOptions = Omit<ConnectionSetOptions, 'opened' | 'refused' | 'isWanting'> & {
  readonly limits: WaitingLimits;
  readonly gauge: WaitingGauge;
};

/** Gives out connections, and makes callers wait for one when there is none. */
export interface ConnectionSource {
  readonly set: ConnectionSet;
  /** Calls `serve` with a connection, at once when there is one, or `refuse` when the wait is too long. */
  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void;
  giveBack(connection: Connection): void;
  close(reason: unknown): Promise<void>;
}

/** Connections that many callers use at the same time, each for single statements only. */
export class SharedConnections implements ConnectionSource {
  readonly set: ConnectionSet;
  readonly #line: WaitingLine<Connection>;

  constructor(options: SourceOptions) {
    this.#line = new WaitingLine(options.limits, options.gauge);
    this.set = new ConnectionSet({
      ...options,
      opened: (connection) => {
        this.#line.noteProblem(undefined);
        while (this.#line.serveNext(connection)) {}
      },
      refused: (reason) => this.#line.noteProblem(reason),
      isWanting: () => this.#leastBusy() === undefined,
    });
  }

  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void {
    const connection = this.#leastBusy();
    // A busy one is good enough for now; a further one will share the work from then on.
    if (connection === undefined || connection.inFlight > 0) this.set.grow();
    if (connection === undefined) this.#line.join(serve, refuse);
    else serve(connection);
  }

  giveBack(): void {}

  async close(reason: unknown): Promise<void> {
    this.#line.refuseAll(reason);
    await this.set.close();
  }

  #leastBusy(): Connection | undefined {
    let found: Connection | undefined;
    for (const connection of this.set.all()) {
      if (!connection.isUsable) continue;
      if (found === undefined || connection.inFlight < found.inFlight) found = connection;
      if (found.inFlight === 0) break;
    }
    return found;
  }
}

/** Connections that belong to one caller at a time. */
export class ExclusiveConnections implements ConnectionSource {
  readonly set: ConnectionSet;
  readonly #line: WaitingLine<Connection>;
  /** The most recently used last: it is given out first, and the others can grow idle. */
  readonly #idle: Connection[] = [];

  constructor(options: SourceOptions) {
    this.#line = new WaitingLine(options.limits, options.gauge);
    this.set = new ConnectionSet({
      ...options,
      opened: (connection) => {
        this.#line.noteProblem(undefined);
        this.giveBack(connection);
      },
      refused: (reason) => this.#line.noteProblem(reason),
      isWanting: () => this.#line.length > 0,
    });
  }

  take(serve: (connection: Connection) => void, refuse: (error: unknown) => void): void {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (!connection.isUsable) continue;
      connection.isLent = true;
      serve(connection);
      return;
    }
    this.set.grow();
    this.#line.join(serve, refuse);
  }

  giveBack(connection: Connection): void {
    if (!connection.isClean) connection.destroy(new Error('a transaction was left open'));
    else if (!connection.isUsable) connection.handBack();
    else {
      connection.isLent = true;
      if (this.#line.serveNext(connection)) return;
      connection.isLent = false;
      this.#idle.push(connection);
    }
  }

  async close(reason: unknown): Promise<void> {
    this.#line.refuseAll(reason);
    await this.set.close();
  }
}
