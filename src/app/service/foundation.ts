/**
 * Opens what every command with database access needs, in the order of operations 3.2: configuration, log, data
 * directory, database, secrets and migrations. Then checks that they belong together.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type DataDirectory, prepareDataDirectory } from '#app/data-directory/data-directory.ts';
import { hasEncryptionKey } from '#app/data-directory/generated-secrets.ts';
import { readRootKeys, withRootKeys } from '#app/data-directory/root-key-files.ts';
import type { Config } from '#config/config.ts';
import { type GeneratedSecrets, type LoadedConfig, loadConfig } from '#config/load.ts';
import type { PostgresConfig } from '#config/sections/database.ts';
import { requireCompleteImport } from '#domain/import/incomplete-import.ts';
import { readSigningKeys, SigningKeyProblems } from '#domain/keys/read-signing-keys.ts';
import { hasKeyCheck, verifyServerState } from '#domain/keys/server-state.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { PolicyModule } from '#domain/policy/module/policy-module.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { configurationError } from '#platform/config/problems.ts';
import { nodeAt, type Origin, type Path } from '#platform/config/tree.ts';
import { type EmbeddedUse, useEmbeddedServer } from '#platform/embedded-postgres/embedded-server.ts';
import { type OpenLog, openLog, type PreparedLog } from '#platform/log/log-writer.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { RolePassword } from '#platform/postgres/role-password.ts';
import { type ConfigurationOptions, configSources, type ProcessContext } from './process-context.ts';

const MIGRATION_POLL_MS = 1_000;
/** One for single queries and one for transactions. */
const JOB_CONNECTIONS = 2;
/** With fewer connections in total, requests and background work share a pool. */
const LEAST_TO_SHARE = 5;

export const MIGRATIONS_DIRECTORY = join(packageRoot, 'migrations');

export interface Foundation {
  /** Includes the secrets of the data directory, at the lowest precedence. */
  readonly loaded: LoadedConfig;
  readonly config: Config;
  readonly openLog: OpenLog;
  readonly database: OpenDatabase;
  /** A separate pool for background work, so that requests do not wait for its connections. */
  readonly jobsDatabase: OpenDatabase;
  /** Connection for migrations, which bypasses any pooler. */
  readonly directConnection: ConnectionTarget;
  readonly keyRing: KeyRing;
  /** Whether the root key was generated in the data directory. */
  readonly hasGeneratedRoot: boolean;
  /**
   * Returns true if a reloaded configuration uses the root key of the data directory, which may have been rotated
   * since.
   */
  usesGeneratedRoot(loaded: Pick<LoadedConfig, 'config'>): boolean;
  /** Present if requested. */
  readonly signingKeys: SigningKeys | undefined;
  /** The operator's policy module. */
  readonly policyModule: PolicyModule | undefined;
  /**
   * Rereads all sources, with the secrets of the data directory.
   * @param started provides the settings that need a restart
   */
  readConfig(started?: LoadedConfig): LoadedConfig;
  /**
   * Uses the password of another configuration for new database connections.
   * @returns a function that reverts it
   */
  useDatabasePassword(config: Config): () => void;
  /** Opens the log of another configuration. Throws if that fails. */
  prepareLog(config: Config): PreparedLog;
  /** Note for the operator: location of the embedded database if it is outside the data directory. */
  readonly note: string | undefined;
  /** Closes the database, stops the embedded server unless others use it, and flushes the log. */
  close(): Promise<void>;
}

/** Opens the log as configured; `--quiet` omits informational lines. */
export function openConfiguredLog(config: Config, options: ConfigurationOptions): OpenLog {
  const log = openLog(logOptions(config, options));
  // However the process ends, also after an uncaught error: the buffered lines may contain the reason.
  process.once('exit', () => log.sink.flushSync());
  return log;
}

function logOptions({ logging }: Config, { isQuiet }: ConfigurationOptions): Config['logging'] {
  const isVerbose = logging.level !== 'error' && logging.level !== 'warn';
  return isQuiet && isVerbose ? { ...logging, level: 'warn' } : logging;
}

