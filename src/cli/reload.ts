/**
 * Reads the configuration again while the service runs, at SIGHUP: all of it takes effect or nothing does
 * (operations 8.6).
 */
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { changedSettings, changedStartSettings } from '#config/start-settings.ts';
import { findStateProblem } from '#domain/server-state/server-state.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { certificateWarnings } from './certificate-warnings.ts';
import { type Foundation, keyRingOf, loadConfiguredModule, loadSigningKeys } from './foundation.ts';
import type { RunningService, Settings } from './running-service.ts';
import type { ServiceManager } from './service-manager.ts';
import { logKeyChanges } from './signing-key-reload.ts';
import { warnOfMissingAlgorithms } from './start-checks.ts';

export interface ReloadDeps {
  readonly foundation: Pick<
    Foundation,
    'configureLog' | 'database' | 'loaded' | 'openLog' | 'readConfig' | 'usesGeneratedRoot'
  >;
  readonly service: Pick<RunningService, 'replace' | 'signingKeys'>;
  /** Undefined where another process tells what has changed. */
  readonly manager: Pick<ServiceManager, 'reloaded' | 'reloading'> | undefined;
  /** What this process changes of a configuration that it has read. */
  adapt(config: Config): Config;
  /** Refuses what cannot run here, and brings the database in line. */
  prepare(config: Config, keyRing: KeyRing): Promise<void>;
}

export class Reload {
  readonly #deps: ReloadDeps;
  #current: LoadedConfig;
  #running: Promise<boolean> | undefined;
  #isWanted = false;

  constructor(deps: ReloadDeps) {
    this.#deps = deps;
    this.#current = deps.foundation.loaded;
  }

  /** Signals that come while it works are one more reload. Never throws. @returns whether the last was a success */
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
    await this.#reopenLog();
    try {
      await this.#reload();
      metrics?.count('latchkey_config_reloads_total', { result: 'success' });
      return true;
    } catch (error) {
      metrics?.count('latchkey_config_reloads_total', { result: 'failure' });
      const { message } = describeError(error);
      for (const line of message.split('\n')) log.error('reload', line.trim());
      log.error('reload', 'nothing has changed: the former configuration stays in force');
      return false;
    }
  }

  /** Whatever comes of the rest: the file may have been moved away. */
  async #reopenLog(): Promise<void> {
    const { openLog } = this.#deps.foundation;
    try {
      await openLog.reopen();
    } catch (error) {
      openLog.log.error('reload', 'the log file could not be opened again', describeError(error));
    }
  }

  async #reload(): Promise<void> {
    const { adapt, foundation, manager, prepare, service } = this.#deps;
    const { database, loaded: started, openLog } = foundation;
    const { log } = openLog;
    const read = foundation.readConfig();
    const isGenerated = foundation.usesGeneratedRoot(read);
    const restart = changedStartSettings(started, read).filter((key) => !isGenerated || key !== 'secrets.encryption');
    // What only a start changes stays, and so does what follows from it.
    const loaded = restart.length === 0 ? read : foundation.readConfig(started);
    const changed = changedSettings(this.#current, loaded);
    const { encryption } = isGenerated ? read.config.secrets : started.config.secrets;
    const secrets = { ...loaded.config.secrets, encryption };
    const config = adapt({ ...loaded.config, secrets });
    const keyRing = keyRingOf(config);
    const problem = await findStateProblem(database, keyRing, config.protocolName);
    if (problem !== undefined) throw new ExitError(ExitCode.config, problem);
    const signingKeys = loadSigningKeys(secrets, loaded.tree);
    const policyModule = await loadConfiguredModule(loaded);
    const before = service.signingKeys.list();
    const settings: Settings = { loaded, config, keyRing, signingKeys, policyModule };
    const useLog = foundation.configureLog(config);
    await prepare(config, keyRing);
    await service.replace(settings);
    await useLog();
    this.#current = loaded;
    if (manager === undefined) return;
    for (const warning of loaded.warnings) log.warn('reload', warning);
    for (const deprecation of loaded.deprecations) log.warn('deprecated', deprecation);
    logKeyChanges(before, signingKeys.list(), log);
    warnOfMissingAlgorithms(config.clients, signingKeys, log);
    for (const warning of certificateWarnings(config.http.listeners, systemClock.now())) log.warn('reload', warning);
    if (restart.length > 0) {
      log.warn('reload', 'these settings need a restart; the former values stay in force', { keys: restart.join(' ') });
    }
    log.info('reload', 'the configuration was read again and is in force', { changed: changed.join(' ') || 'nothing' });
  }
}
