import { ExitError } from '#platform/base/errors.ts';

const EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * Signals that end the process, heard from its first moment on: one that comes while the database is being opened
 * must not leave it running. A terminal that closes ends the process too; without one SIGHUP asks for a new log file.
 */
export class StopSignals {
  readonly #signals: readonly NodeJS.Signals[];
  #received: NodeJS.Signals | undefined;
  #listeners: ((signal: NodeJS.Signals) => void)[] = [];
  #onHangUp: () => void = () => {};

  constructor(isTerminal: boolean) {
    this.#signals = isTerminal ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT'];
    for (const signal of this.#signals) process.on(signal, () => this.#receive(signal));
    if (!isTerminal) process.on('SIGHUP', () => this.#onHangUp());
  }

  /** Calls `listener` for each signal from now on, and at once for one that came before. */
  listen(listener: (signal: NodeJS.Signals) => void): void {
    this.#listeners.push(listener);
    if (this.#received !== undefined) listener(this.#received);
  }

  /** Calls `listener` for each SIGHUP that does not end the process; until then such a signal does nothing. */
  onHangUp(listener: () => void): void {
    this.#onHangUp = listener;
  }

  /** @throws ExitError 130 or 143 when a signal came; called between the steps of a start */
  check(): void {
    if (this.#received !== undefined) throw interruption(this.#received);
  }

  /** The outcome of `work`, or the same error as soon as a signal comes. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.listen((signal) => reject(interruption(signal)));
      work.then(resolve, reject);
    });
  }

  get isRequested(): boolean {
    return this.#received !== undefined;
  }

  #receive(signal: NodeJS.Signals): void {
    this.#received ??= signal;
    for (const listener of this.#listeners) listener(signal);
  }
}

function interruption(signal: NodeJS.Signals): ExitError {
  return new ExitError(EXIT_CODES[signal] ?? 1, `stopped by ${signal}`);
}