/** A running database server, and how to release it. */
export interface ServerInUse {
  readonly connection: ConnectionTarget;
  /** For migrations. */
  readonly directConnection: ConnectionTarget;
  readonly note: string | undefined;
  release(): Promise<void>;
}

/** Starts or joins the embedded server, or returns the external one. Creates the data directory if needed. */
export async function useServer(config: Config, log: OpenLog['log'], version: string): Promise<ServerInUse> {
  const { server, migrationServer } = config.database;
  if (server.kind === 'postgres') {
    const connection = targetOf(server);
    const directConnection = migrationServer === undefined ? connection : targetOf(migrationServer);
    return { connection, directConnection, note: undefined, release: async () => {} };
  }
  await prepareForDatabase(config, version);
  const use: EmbeddedUse = await useEmbeddedServer({
    dataDir: config.dataDir,
    clusterDir: server.directory,
    serverUser: server.user,
    binDir: server.binDir,
    log,
  });
  return {
    connection: use.connection,
    directConnection: use.connection,
    note: use.note,
    release: () => use.release(),
  };
}

export interface FoundationWants {
  /** False: exit 1 if migrations are pending. */
  readonly shouldMigrate: boolean;
  /** How long to wait for another process to apply pending migrations, before exit 75. */
  readonly migrationWaitSeconds?: number;
  /** Maximum wait for another process that is migrating. */
  readonly migrateTimeoutSeconds?: number | undefined;
  /** Reserve connections for background work. */
  readonly hasJobs?: boolean;
  /** Load the signing keys, and generate them if no source sets any. */
  readonly needsSigningKeys: boolean;
  /** Accept a database whose import did not complete. */
  readonly mayBeIncomplete?: boolean;
}

