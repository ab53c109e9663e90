import { setTimeout as pause } from 'node:timers/promises';
import type { LimitsConfig } from '#config/sections/limits.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { StopSignals } from './stop-signals.ts';

export interface Running {
  readonly log: Log;
  readonly server: HttpServer;
  readonly signals: StopSignals;
  readonly limits: Pick<LimitsConfig, 'drainDelaySeconds' | 'shutdownTimeoutSeconds'>;
  /** Readiness says `draining` from now on. */
  drain(): void;
  /** Writes what is still in memory. */
  finish(): Promise<void>;
}

const FINISH_MS = 5_000;
const FAILURE_GRACE_SECONDS = 10;

/**
 * Waits for a signal, or for an error that nobody caught, and shuts down in the order of operations 8.5. A second
 * signal cuts what is still connected.
 * @returns the exit code: 0 after a clean end, else 1
 */
export async function untilStopped(running: Running): Promise<number> {
  const { limits, log, server } = running;
  let isCut = false;
  const cause = await firstCause(running, () => {
    isCut = true;
    log.warn('shutdown', 'second signal: connections are cut');
    server.destroyConnections();
  });
  const isFailure = cause === 'failure';
  log.info('shutdown', isFailure ? 'stopping after an error' : `${cause} received, stopping`);
  running.drain();
  if (!isFailure && limits.drainDelaySeconds > 0) await pause(limits.drainDelaySeconds * 1000);
  const graceSeconds = isFailure ? FAILURE_GRACE_SECONDS : limits.shutdownTimeoutSeconds;
  const outcome = await server.close(graceSeconds * 1000);
  await Promise.race([running.finish(), pause(FINISH_MS, undefined, { ref: false })]);
  const isClean = outcome === 'clean' && !isCut;
  log.info('shutdown', isClean ? 'stopped' : 'stopped with connections cut');
  return isClean && !isFailure ? 0 : 1;
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
    const fail = (error: unknown): void => {
      const { message, stack } = describeError(error);
      running.log.error('error', message, { stack });
      stop('failure');
    };
    process.on('uncaughtException', fail);
    process.on('unhandledRejection', fail);
  });
}
