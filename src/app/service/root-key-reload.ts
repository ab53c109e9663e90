/** Reloads generated root keys that were rotated while the service runs (operations 3.12). */
import { openingKeys, type RootKeys, readRootKeys } from '#app/data-directory/root-key-files.ts';
import type { Config } from '#config/config.ts';
import { describeError, type Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';

/** A rotation needs two reads by every process. */
const INTERVAL_MS = 2_000;

export interface RootKeyReloadDeps {
  readonly config: Pick<Config, 'dataDir' | 'secrets'>;
  /** Updated in place. */
  readonly keyRing: KeyRing;
  /** False: the key is in the configuration, which is read at startup. */
  readonly isGenerated: boolean;
  readonly log: Log;
  /** Publishes the keys that this process now has. */
  changed(): Promise<void>;
}

export class RootKeyReload {
  readonly #deps: RootKeyReloadDeps;
  #known: string | undefined;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RootKeyReloadDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#deps.isGenerated) this.#timer ??= setInterval(() => void this.rereadFiles(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Never throws. If the keys cannot be read, the current ones stay in use, and the reason is logged once. */
  async rereadFiles(): Promise<void> {
    const { config, keyRing, log } = this.#deps;
    try {
      const keys = readRootKeys(config.dataDir);
      this.#failure = undefined;
      if (keys === undefined || JSON.stringify(keys) === this.#known) return;
      this.#known = JSON.stringify(keys);
      if (!useRootKeys(keyRing, keys, config.secrets.encryptionPrevious)) return;
      log.info('reload', 'root keys reloaded', { keys: 1 + openingKeys(keys).length });
      await this.#deps.changed();
    } catch (error) {
      const { message } = describeError(error);
      if (message !== this.#failure) {
        log.error('reload', 'root keys could not be reloaded; the previous ones remain in use', { message });
      }
      this.#failure = message;
    }
  }
}

/**
 * Configured keys are kept.
 * @returns whether anything has changed
 */
export function useRootKeys(
  keyRing: KeyRing,
  keys: RootKeys,
  configured: Config['secrets']['encryptionPrevious'],
): boolean {
  const others = new Set([...openingKeys(keys), ...configured.map((key) => key.reveal())]);
  others.delete(keys.current);
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  return keyRing.replaceWith(bytes(keys.current), [...others].map(bytes));
}