/** Opens everything, or closes what it has opened and throws. */
export async function openFoundation(
  options: ConfigurationOptions,
  context: ProcessContext,
  wants: FoundationWants,
): Promise<Foundation> {
  const sources = configSources(options, context);
  const first = loadConfig(sources);
  const log = openConfiguredLog(first.config, options);
  for (const warning of first.warnings) log.log.warn('startup', warning);
  for (const deprecation of first.deprecations) log.log.warn('deprecated', deprecation);
  const closers: (() => Promise<void>)[] = [() => log.sink.flush()];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    // First of all, so that an unreadable key is found before the database is changed.
    if (first.config.secrets.keys.length > 0) loadSigningKeys(first.config.secrets, first.tree);
    const policyModule = await loadConfiguredModule(first);
    const server = await useServer(first.config, log.log, context.version);
    closers.push(() => server.release());
    context.signals.check();
    const open = async (maxConnections: number): Promise<OpenDatabase> => {
      const opened = await openDatabase({
        connection: server.connection,
        log: log.log,
        clock: systemClock,
        ...databaseOptions(first.config, maxConnections),
      });
      closers.push(() => opened.close());
      return opened;
    };
    const { maxConnections } = first.config.database;
    const forJobs = wants.hasJobs === true && maxConnections >= LEAST_TO_SHARE ? JOB_CONNECTIONS : 0;
    const database = await open(maxConnections - forJobs);
    const jobsDatabase = forJobs === 0 ? database : await open(forJobs);
    context.signals.check();
    const generated = await generateSecrets(first.config, database, context.version, wants.needsSigningKeys, log.log);
    const readConfig = (started?: LoadedConfig): LoadedConfig =>
      loadConfig({
        ...sources,
        // Read the same files: if one was removed, that is an error, and no file in a default location replaces it.
        ...(first.files.length > 0 && { files: first.files }),
        generated: withRootKeys(first.config.dataDir, generated),
        ...(started !== undefined && { started }),
      });
    const useDatabasePassword = ({ database: { server: next } }: Config): (() => void) => {
      const { password } = server.connection;
      if (next.kind !== 'postgres' || next.password === undefined || !(password instanceof RolePassword))
        return () => {};
      return password.replaceWith(next.password.reveal());
    };
    const prepareLog = (config: Config) => log.prepare(logOptions(config, options));
    const loaded = readConfig();
    const signingKeys = wants.needsSigningKeys ? loadSigningKeys(loaded.config.secrets, loaded.tree) : undefined;
    await requireMigrations(first.config, server.directConnection, wants, log.log, context.version);
    const keyRing = keyRingOf(loaded.config);
    await verifyServerState(database, keyRing, loaded.config.protocolName);
    if (wants.mayBeIncomplete !== true) await requireCompleteImport(database);
    context.signals.check();
    const { directConnection } = server;
    const hasGeneratedRoot = generated.encryptionKey !== undefined;
    const usesGeneratedRoot = ({ config }: Pick<LoadedConfig, 'config'>): boolean =>
      hasGeneratedRoot && config.secrets.encryption?.reveal() === readRootKeys(first.config.dataDir)?.current;
    const connections = { database, jobsDatabase, directConnection };
    const opened = {
      openLog: log,
      ...connections,
      keyRing,
      hasGeneratedRoot,
      usesGeneratedRoot,
      signingKeys,
      policyModule,
      readConfig,
      prepareLog,
      useDatabasePassword,
      close,
    };
    return { loaded, config: loaded.config, ...opened, note: server.note };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the migrations of a configured database. The embedded one is backed up before a migration drops anything. */
export function migrationsOf(config: Config, connection: ConnectionTarget, log: OpenLog['log'], version: string) {
  const { dataDir, database, http } = config;
  const backup = { dataDir, connection, version, publicBase: http.publicBase, clock: systemClock, log };
  return {
    ...{ connection, directory: MIGRATIONS_DIRECTORY, log, clock: systemClock },
    connectTimeoutSeconds: database.connectTimeoutSeconds,
    beforeContraction:
      database.server.kind === 'embedded'
        ? async () => (await import('#app/backup/automatic-backup.ts')).backUpBeforeContraction(backup)
        : undefined,
  };
}

/** Applies pending migrations, or waits for the process that does. */
async function requireMigrations(
  config: Config,
  connection: ConnectionTarget,
  wants: FoundationWants,
  log: OpenLog['log'],
  version: string,
): Promise<void> {
  const { migrateTimeoutSeconds, migrationWaitSeconds = 0, shouldMigrate } = wants;
  const deadline = performance.now() + migrationWaitSeconds * 1000;
  for (;;) {
    const { pending } = await migrate({
      ...migrationsOf(config, connection, log, version),
      check: !shouldMigrate,
      ...(migrateTimeoutSeconds !== undefined && { timeoutSeconds: migrateTimeoutSeconds }),
    });
    if (pending.length === 0) return;
    if (performance.now() >= deadline) {
      const exitCode = migrationWaitSeconds > 0 ? ExitCode.tempFail : ExitCode.failure;
      throw new ExitError(exitCode, `migrations are pending: ${pending.join(', ')}. Run latchkey database migrate.`);
    }
    await pause(MIGRATION_POLL_MS);
  }
}

/** Generates the secrets that no source sets, unless the database was created with a key that is missing. */
async function generateSecrets(
  config: Config,
  database: OpenDatabase,
  version: string,
  needsSigningKeys: boolean,
  log: OpenLog['log'],
): Promise<GeneratedSecrets> {
  const needsEncryptionKey = config.secrets.encryption === undefined;
  const needsKeys = needsSigningKeys && config.secrets.keys.length === 0;
  if (needsEncryptionKey && !(await hasEncryptionKey(config.dataDir)) && (await hasKeyCheck(database))) {
    throw new ExitError(
      ExitCode.config,
      `the encryption key of this database is missing: ${join(config.dataDir, 'encryption.key')} does not exist. ` +
        'Restore that file, set secrets.encryption, or correct data_dir. A new key could not decrypt the stored data.',
    );
  }
  if (!needsEncryptionKey && !needsKeys) return {};
  const directory = await prepare(config, version, { needsEncryptionKey, needsSigningKeys: needsKeys });
  for (const warning of directory.warnings) log.warn('startup', warning);
  return { encryptionKey: directory.encryptionKey, keysDir: directory.keysDir };
}

/** Creates the data directory without any secrets. */
export async function prepareForDatabase(config: Config, version: string): Promise<void> {
  await prepare(config, version, { needsEncryptionKey: false, needsSigningKeys: false });
}

async function prepare(
  config: Config,
  version: string,
  needs: { readonly needsEncryptionKey: boolean; readonly needsSigningKeys: boolean },
): Promise<DataDirectory> {
  const isRoot = process.getuid?.() === 0;
  const isTraversable = isRoot && config.database.server.kind === 'embedded';
  return await prepareDataDirectory({ dataDir: config.dataDir, isTraversable, version, ...needs });
}

/** @throws ExitError 78 without a root key */
export function keyRingOf(config: Config): KeyRing {
  const { encryption, encryptionPrevious } = config.secrets;
  if (encryption === undefined) throw new ExitError(ExitCode.config, 'secrets.encryption: is required');
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  return new KeyRing(
    bytes(encryption.reveal()),
    encryptionPrevious.map((previous) => bytes(previous.reveal())),
  );
}

export function targetOf(server: PostgresConfig): ConnectionTarget {
  const { servers, sessionAttributes } = server;
  const [first, ...otherServers] = servers;
  const { user, database, password, session, tls, sslMode, sslCa, sslCertificate, sslKey } = server;
  return {
    ...first,
    otherServers,
    sessionAttributes,
    user,
    database,
    ...(password !== undefined && { password: new RolePassword(password.reveal()) }),
    ...session,
    ssl: {
      ...tls,
      mode: sslMode,
      ...(sslCa !== undefined && { ca: sslCa.reveal() }),
      ...(sslCertificate !== undefined && { certificate: sslCertificate.reveal() }),
      ...(sslKey !== undefined && { key: sslKey.reveal() }),
    },
  };
}

function databaseOptions(config: Config, maxConnections: number) {
  const { database, limits } = config;
  return {
    pooler: database.pooler,
    maxConnections,
    minConnections: Math.min(database.minConnections, maxConnections),
    connectTimeoutSeconds: database.connectTimeoutSeconds,
    acquireTimeoutSeconds: database.acquireTimeoutSeconds,
    idleTimeoutSeconds: database.idleTimeoutSeconds ?? null,
    maxLifetimeSeconds: database.maxLifetimeSeconds ?? null,
    statementTimeoutSeconds: database.statementTimeoutSeconds,
    slowStatementSeconds: database.slowStatementSeconds,
    maxWaiters: limits.maxDbWaiters,
    applicationName: `latchkey:${process.pid}`,
  };
}

/**
 * Loads the module at `policy.module`.
 * @throws ExitError 78 with the location of the setting
 */
export async function loadConfiguredModule({ config, tree }: LoadedConfig): Promise<PolicyModule | undefined> {
  const { modulePath } = config.policy;
  if (modulePath === undefined) return undefined;
  const { loadPolicyModule } = await import('#domain/policy/module/policy-module.ts');
  try {
    return await loadPolicyModule(modulePath);
  } catch (error) {
    const at = nodeAt(tree, ['policy', 'module'])?.at;
    throw configurationError([{ key: 'policy.module', message: `${modulePath}: ${describeError(error).message}`, at }]);
  }
}

/**
 * Loads the signing keys of a configuration.
 * @param tree gives the locations of the entries
 * @throws ExitError 78 naming each entry with file, line and column
 */
export function loadSigningKeys({ keys }: Config['secrets'], tree: LoadedConfig['tree']): SigningKeys {
  const placeOf = (path: Path): Origin | undefined => nodeAt(tree, path)?.at;
  const places = new Map(keys.map(({ name }, index) => [name, placeOf(['secrets', 'keys', index])]));
  const directory = placeOf(['secrets', 'keys_dir']);
  try {
    return readSigningKeys(
      keys.map(({ key, encoding, password, ...rest }) => ({
        ...rest,
        key: Buffer.from(key.reveal(), encoding),
        password: password?.reveal(),
      })),
    );
  } catch (error) {
    if (!(error instanceof SigningKeyProblems)) throw error;
    throw configurationError(
      error.problems.map(({ name, message }) => ({
        key: name ?? 'secrets.keys',
        message,
        at: (name === undefined ? placeOf(['secrets', 'keys']) : places.get(name)) ?? directory,
      })),
    );
  }
}
