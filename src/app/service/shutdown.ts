import { setTimeout as pause } from 'node:timers/promises';
import type { LimitsConfig } from '#config/sections/limits.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { JobWorker } from '#platform/jobs/worker.ts';
import { onFatalError } from './fatal-errors.ts';
import { isMessage, type Report } from './member-messages.ts';

const EXIT_CODES: Partial<Record<NodeJS.Signals, ExitCode>> = {
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
  SIGHUP: ExitCode.hungUp,
};

/**
 * Signals that end the process, handled from its first moment: a signal during startup must not leave the database
 * open. Closing the terminal also ends the process; without a terminal, SIGHUP requests a reload.
 */
export class StopSignals {
  #received: NodeJS.Signals | undefined;
  #listeners: ((signal: NodeJS.Signals) => void)[] = [];
  #onHangUp: (() => void) | undefined;
  #hasHungUp = false;

  /**
   * @param origin `terminal`, `background` without a terminal, or `member` for one of several processes: signals then
   * come from the first process, so that a signal to the whole group counts once
   */
  constructor(origin: 'terminal' | 'background' | 'member') {
    const stopping: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
    if (origin === 'member') {
      for (const signal of [...stopping, 'SIGHUP']) process.on(signal, () => {});
      process.on('message', (message) => {
        if (!isMessage(message)) return;
        if (message.kind === 'signal') this.#receive(message.signal);
        else if (message.kind === 'reload') this.#hangUp();
        else if (message.kind === 'ping') process.send?.({ kind: 'pong' } satisfies Report);
      });
      process.send?.({ kind: 'hello' } satisfies Report);
      return;
    }
    if (origin === 'terminal') stopping.push('SIGHUP');
    for (const signal of stopping) process.on(signal, () => this.#receive(signal));
    if (origin === 'background') process.on('SIGHUP', () => this.#hangUp());
  }

  /** Calls `listener` for each signal from now on, and immediately for an earlier one. */
  listen(listener: (signal: NodeJS.Signals) => void): void {
    this.#listeners.push(listener);
    if (this.#received !== undefined) listener(this.#received);
  }

  /**
   * Calls `listener` for each SIGHUP that does not end the process, and immediately for earlier ones: the configuration
   * may have changed after it was read.
   */
  onHangUp(listener: () => void): void {
    this.#onHangUp = listener;
    if (this.#hasHungUp) listener();
  }

  /**
   * Called between the steps of a start.
   * @throws ExitError 130 or 143 after a signal
   */
  check(): void {
    if (this.#received !== undefined) throw interruption(this.#received);
  }

  /** Returns the result of `work`, or rejects like `check` as soon as a signal arrives. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.listen((signal) => reject(interruption(signal)));
      work.then(resolve, reject);
    });
  }

  get isRequested(): boolean {
    return this.#received !== undefined;
  }

  #hangUp(): void {
    if (this.#onHangUp === undefined) this.#hasHungUp = true;
    else this.#onHangUp();
  }

  #receive(signal: NodeJS.Signals): void {
    this.#received ??= signal;
    for (const listener of this.#listeners) listener(signal);
  }
}

function interruption(signal: NodeJS.Signals): ExitError {
  return new ExitError(EXIT_CODES[signal] ?? ExitCode.failure, `stopped by ${signal}`);
}

export interface Running {
  readonly log: Log;
  readonly server: HttpServer;
  readonly signals: StopSignals;
  /** State at shutdown. */
  readonly service: {
    readonly limits: Pick<LimitsConfig, 'drainDelaySeconds' | 'shutdownTimeoutSeconds'>;
    /** Workers of background jobs. */
    readonly workers: readonly Pick<JobWorker, 'stop'>[];
    /** Writes pending data. */
    stop(): Promise<void>;
  };
  /** Reports `draining` as readiness, and asks clients to close their connections. */
  drain(): void;
}

const FINISH_MS = 5_000;
/** How long running jobs may take to finish. */
const JOB_GRACE_MS = 25_000;
const FAILURE_GRACE_SECONDS = 10;

/**
 * Waits for a signal or an uncaught error, and shuts down in the order of operations 8.5. A second signal closes the
 * remaining connections.
 * @returns the exit code: 0 after a clean shutdown, else 1
 */
export async function untilStopped(running: Running): Promise<number> {
  const { log, server, service } = running;
  const cut = new AbortController();
  const cause = await firstCause(running, () => {
    cut.abort();
    log.warn('shutdown', 'second signal received, terminating open connections');
    server.destroyConnections();
    for (const worker of service.workers) void worker.stop(0);
  });
  const { limits } = service;
  const isFailure = cause === 'failure';
  log.info('shutdown', isFailure ? 'stopping after an error' : `${cause} received, stopping`);
  running.drain();
  if (!isFailure && limits.drainDelaySeconds > 0) await drainFor(limits.drainDelaySeconds, cut.signal);
  const fullGraceSeconds = isFailure ? FAILURE_GRACE_SECONDS : limits.shutdownTimeoutSeconds;
  const graceSeconds = cut.signal.aborted ? 0 : fullGraceSeconds;
  const stopped = Promise.all(
    service.workers.map((worker) => worker.stop(Math.min(JOB_GRACE_MS, graceSeconds * 1000))),
  );
  const outcome = await server.close(graceSeconds * 1000);
  await stopped;
  await Promise.race([service.stop(), pause(FINISH_MS, undefined, { ref: false })]);
  const isClean = outcome === 'clean' && !cut.signal.aborted;
  log.info('shutdown', isClean ? 'stopped' : 'stopped, open connections terminated');
  return isClean && !isFailure ? 0 : 1;
}

/** Keeps serving, so that a load balancer notices. A second signal ends the wait. */
async function drainFor(seconds: number, signal: AbortSignal): Promise<void> {
  await pause(seconds * 1000, undefined, { signal }).catch(() => {});
}

function firstCause(running: Running, onSecondSignal: () => void): Promise<NodeJS.Signals | 'failure'> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (cause: NodeJS.Signals | 'failure'): void => {
      isStopping = true;
      resolve(cause);
    };
    running.signals.listen((signal) => {
      if (isStopping) onSecondSignal();
      else stop(signal);
    });
    onFatalError(running.log, () => stop('failure'));
  });
}
