/**
 * Reloads the configuration of a running service on SIGHUP. A reload applies completely or not at all (operations 8.6).
 */
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { changedSettings, changedStartSettings } from '#config/start-settings.ts';
import { findStateProblem } from '#domain/keys/server-state.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { delay } from '#platform/base/tasks.ts';
import { certificateWarnings } from './certificate-warnings.ts';
import { type Foundation, keyRingOf, loadConfiguredModule, loadSigningKeys } from './foundation.ts';
import type { RunningService, Settings } from './running-service.ts';
import type { ServiceManager } from './service-manager.ts';
import { logKeyChanges } from './signing-key-reload.ts';
import { warnOfMissingAlgorithms, warnOfUnsignableTokens } from './start-checks.ts';

export interface ReloadDeps {
  readonly foundation: Pick<
    Foundation,
    'database' | 'loaded' | 'openLog' | 'prepareLog' | 'readConfig' | 'useDatabasePassword' | 'usesGeneratedRoot'
  >;
  readonly service: Pick<RunningService, 'replace' | 'signingKeys'>;
  /** Undefined if another process reports the reload. */
  readonly manager: Pick<ServiceManager, 'reloaded' | 'reloading'> | undefined;
  /** Applies the changes that this process makes to a loaded configuration. */
  adapt(config: Config): Config;
  /** Rejects a configuration that cannot run here, and syncs the database. */
  prepare(config: Config, keyRing: KeyRing): Promise<void>;
}

/** The current state of the sources. */
interface Reading {
  readonly read: LoadedConfig;
  /** With the startup values of settings that need a restart. */
  readonly loaded: LoadedConfig;
  /** Changed keys that need a restart. */
  readonly restart: readonly string[];
  /** The root key comes from the data directory. */
  readonly isGenerated: boolean;
}

const BETWEEN_READINGS_MS = 200;
const MAX_WAIT_MS = 5_000;

export class Reload {
  readonly #deps: ReloadDeps;
  #current: LoadedConfig;
  #running: Promise<boolean> | undefined;
  #isWanted = false;

  constructor(deps: ReloadDeps) {
    this.#deps = deps;
    this.#current = deps.foundation.loaded;
  }

  /**
   * Signals during a reload cause one more reload. Never throws.
   * @returns whether the last reload succeeded
   */
  request(): Promise<boolean> {
    this.#isWanted = true;
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #work(): Promise<boolean> {
    const { manager } = this.#deps;
    let isDone = false;
    manager?.reloading();
    while (this.#isWanted) {
      this.#isWanted = false;
      isDone = await this.#attempt();
    }
    manager?.reloaded();
    return isDone;
  }

