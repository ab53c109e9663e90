/** What differs between `serve`, `worker` and one of several serving processes. */
import type { ConfigurationSyncDeps } from '#app/sync-configuration.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import type { Foundation, FoundationWants } from './foundation.ts';
import type { ProcessContext } from './process-context.ts';
import type { ServiceManager } from './service-manager.ts';

export interface InstancePlan {
  readonly wants: Omit<FoundationWants, 'needsSigningKeys'>;
  /** Whether this process runs background work. */
  readonly hasWorkers: boolean;
  /** Whether other processes may serve instead of this one (`http.workers`). */
  readonly mayHaveMembers: boolean;
  /** One of several serving processes. The first process reports for all. */
  readonly isMember: boolean;
  /** Override of the configured listeners. */
  listeners?(environment: LoadedConfig['environment'], config: Config): Config['http']['listeners'];
  /** Throws if the configuration cannot run here. */
  check?(config: Config): void;
  makeFirstAccounts?(foundation: Foundation): Promise<void>;
  /** Syncs the database with the configuration. */
  sync?(deps: ConfigurationSyncDeps, config: Config): Promise<void>;
  /** Called once the process listens and works, before it counts as started. */
  announce(foundation: Foundation, bound: readonly BoundAddress[]): Promise<void>;
  /** Called after each reload, to report to the process that requested it. */
  reloaded?(isDone: boolean): void;
}

/** An instance whose database is open and in sync with its configuration. */
export interface PreparedInstance {
  readonly plan: InstancePlan;
  readonly context: ProcessContext;
  readonly foundation: Foundation;
  readonly config: Config;
  readonly signingKeys: SigningKeys;
  readonly manager: ServiceManager;
  /** Applies the changes that this process makes to a loaded configuration. */
  adapt(config: Config): Config;
  /** Rejects a configuration that cannot run here, and syncs the database. */
  prepareReload(config: Config, keyRing: KeyRing): Promise<void>;
}
