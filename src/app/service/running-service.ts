/**
 * The running service of this process: everything derived from the configuration, replaced as a whole on reload
 * (operations 8.6). The database, the listeners and unwritten activity are kept.
 */
import { mountFeatures } from '#app/app.ts';
import { listPermissionProblems } from '#app/data-directory/data-directory.ts';
import { createJobWorkers } from '#app/jobs.ts';
import { sweeps } from '#app/sweeps.ts';
import type { AssetFiles } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { sharedSettingsDigest } from '#config/shared-settings.ts';
import { type Core, createCore, type Resources } from '#domain/core.ts';
import { openSecretKeys } from '#domain/keys/secret-keys.ts';
import { rootKeyChecks } from '#domain/keys/server-state.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { PolicyModule } from '#domain/policy/module/policy-module.ts';
import { describeError } from '#platform/base/log.ts';
import { processAccount } from '#platform/base/ownership.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import type { JobWorker } from '#platform/jobs/worker.ts';
import type { MailTransport } from '#platform/mail/mail.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { hasherOptions, openHasher } from './password-hashing.ts';
import { RootKeyReload } from './root-key-reload.ts';
import { SigningKeyReload } from './signing-key-reload.ts';
import { testTransport } from './test-transport.ts';
import { TlsReload } from './tls-reload.ts';

/** Kept across reloads. */
export interface Kept
  extends Pick<
    Resources,
    | 'clock'
    | 'database'
    | 'estimator'
    | 'instance'
    | 'lag'
    | 'log'
    | 'metricsPage'
    | 'processName'
    | 'tracing'
    | 'version'
  > {
  readonly jobsDatabase: OpenDatabase;
  readonly environment: LoadedConfig['environment'];
  readonly assets: AssetFiles;
  readonly hasWorkers: boolean;
  /** Sends pending telemetry, for a few seconds at most. */
  readonly flushTelemetry: () => Promise<void>;
  /** Whether the root key was generated in the data directory. */
  readonly hasGeneratedRoot: boolean;
}

/** Derived from the configuration. */
export interface Settings {
  readonly loaded: LoadedConfig;
  /** Keys whose values in the sources need a restart. */
  readonly restart: readonly string[];
  /** When the sources were read, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly config: Config;
  readonly keyRing: KeyRing;
  readonly signingKeys: SigningKeys;
  readonly policyModule: PolicyModule | undefined;
}

/** @param before the core that the new one replaces */
export async function openCore(kept: Kept, settings: Settings, before?: Core): Promise<Core> {
  const { clock, database, environment, log } = kept;
  const { config, keyRing, loaded, policyModule, readAt, restart, signingKeys } = settings;
  const core = createCore(
    {
      ...kept,
      ...{ config, keyRing, policyModule, signingKeys },
      configuration: { loaded: { ...loaded, config }, restart, readAt },
      secretKeys: await openSecretKeys({ database, keyRing, clock }),
      hasher:
        before === undefined
          ? openHasher(config, log, environment)
          : before.hasher.withSchemes(hasherOptions(config, log, environment)),
      outbound: new OutboundHttp({ ...config.outbound, clock, log }),
      deployment: {
        cleanUpQueues: sweeps.map(({ name }) => name),
        settings: loaded,
        listFileProblems: () => listPermissionProblems(config.dataDir, processAccount()),
      },
    },
    before,
  );
  await core.policy.refresh();
  return core;
}

/** Background work of one configuration. */
interface BackgroundParts {
  /** Reload files that may change at any time. */
  readonly rereaders: readonly { start(): void; stop(): void }[];
  /** Empty if other processes run the jobs. */
  readonly workers: readonly JobWorker[];
  readonly transport: MailTransport | undefined;
}

/** How long jobs of the former configuration may continue alongside new ones. */
const FORMER_JOBS_MS = 600_000;

export class RunningService {
  readonly #kept: Kept;
  readonly #server: HttpServer;
  #settings: Settings;
  #core: Core;
  /** Workers of former configurations with running jobs. */
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
      name: kept.processName,
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

  /** All workers that take or run jobs. */
  get workers(): readonly JobWorker[] {
    return [...this.#parts.workers, ...this.#former];
  }

  /** Starts background work. */
  start(): void {
    this.#core.activity.start();
    this.#startParts();
    void this.#registered.start();
  }

  /**
   * Applies settings to new requests and jobs; those in progress are unaffected. Throws before it changes anything.
   * @param commit runs once everything is created; if it fails, nothing has changed here
   * @returns the number of processes that keep the former settings
   */
  async replace(settings: Settings, commit: () => Promise<void>): Promise<number> {
    await this.#oneAfterTheOther(() => this.#replace(settings, commit));
    return 0;
  }

  /** Ignores further reloads because the service is shutting down. */
  freeze(): void {
    this.#isStopping = true;
  }

  /** Clears caches with an expiry after the clock was set back. Keeps the settings. Never throws. */
  async renew(): Promise<void> {
    try {
      await this.#oneAfterTheOther(() => this.#replace(this.#settings, async () => {}));
    } catch (error) {
      this.#kept.log.warn('clock.set', 'caches could not be cleared', describeError(error));
    }
  }

  async #oneAfterTheOther(work: () => Promise<void>): Promise<void> {
    const done = this.#replacing.then(work);
    this.#replacing = done.catch(() => undefined);
    await done;
  }

  /** Everything that may fail comes before the first change. After that, nothing is awaited. */
  async #replace(settings: Settings, commit: () => Promise<void>): Promise<void> {
    const core = await openCore(this.#kept, settings, this.#core);
    const useServing = this.#server.prepare(mountFeatures(core, this.#kept.assets).serving);
    const parts = this.#newParts(settings, core);
    const digest = sharedSettingsDigest(settings.config, settings.keyRing);
    if (this.#isStopping) throw new Error('the service is stopping');
    const hashing = hasherOptions(settings.config, this.#kept.log, this.#kept.environment);
    await commit();
    useServing();
    core.hasher.limit(hashing);
    this.#stopParts();
    this.#settings = settings;
    this.#core = core;
    // During a shutdown, nothing new is started.
    if (this.#isStopping) return;
    for (const worker of this.#parts.workers) {
      this.#former.add(worker);
      void worker.stop(FORMER_JOBS_MS).finally(() => this.#former.delete(worker));
    }
    this.#parts = parts;
    this.#startParts();
    void this.#registered.useDigest(digest);
  }

  /** Stops what `start` started, except the workers. */
  async stop(): Promise<void> {
    this.#stopParts();
    await Promise.all([this.#core.activity.stop(), this.#registered.stop()]);
    await this.#kept.flushTelemetry();
  }

  /** Creates the parts without starting them. */
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
          // Values derived from a key, such as the digest of the settings, change with it.
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
