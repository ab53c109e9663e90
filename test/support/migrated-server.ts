import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '#platform/base/clock.ts';
import { asAccount } from '#platform/embedded-postgres/account.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { readMigrations } from '#platform/postgres/migrator/migration-files.ts';
import { root } from '../../scripts/steps/places.js';
import { administer, withDatabase } from './administer.ts';
import { parseConnectionUri } from './connection-uri.ts';
import { createServerPlace, type ServerPlace, startServerAt, type TestServer } from './postgres-server.ts';
import { silentLog } from './silent-log.ts';

interface MigratedServer {
  readonly server: TestServer;
  /** Database with all migrations, which tests clone. */
  readonly template: string;
  /** Whether its files came from the cache. */
  readonly isCached: boolean;
}

interface MigratedServerOptions {
  /** Folder of the cache. */
  readonly cache?: string;
  /** Folder of the migrations. */
  readonly migrations?: string;
}

const TEMPLATE = 'latchkey_template';
/** More than one, so that switching between branches does not migrate each time. */
const MAX_ARCHIVES = 3;
/** An older file under a temporary name was left by a killed run. */
const UNFINISHED_MS = 3_600_000;
const ARCHIVE = /^cluster-[0-9a-f]{32}\.tar$/;
const UNFINISHED = /^cluster-[0-9a-f]{32}\.tar\.[0-9a-f]{12}$/;
/** Code that determines what an archive contains, in addition to the migrations and the version of PostgreSQL. */
const SOURCES = [
  'src/platform/postgres/migrator/apply-migration.ts',
  'src/platform/postgres/migrator/migrate.ts',
  'src/platform/postgres/migrator/migration-files.ts',
  'src/platform/postgres/migrator/migration-state.ts',
  'test/support/migrated-server.ts',
  'test/support/start-postgres.js',
];

const run = promisify(execFile);

/**
 * Starts a server with a migrated template database. The files come from an archive whose name is the hash of all that
 * determines them. A missing or damaged archive is written again. The server also starts if the cache cannot be used.
 */
export async function startMigratedServer({
  cache = join(root, 'node_modules/.cache/latchkey'),
  migrations = join(root, 'migrations'),
}: MigratedServerOptions = {}): Promise<MigratedServer> {
  const place = await createServerPlace();
  const archive = join(cache, `cluster-${await digestOf(place, migrations)}.tar`);
  if (existsSync(archive)) {
    const server = await startFromArchive(place, archive, migrations);
    if (server !== undefined) return { server, template: TEMPLATE, isCached: true };
  }
  const server = await startServerAt(existsSync(place.folder) ? place : await createServerPlace());
  try {
    await administer(server.uri, `create database ${TEMPLATE} template template0 encoding 'UTF8'`);
    await migrateDatabase(withDatabase(server.uri, TEMPLATE), migrations);
    // Only the files of a stopped server are consistent.
    await server.stop();
    await save(server, cache, archive);
    await server.start();
  } catch (error) {
    await server.remove();
    throw error;
  }
  return { server, template: TEMPLATE, isCached: false };
}

/** Returns the number of migrations that were pending. */
export async function migrateDatabase(uri: string, migrations: string): Promise<number> {
  const { applied } = await migrate({
    connection: parseConnectionUri(uri),
    directory: migrations,
    log: silentLog,
    clock: systemClock,
  });
  return applied.length;
}

/** Returns undefined, and removes the archive and the place, if the archive is damaged. */
async function startFromArchive(
  place: ServerPlace,
  archive: string,
  migrations: string,
): Promise<TestServer | undefined> {
  let server: TestServer | undefined;
  try {
    server = await startServerAt(place, { archive });
    const pending = await migrateDatabase(withDatabase(server.uri, TEMPLATE), migrations);
    if (pending > 0) throw new Error('the archive is not migrated');
    markUsed(archive);
    return server;
  } catch {
    await server?.remove();
    rmSync(place.folder, { recursive: true, force: true });
    await rm(archive, { force: true }).catch(() => undefined);
    return undefined;
  }
}

/** Writes the archive under a temporary name first: several runs may do this at once, and any of them may be killed. */
async function save(server: TestServer, cache: string, archive: string): Promise<void> {
  const unfinished = `${archive}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(cache, { recursive: true });
    const file = await open(unfinished, 'wx');
    try {
      await server.pack(file.fd);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, archive);
    removeOld(cache);
  } catch {
    // The cache is read-only or its disk is full. Tests only start later without it.
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}

function removeOld(cache: string): void {
  const files = readdirSync(cache).flatMap((name) => {
    const path = join(cache, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, path, usedAt: stats.mtimeMs }];
  });
  const archives = files.filter(({ name }) => ARCHIVE.test(name)).sort((one, other) => other.usedAt - one.usedAt);
  const oldest = systemClock.now() - UNFINISHED_MS;
  const unfinished = files.filter(({ name, usedAt }) => UNFINISHED.test(name) && usedAt < oldest);
  for (const { path } of [...archives.slice(MAX_ARCHIVES), ...unfinished]) rmSync(path, { force: true });
}

function markUsed(archive: string): void {
  const now = systemClock.now() / 1000;
  try {
    utimesSync(archive, now, now);
  } catch {
    // It belongs to another user, or another run has removed it.
  }
}

async function digestOf({ programs, account }: ServerPlace, migrations: string): Promise<string> {
  const { stdout } = await run(programs.postgres, ['--version'], asAccount(account, programs.libraryPath));
  const parts = [
    stdout,
    process.platform,
    process.arch,
    ...readMigrations(migrations).flatMap(({ version, name, checksum }) => [String(version), name, checksum]),
    ...SOURCES.map((name) => readFileSync(join(root, name), 'utf8')),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
