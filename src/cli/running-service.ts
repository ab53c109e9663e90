/**
 * The service of this process while it runs: what is made of the configuration, and its replacement as a whole when the
 * configuration is read again (operations 8.6). What was opened at the start stays: database, listeners, activity that
 * was not written yet.
 */

import { hostname } from 'node:os';
import { mountFeatures } from '#app/app.ts';
import { createJobWorkers } from '#app/jobs.ts';
import type { AssetFiles } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { sharedSettingsDigest } from '#config/shared-settings.ts';
import { type Core, createCore, type Resources } from '#domain/core.ts';
import type { PolicyModule } from '#domain/policy/module/policy-module.ts';
import { openSecretKeys } from '#domain/secret-keys/secret-keys.ts';
import { rootKeyChecks } from '#domain/server-state/server-state.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { describeError } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import type { JobWorker } from '#platform/jobs/worker.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openHasher } from './accounts.ts';
import { RootKeyReload } from './root-key-reload.ts';
import { SigningKeyReload } from './signing-key-reload.ts';
import { testTransport } from './test-transport.ts';
import { TlsReload } from './tls-reload.ts';

/** What a reload keeps. */
export interface Kept
  extends Pick<
    Resources,
    'database' | 'estimator' | 'instance' | 'lag' | 'log' | 'metricsPage' | 'tracing' | 'version'
  > {
  readonly jobsDatabase: OpenDatabase;
  readonly environment: LoadedConfig['environment'];
  readonly assets: AssetFiles;
  readonly hasWorkers: boolean;
  /** Sends what other systems are told and still waits in memory, for a few seconds at most. */
  readonly flushTelemetry: () => Promise<void>;
  /** Whether the root key is the one that was generated in the data directory. */
  readonly hasGeneratedRoot: boolean;
}

/** What comes out of the configuration. */
export interface Settings {
  readonly loaded: Pick<LoadedConfig, 'tree'>;
  readonly config: Config;
  readonly keyRing: KeyRing;
  readonly signingKeys: SigningKeys;
  readonly policyModule: PolicyModule | undefined;
}

/** @param before the core that the new one replaces */
export async function openCore(kept: Kept, settings: Settings, before?: Core): Promise<Core> {
  const { database, environment, log } = kept;
  const { config, keyRing, policyModule, signingKeys } = settings;
  const core = createCore(
    {
      ...kept,
      ...{ config, keyRing, policyModule, signingKeys, clock: systemClock },
      secretKeys: await openSecretKeys({ database, keyRing, clock: systemClock }),
      hasher: openHasher(config, log, environment),
      outbound: new OutboundHttp({ ...config.outbound, clock: systemClock, log }),
    },
    before,
  );
  await core.policy.refresh();
  return core;
}

/** How long work of before may go on next to that of the new configuration. */
const FORMER_JOBS_MS = 600_000;

export class RunningService {
  readonly #kept: Kept;
  readonly #server: HttpServer;
  #settings: Settings;
  #core: Core;
  #workers: readonly JobWorker[] = [];
  /** Workers of former configurations whose jobs still run. */
  readonly #former = new Set<JobWorker>();
  #replacing = Promise.resolve();
  #keyReload: SigningKeyReload;
  #tlsReload: TlsReload;
  #rootKeyReload: RootKeyReload;
  readonly #registered: RegisteredProcess;

