/** What `serve`, `worker` and one of several serving processes do differently. */
import type { ConfigurationSyncDeps } from '#app/sync-configuration.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import type { CommandIo } from './command-io.ts';
import type { Foundation, FoundationWants } from './foundation.ts';
import type { ServiceManager } from './service-manager.ts';

export interface InstancePlan {
  readonly wants: Omit<FoundationWants, 'needsSigningKeys'>;
  /** Whether background work is done here. */
  readonly hasWorkers: boolean;
  /** Whether other processes may serve in place of this one (`http.workers`). */
  readonly mayHaveMembers: boolean;
  /** This is one of several that serve together; the first of them speaks for all. */
  readonly isMember: boolean;
  /** In place of the configured ones. */
  listeners?(environment: LoadedConfig['environment'], config: Config): Config['http']['listeners'];
  /** Refuses what cannot run here. Throws. */
  check?(config: Config): void;
  makeFirstAccounts?(foundation: Foundation): Promise<void>;
  /** Brings the database in line with the configuration. */
  sync?(deps: ConfigurationSyncDeps, config: Config): Promise<void>;
  /** Runs once it listens and works, before it counts as started. */
  announce(foundation: Foundation, bound: readonly BoundAddress[]): Promise<void>;
  /** After each reload, for the process that asked for it. */
  reloaded?(isDone: boolean): void;
}

/** An instance whose database is open and in line with its configuration. */
export interface PreparedInstance {
  readonly plan: InstancePlan;
  readonly io: CommandIo;
  readonly foundation: Foundation;
  readonly config: Config;
  readonly signingKeys: SigningKeys;
  readonly manager: ServiceManager;
  /** What this process changes of a configuration that it has read. */
  adapt(config: Config): Config;
  /** Refuses what cannot run here, and brings the database in line. */
  prepareReload(config: Config, keyRing: KeyRing): Promise<void>;
}
