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
import { describeError } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import type { JobWorker } from '#platform/jobs/worker.ts';
import type { MailTransport } from '#platform/mail/mail.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { hasherOptions, openHasher } from './accounts.ts';
import { RootKeyReload } from './root-key-reload.ts';
import { SigningKeyReload } from './signing-key-reload.ts';
import { testTransport } from './test-transport.ts';
import { TlsReload } from './tls-reload.ts';

/** What a reload keeps. */
export interface Kept
  extends Pick<
    Resources,
    'clock' | 'database' | 'estimator' | 'instance' | 'lag' | 'log' | 'metricsPage' | 'tracing' | 'version'
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
  const { clock, database, environment, log } = kept;
  const { config, keyRing, policyModule, signingKeys } = settings;
  const core = createCore(
    {
      ...kept,
      ...{ config, keyRing, policyModule, signingKeys },
      secretKeys: await openSecretKeys({ database, keyRing, clock }),
      hasher:
        before === undefined
          ? openHasher(config, log, environment)
          : before.hasher.withSchemes(hasherOptions(config, log, environment)),
      outbound: new OutboundHttp({ ...config.outbound, clock, log }),
    },
    before,
  );
  await core.policy.refresh();
  return core;
}

/** What goes on in the background, by one configuration. */
interface BackgroundParts {
  /** Of files that change by themselves. */
  readonly rereaders: readonly { start(): void; stop(): void }[];
  /** None where other processes do the work. */
  readonly workers: readonly JobWorker[];
  readonly transport: MailTransport | undefined;
}

/** How long work of before may go on next to that of the new configuration. */
const FORMER_JOBS_MS = 600_000;

export class RunningService {
  readonly #kept: Kept;
  readonly #server: HttpServer;
  #settings: Settings;
  #core: Core;
  /** Workers of former configurations whose jobs still run. */
  readonly #former = new Set<JobWorker>();
  #replacing = Promise.resolve();
  #isStopping = false;
  #parts: BackgroundParts;
  readonly #registered: RegisteredProcess;

  constructor(kept: Kept, settings: Settings, core: Core, server: HttpServer) {
    this.#kept = kept;
    this.#settings = settings;
    this.#core = core;
    this.#server = server;
    this.#parts = this.#newParts(settings, core);
    this.#registered = new RegisteredProcess({
      ...{ database: kept.database, clock: kept.clock, log: kept.log, version: kept.version },
      name: `${hostname()}:${process.pid}`,
      works: kept.hasWorkers,
      configDigest: sharedSettingsDigest(settings.config, settings.keyRing),
      rootKeys: () => rootKeyChecks(this.#settings.keyRing),
      untrustedProxies: () => server.untrustedProxies,
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
    return [...this.#parts.workers, ...this.#former];
  }

  /** Begins what goes on in the background. */
  start(): void {
    this.#core.activity.start();
    this.#startParts();
    void this.#registered.start();
  }

  /**
   * New requests and jobs go by these settings; those under way end as they began. Throws before it changes anything.
   * @param commit brings others in line once everything is made; when that fails, nothing has changed here
   * @returns how many processes keep the former ones
   */
  async replace(settings: Settings, commit: () => Promise<void>): Promise<number> {
    await this.#oneAfterTheOther(() => this.#replace(settings, commit));
    return 0;
  }

  /** The settings stay as they are from now on, since the service is about to end. */
  freeze(): void {
    this.#isStopping = true;
  }

  /** After the clock was set back: forgets what is remembered until some time. The settings stay. Never throws. */
  async renew(): Promise<void> {
    try {
      await this.#oneAfterTheOther(() => this.#replace(this.#settings, async () => {}));
    } catch (error) {
      this.#kept.log.warn('clock.set', 'what is remembered until some time is kept', describeError(error));
    }
  }

  async #oneAfterTheOther(work: () => Promise<void>): Promise<void> {
    const done = this.#replacing.then(work);
    this.#replacing = done.catch(() => undefined);
    await done;
  }

  /** Whatever may fail comes before anything is changed; from then on nothing is awaited. */
  async #replace(settings: Settings, commit: () => Promise<void>): Promise<void> {
    const core = await openCore(this.#kept, settings, this.#core);
    const useServing = this.#server.prepare(mountFeatures(core, this.#kept.assets).serving);
    const parts = this.#newParts(settings, core);
    const digest = sharedSettingsDigest(settings.config, settings.keyRing);
    if (this.#isStopping) throw new Error('the service stops');
    const hashing = hasherOptions(settings.config, this.#kept.log, this.#kept.environment);
    await commit();
    useServing();
    core.hasher.limit(hashing);
    this.#stopParts();
    this.#settings = settings;
    this.#core = core;
    // What has been told to end does, and nothing begins.
    if (this.#isStopping) return;
    for (const worker of this.#parts.workers) {
      this.#former.add(worker);
      void worker.stop(FORMER_JOBS_MS).finally(() => this.#former.delete(worker));
    }
    this.#parts = parts;
    this.#startParts();
    void this.#registered.useDigest(digest);
  }

  /** Ends what `start` began, but for the workers. */
  async stop(): Promise<void> {
    this.#stopParts();
    await Promise.all([this.#core.activity.stop(), this.#registered.stop()]);
    await this.#kept.flushTelemetry();
  }

  /** Made, and not started. */
  #newParts(settings: Settings, core: Core): BackgroundParts {
    const { clock, database, hasGeneratedRoot, hasWorkers, jobsDatabase, log } = this.#kept;
    const { config, keyRing, loaded } = settings;
    const transport = hasWorkers ? openTransport(config.email.transport, clock) : undefined;
    const isBusy = () => this.#server.isOverloaded || database.statistics().waiting > 0;
    return {
      rereaders: [
        new SigningKeyReload({ ...settings, log }),
        new TlsReload({ loaded, server: this.#server, clock, log }),
        new RootKeyReload({
          ...{ config, keyRing, log },
          isGenerated: hasGeneratedRoot,
          // What is made with a key, such as the digest of the settings, changes with it.
          changed: () => this.#registered.useDigest(sharedSettingsDigest(config, keyRing)),
        }),
      ],
      workers: hasWorkers ? createJobWorkers({ ...core, database: jobsDatabase, isBusy, transport }) : [],
      transport,
    };
  }

  #startParts(): void {
    const { rereaders, transport, workers } = this.#parts;
    this.#core.policy.start();
    for (const part of [...rereaders, ...workers]) part.start();
    void testTransport(transport, this.#kept.log);
  }

  #stopParts(): void {
    for (const rereader of this.#parts.rereaders) rereader.stop();
    this.#core.policy.stop();
  }
}
