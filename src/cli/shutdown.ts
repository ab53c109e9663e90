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
 * Signals that end the process, heard from its first moment on: one that comes while the database is being opened
 * must not leave it running. A terminal that closes ends the process too; without one SIGHUP asks for a new log file.
 */
export class StopSignals {
  #received: NodeJS.Signals | undefined;
  #listeners: ((signal: NodeJS.Signals) => void)[] = [];
  #onHangUp: (() => void) | undefined;
  #hasHungUp = false;

  /**
   * @param origin of signals: with a terminal, without one, or, for one of several serving processes, from the first of
   *   them, so that a signal to all of them counts once
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

  /** Calls `listener` for each signal from now on, and at once for one that came before. */
  listen(listener: (signal: NodeJS.Signals) => void): void {
    this.#listeners.push(listener);
    if (this.#received !== undefined) listener(this.#received);
  }

  /**
   * Calls `listener` for each SIGHUP that does not end the process, and at once for those that came before: the
   * configuration may have changed after the start had read it.
   */
  onHangUp(listener: () => void): void {
    this.#onHangUp = listener;
    if (this.#hasHungUp) listener();
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
  /** As it is at the stop. */
  readonly service: {
    readonly limits: Pick<LimitsConfig, 'drainDelaySeconds' | 'shutdownTimeoutSeconds'>;
    /** Of background work. */
    readonly workers: readonly Pick<JobWorker, 'stop'>[];
    /** Writes what is still in memory. */
    stop(): Promise<void>;
  };
  /** Readiness says `draining` and clients are told to close their connections from now on. */
  drain(): void;
}

const FINISH_MS = 5_000;
/** What running jobs get to end. */
const JOB_GRACE_MS = 25_000;
const FAILURE_GRACE_SECONDS = 10;

/**
 * Waits for a signal, or for an error that nobody caught, and shuts down in the order of operations 8.5. A second
 * signal cuts what is still connected.
 * @returns the exit code: 0 after a clean end, else 1
 */
export async function untilStopped(running: Running): Promise<number> {
  const { log, server, service } = running;
  const cut = new AbortController();
  const cause = await firstCause(running, () => {
    cut.abort();
    log.warn('shutdown', 'second signal: connections are cut');
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
  log.info('shutdown', isClean ? 'stopped' : 'stopped with connections cut');
  return isClean && !isFailure ? 0 : 1;
}

/** Serves on, so that a load balancer notices; not after a second signal. */
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
