/**
 * `latchkey doctor`: checks a deployment from the machine that it runs on and suggests fixes (operations 3.8). It
 * changes nothing, but starts the embedded server if it is not running.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keyRingOf, loadSigningKeys, MIGRATIONS_DIRECTORY, targetOf } from '#app/service/foundation.ts';
import { configSources } from '#app/service/process-context.ts';
import { sweeps } from '#app/sweeps.ts';
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import { type AddressCheckDeps, checkAddresses, checkPublishedKeys } from '#domain/health/address-checks.ts';
import { askOverHttp } from '#domain/health/ask.ts';
import { checkDatabase, checkNew } from '#domain/health/database-checks.ts';
import { type Finding, fail, findingsText, skip } from '#domain/health/finding.ts';
import { checkHomeserver } from '#domain/health/homeserver-checks.ts';
import { checkMail, checkProviders } from '#domain/health/peer-checks.ts';
import { checkCertificates } from '#domain/health/tls-checks.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { useEmbeddedServer } from '#platform/embedded-postgres/embedded-server.ts';
import { migrationStatus } from '#platform/postgres/migrator/migrate.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { checkConfiguration } from './doctor/settings-checks.ts';

/** One attempt takes up to three seconds. The command does not wait for a server that is still starting. */
const CONNECT_SECONDS = 0;

/** The findings contain all messages. */
const NO_LOG: Log = { error() {}, warn() {}, info() {}, debug() {} };

/**
 * Prints the findings.
 * @returns the exit code: 10 if a check fails, 11 if there are only warnings
 */
export async function runDoctor(options: CommandOptions, io: CommandIo): Promise<number> {
  const findings = await io.signals.race(examine(options, io));
  io.stdout(options.isJson ? `${JSON.stringify(findings)}\n` : findingsText(findings));
  if (findings.some(({ status }) => status === 'fail')) return ExitCode.doctorFails;
  return findings.some(({ status }) => status === 'warn') ? ExitCode.doctorWarns : ExitCode.ok;
}

async function examine(options: CommandOptions, io: CommandIo): Promise<readonly Finding[]> {
  const { loaded, findings } = await checkConfiguration(configSources(options, io));
  // The other checks need a valid configuration.
  if (loaded === undefined) return findings;
  const { config } = loaded;
  const ask = askOverHttp(io.version);
  const deps = { config, ask, now: systemClock.now() };
  return [
    ...findings,
    ...(await examineDatabase(loaded, deps.now, io.version)),
    ...(await checkAddresses(deps)),
    ...checkCertificates(deps),
    await examineKeys(loaded, deps),
    await checkMail(config),
    ...(await checkProviders(config.upstreamOauth2, ask)),
    ...(await checkHomeserver(deps)),
  ];
}

async function examineDatabase(loaded: LoadedConfig, now: number, version: string): Promise<readonly Finding[]> {
  const { config } = loaded;
  const { server, migrationServer } = config.database;
  const clusterDirectory = server.kind === 'embedded' ? (server.directory ?? join(config.dataDir, 'db')) : undefined;
  const homeserver = openHomeserver({ config, clock: systemClock, log: NO_LOG, version });
  if (clusterDirectory !== undefined && !existsSync(clusterDirectory)) {
    const missing = skip('database', `not created yet in ${clusterDirectory}; the first start creates it`);
    return [missing, ...(await checkNew({ config, homeserver }))];
  }
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
      return [fail('database', problem, 'See docs/guides/postgresql.md for how to set up the database')];
    const database = await openDatabase({
      ...shared,
      connection,
      pooler: config.database.pooler,
      maxConnections: 2,
      applicationName: 'latchkey doctor',
    });
    closers.push(() => database.close());
    const keyRing = config.secrets.encryption === undefined ? undefined : keyRingOf(config);
    return await checkDatabase({
      config,
      database,
      homeserver,
      cleanUpQueues: sweeps.map(({ name }) => name),
      pending: pending.map(nameOf),
      keyRing,
      clusterDirectory,
      now,
    });
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return [fail('database', error.message, 'See docs/guides/postgresql.md for how to set up the database')];
  } finally {
    for (const closer of closers.reverse()) await closer();
  }
}

/** Unlike other commands, this one does not create the data directory or record its version. */
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
  if (keys.length === 0) return skip('secrets.keys', 'no signing keys yet; the first start creates them');
  try {
    return await checkPublishedKeys(deps, loadSigningKeys(loaded.config.secrets, loaded.tree));
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return fail('secrets.keys', error.message, 'See docs/guides/keys.md for the required keys');
  }
}