  constructor(kept: Kept, settings: Settings, core: Core, server: HttpServer) {
    this.#kept = kept;
    this.#settings = settings;
    this.#core = core;
    this.#server = server;
    this.#keyReload = new SigningKeyReload({ ...settings, log: kept.log });
    this.#tlsReload = this.#newTlsReload();
    this.#rootKeyReload = this.#newRootKeyReload();
    this.#registered = new RegisteredProcess({
      ...{ database: kept.database, clock: systemClock, log: kept.log, version: kept.version },
      name: `${hostname()}:${process.pid}`,
      works: kept.hasWorkers,
      configDigest: sharedSettingsDigest(settings.config, settings.keyRing),
      rootKeys: () => rootKeyChecks(this.#settings.keyRing),
    });
  }

  get limits(): Config['limits'] {
    return this.#settings.config.limits;
  }

  get core(): Core {
    return this.#core;
  }

  get signingKeys(): SigningKeys {
    return this.#settings.signingKeys;
  }

  /** All that take jobs or run some. */
  get workers(): readonly JobWorker[] {
    return [...this.#workers, ...this.#former];
  }

  /** Begins what goes on in the background. */
  start(): void {
    this.#core.activity.start();
    this.#startParts();
    void this.#registered.start();
  }

  /** New requests and jobs go by these settings; those under way end as they began. Throws before it changes anything. */
  async replace(settings: Settings): Promise<void> {
    await this.#oneAfterTheOther(() => this.#replace(settings));
  }

  /** After the clock was set back: forgets what is remembered until some time. The settings stay. Never throws. */
  async renew(): Promise<void> {
    try {
      await this.#oneAfterTheOther(() => this.#replace(this.#settings));
    } catch (error) {
      this.#kept.log.warn('clock.set', 'what is remembered until some time is kept', describeError(error));
    }
  }

  async #oneAfterTheOther(work: () => Promise<void>): Promise<void> {
    const done = this.#replacing.then(work);
    this.#replacing = done.catch(() => undefined);
    await done;
  }

  async #replace(settings: Settings): Promise<void> {
    const core = await openCore(this.#kept, settings, this.#core);
    const { serving } = mountFeatures(core, this.#kept.assets);
    this.#server.replace(serving);
    this.#stopParts();
    for (const worker of this.#workers) {
      this.#former.add(worker);
      void worker.stop(FORMER_JOBS_MS).finally(() => this.#former.delete(worker));
    }
    this.#settings = settings;
    this.#core = core;
    this.#keyReload = new SigningKeyReload({ ...settings, log: this.#kept.log });
    this.#tlsReload = this.#newTlsReload();
    this.#rootKeyReload = this.#newRootKeyReload();
    this.#startParts();
    void this.#registered.useDigest(sharedSettingsDigest(settings.config, settings.keyRing));
  }

  /** Ends what `start` began, but for the workers. */
  async stop(): Promise<void> {
    this.#stopParts();
    await Promise.all([this.#core.activity.stop(), this.#registered.stop()]);
    await this.#kept.flushTelemetry();
  }

  #newTlsReload(): TlsReload {
    return new TlsReload({
      loaded: this.#settings.loaded,
      server: this.#server,
      clock: systemClock,
      log: this.#kept.log,
    });
  }

  #newRootKeyReload(): RootKeyReload {
    const { hasGeneratedRoot, log } = this.#kept;
    const { config, keyRing } = this.#settings;
    return new RootKeyReload({
      ...{ config, keyRing, log },
      isGenerated: hasGeneratedRoot,
      // What is made with a key, such as the digest of the settings, changes with it.
      changed: () => this.#registered.useDigest(sharedSettingsDigest(config, keyRing)),
    });
  }

  #startParts(): void {
    this.#core.policy.start();
    this.#keyReload.start();
    this.#tlsReload.start();
    this.#rootKeyReload.start();
    if (!this.#kept.hasWorkers) return;
    const { log, jobsDatabase, database } = this.#kept;
    const transport = openTransport(this.#settings.config.email.transport, systemClock);
    const isBusy = () => this.#server.isOverloaded || database.statistics().waiting > 0;
    this.#workers = createJobWorkers({ ...this.#core, database: jobsDatabase, isBusy, transport });
    for (const worker of this.#workers) worker.start();
    void testTransport(transport, log);
  }

  #stopParts(): void {
    this.#keyReload.stop();
    this.#tlsReload.stop();
    this.#rootKeyReload.stop();
    this.#core.policy.stop();
  }
}
