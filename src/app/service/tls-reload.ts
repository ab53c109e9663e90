/** Reloads the certificates of the listeners from their files (operations 1.7.3). */
import { statSync } from 'node:fs';
import { type LoadedConfig, rereadListeners } from '#config/load.ts';
import { tlsFiles } from '#config/tls-pairs.ts';
import type { Clock } from '#platform/base/clock.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { certificateWarnings } from './certificate-warnings.ts';

const INTERVAL_MS = 60_000;

export interface TlsReloadDeps {
  /** Names the files. */
  readonly loaded: Pick<LoadedConfig, 'tree'>;
  readonly server: Pick<HttpServer, 'reloadTls'>;
  readonly clock: Clock;
  readonly log: Log;
}

export class TlsReload {
  readonly #deps: TlsReloadDeps;
  readonly #files: readonly string[];
  #stamp: string;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: TlsReloadDeps) {
    this.#deps = deps;
    this.#files = tlsFiles(deps.loaded.tree);
    this.#stamp = stampOf(this.#files);
  }

  start(): void {
    if (this.#files.length > 0) this.#timer ??= setInterval(() => this.rereadFiles(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Reads the files if one has changed, or if the last attempt failed. */
  rereadFiles(): void {
    const stamp = stampOf(this.#files);
    if (stamp === this.#stamp && this.#failure === undefined) return;
    const { clock, loaded, log, server } = this.#deps;
    try {
      const listeners = rereadListeners(loaded);
      server.reloadTls(listeners);
      this.#failure = undefined;
      log.info('reload', 'listener certificates reloaded');
      for (const warning of certificateWarnings(listeners, clock.now())) log.warn('reload', warning);
    } catch (error) {
      const { message } = describeError(error);
      // Logged once, not on every attempt.
      if (message !== this.#failure) {
        log.error('reload', 'listener certificates could not be reloaded; the previous ones remain in use', {
          message,
        });
      }
      this.#failure = message;
    }
    this.#stamp = stamp;
  }
}

/** Returns a stamp that changes with any of the files, also when one is replaced. */
function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const status = statSync(file, { throwIfNoEntry: false });
      return `${status?.ino}:${status?.size}:${status?.mtimeMs}:${status?.ctimeMs}`;
    })
    .join(' ');
}
