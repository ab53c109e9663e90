/**
 * `latchkey doctor`: looks at a deployment from where it runs, and says what to do about what it finds (operations 3.8).
 * It changes nothing, but for starting the embedded server while nobody runs it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { useEmbeddedServer } from '#platform/embedded-postgres/embedded-server.ts';
import { migrationStatus } from '#platform/postgres/migrator/migrate.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { type CommandIo, type ConfigurationOptions, configSources } from './command-io.ts';
import { type AddressCheckDeps, checkAddresses, checkPublishedKeys } from './doctor/address-checks.ts';
import { askOverHttp } from './doctor/ask.ts';
import { checkDatabase } from './doctor/database-checks.ts';
import { type Finding, fail, findingsText, skip } from './doctor/finding.ts';
import { checkHomeserver } from './doctor/homeserver-checks.ts';
import { checkMail, checkProviders } from './doctor/peer-checks.ts';
import { checkConfiguration } from './doctor/settings-checks.ts';
import { checkCertificates } from './doctor/tls-checks.ts';
import { keyRingOf, loadSigningKeys, MIGRATIONS_DIRECTORY, targetOf } from './foundation.ts';

/** An attempt takes up to three seconds by itself; nobody waits for a server that is starting. */
const CONNECT_SECONDS = 0;

/** What there is to say is in the findings. */
const NO_LOG: Log = { error() {}, warn() {}, info() {}, debug() {} };

/** Prints what was found. @returns the exit code: 10 when something fails, 11 when there are only warnings */
export async function runDoctor(options: ConfigurationOptions, io: CommandIo): Promise<number> {
  const findings = await io.signals.race(examine(options, io));
  io.stdout(options.isJson ? `${JSON.stringify(findings)}\n` : findingsText(findings));
  if (findings.some(({ status }) => status === 'fail')) return ExitCode.doctorFails;
  return findings.some(({ status }) => status === 'warn') ? ExitCode.doctorWarns : ExitCode.ok;
}

async function examine(options: ConfigurationOptions, io: CommandIo): Promise<readonly Finding[]> {
  const { loaded, findings } = await checkConfiguration(configSources(options, io));
  // Nothing else can be judged by settings that the service refuses.
  if (loaded === undefined) return findings;
  const { config } = loaded;
  const ask = askOverHttp(io.version);
  const deps = { config, ask, now: systemClock.now() };
  return [
    ...findings,
    ...(await examineDatabase(loaded, deps.now)),
    ...(await checkAddresses(deps)),
    ...checkCertificates(deps),
    await examineKeys(loaded, deps),
    await checkMail(config),
    ...(await checkProviders(config.upstreamOauth2, ask)),
    ...(await checkHomeserver(deps)),
  ];
}

async function examineDatabase(loaded: LoadedConfig, now: number): Promise<readonly Finding[]> {
  const { config } = loaded;
  const { server, migrationServer } = config.database;
  const clusterDirectory = server.kind === 'embedded' ? (server.directory ?? join(config.dataDir, 'db')) : undefined;
  if (clusterDirectory !== undefined && !existsSync(clusterDirectory))
    return [skip('database', `there is none yet in ${clusterDirectory}; the first start makes it`)];
  const closers: (() => Promise<void>)[] = [];
  try {
    const { connection, release } = await reachServer(config);
    closers.push(release);
    const shared = { log: NO_LOG, clock: systemClock, connectTimeoutSeconds: CONNECT_SECONDS };
    const { pending, problem } = await migrationStatus({
      ...shared,
      connection: migrationServer === undefined ? connection : targetOf(migrationServer),
      directory: MIGRATIONS_DIRECTORY,
    });
    if (problem !== undefined)
      return [fail('database', problem, 'docs/guides/postgresql.md says how the database is set up')];
    const database = await openDatabase({
      ...shared,
      connection,
      pooler: config.database.pooler,
      maxConnections: 2,
      applicationName: 'latchkey doctor',
    });
    closers.push(() => database.close());
    const keyRing = config.secrets.encryption === undefined ? undefined : keyRingOf(config);
    return await checkDatabase({ config, database, pending: pending.map(nameOf), keyRing, clusterDirectory, now });
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return [fail('database', error.message, 'docs/guides/postgresql.md says how the database is set up')];
  } finally {
    for (const closer of closers.reverse()) await closer();
  }
}

/** Unlike other commands it makes no data directory, and notes no version there. */
async function reachServer({ dataDir, database: { server } }: Config) {
  if (server.kind === 'postgres') return { connection: targetOf(server), release: async () => {} };
  const use = await useEmbeddedServer({
    dataDir,
    clusterDir: server.directory,
    serverUser: server.user,
    binDir: server.binDir,
    log: NO_LOG,
  });
  return { connection: use.connection, release: () => use.release() };
}

async function examineKeys(loaded: LoadedConfig, deps: AddressCheckDeps): Promise<Finding> {
  const { keys } = loaded.config.secrets;
  if (keys.length === 0) return skip('secrets.keys', 'no signing keys were made yet; the first start does');
  try {
    return await checkPublishedKeys(deps, loadSigningKeys(loaded.config.secrets, loaded.tree));
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return fail('secrets.keys', error.message, 'docs/guides/keys.md says which keys there have to be');
  }
}