  async #attempt(): Promise<boolean> {
    const { log } = this.#deps.foundation.openLog;
    this.#reopenLog();
    try {
      const failed = await this.#reload();
      metrics?.count('latchkey_config_reloads_total', { result: failed === 0 ? 'success' : 'failure' });
      return failed === 0;
    } catch (error) {
      metrics?.count('latchkey_config_reloads_total', { result: 'failure' });
      const { message } = describeError(error);
      for (const line of message.split('\n')) log.error('reload', line.trim());
      log.error('reload', 'reload failed: the previous configuration remains in effect');
      return false;
    }
  }

  /** Regardless of the configuration: log rotation may have moved the file. */
  #reopenLog(): void {
    const { openLog } = this.#deps.foundation;
    try {
      openLog.reopen();
    } catch (error) {
      openLog.log.error('reload', 'log file could not be reopened', describeError(error));
    }
  }

  /** Reads until two consecutive reads agree, because a file may be partially written. */
  async #readWhole(): Promise<Reading> {
    const deadline = performance.now() + MAX_WAIT_MS;
    let before = this.#tryToRead();
    if (!(before instanceof Error) && changedSettings(this.#current, before.loaded).length === 0) return before;
    for (;;) {
      await delay(BETWEEN_READINGS_MS);
      const next = this.#tryToRead();
      if (isSame(before, next)) {
        if (next instanceof Error) throw next;
        return next;
      }
      if (performance.now() > deadline) {
        throw new ExitError(
          ExitCode.config,
          'the configuration files keep changing; send SIGHUP when they are complete',
        );
      }
      before = next;
    }
  }

  #tryToRead(): Reading | Error {
    try {
      return this.#read();
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #read(): Reading {
    const { foundation } = this.#deps;
    const { loaded: started } = foundation;
    const read = foundation.readConfig();
    // An empty file is valid but unlikely to be intended: it is still being written, or the disk was full.
    const emptied = read.emptyFiles.filter((file) => !this.#current.emptyFiles.includes(file));
    if (emptied.length > 0)
      throw new ExitError(ExitCode.config, `${emptied.join(', ')}: the file no longer contains any settings`);
    const isGenerated = foundation.usesGeneratedRoot(read);
    const restart = changedStartSettings(started, read).filter((key) => !isGenerated || key !== 'secrets.encryption');
    // Settings that need a restart keep their values, and so do the defaults derived from them.
    const loaded = restart.length === 0 ? read : foundation.readConfig(started);
    return { read, isGenerated, restart, loaded };
  }

  /** @returns the number of processes that keep the former configuration */
  async #reload(): Promise<number> {
    const { adapt, foundation, manager, prepare, service } = this.#deps;
    const { database, loaded: started, openLog } = foundation;
    const { log } = openLog;
    const { read, isGenerated, restart, loaded } = await this.#readWhole();
    const changed = changedSettings(this.#current, loaded);
    const { encryption } = isGenerated ? read.config.secrets : started.config.secrets;
    const secrets = { ...loaded.config.secrets, encryption };
    const config = adapt({ ...loaded.config, secrets });
    const keyRing = keyRingOf(config);
    const signingKeys = loadSigningKeys(secrets, loaded.tree);
    const policyModule = await loadConfiguredModule(loaded);
    const before = service.signingKeys.list();
    const readAt = systemClock.now();
    const settings: Settings = { loaded, restart, readAt, config, keyRing, signingKeys, policyModule };
    const nextLog = foundation.prepareLog(config);
    // The database may be unreachable without the new password. The former one is tried as well.
    const keepPassword = foundation.useDatabasePassword(config);
    let failed: number;
    try {
      const problem = await findStateProblem(database, keyRing, config.protocolName);
      if (problem !== undefined) throw new ExitError(ExitCode.config, problem);
      failed = await service.replace(settings, () => prepare(config, keyRing));
    } catch (error) {
      nextLog.discard();
      keepPassword();
      throw error;
    }
    nextLog.use();
    this.#current = loaded;
    if (manager === undefined) return failed;
    for (const warning of loaded.warnings) log.warn('reload', warning);
    for (const deprecation of loaded.deprecations) log.warn('deprecated', deprecation);
    logKeyChanges(before, signingKeys.list(), log);
    warnOfMissingAlgorithms(config.clients, signingKeys, log);
    warnOfUnsignableTokens(config.oauth.resources, signingKeys, log);
    for (const warning of certificateWarnings(config.http.listeners, systemClock.now())) log.warn('reload', warning);
    if (restart.length > 0) {
      log.warn('reload', 'changed settings require a restart; the previous values remain in effect', {
        keys: restart.join(' '),
      });
    }
    const fields = { changed: changed.join(' ') || 'nothing' };
    if (failed === 0) log.info('reload', 'configuration reloaded', fields);
    else {
      // Other processes have the new configuration already. A replacement of one of these will read it.
      const told = { processes: failed, ...fields };
      log.error('reload', 'some serving processes kept the previous configuration; repeat the reload (SIGHUP)', told);
    }
    return failed;
  }
}

function isSame(one: Reading | Error, other: Reading | Error): boolean {
  if (one instanceof Error || other instanceof Error) {
    return one instanceof Error && other instanceof Error && one.message === other.message;
  }
  const pairs = [
    [one.read, other.read],
    [one.loaded, other.loaded],
  ] as const;
  return pairs.every(
    ([before, next]) => changedSettings(before, next).length === 0 && changedStartSettings(before, next).length === 0,
  );
}
