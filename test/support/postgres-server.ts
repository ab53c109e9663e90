import { chownSync, mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Account, findServerAccount } from '#platform/embedded-postgres/account.ts';
import { type Binaries, findBinaries } from '#platform/embedded-postgres/binaries.ts';
import { type PostgresServer, startPostgres } from './start-postgres.js';

/** A real, temporary PostgreSQL server for tests, without fsync. */
export interface TestServer extends PostgresServer {
  /** Connects as superuser to the database `postgres` through a private socket. */
  readonly uri: string;
}

const USER = 'tests';

/** A new folder for a server, with the programs and the account that run it. */
export interface ServerPlace {
  readonly folder: string;
  readonly programs: Binaries;
  readonly account: Account;
}

/** Locates the PostgreSQL programs that users get, the way Latchkey locates them. */
export async function createServerPlace(): Promise<ServerPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-pg-'));
  const account = await findServerAccount(undefined, undefined);
  // Must precede the search for the programs: they may be copied into this folder, which the account must be able to
  // enter.
  if (!account.isOwn) chownSync(folder, account.uid, account.gid);
  const ownDirectory = join(folder, 'programs');
  const { binaries } = await findBinaries({
    binDir: undefined,
    account,
    ownDirectory: async () => {
      await mkdir(ownDirectory, { recursive: true });
      return ownDirectory;
    },
  });
  return { folder, programs: binaries, account };
}

/**
 * Starts a server without databases of its own.
 * @param settings additional `postgresql.conf` settings
 */
export async function startPostgresServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return startServerAt(await createServerPlace(), { settings });
}

/** Starts a server with new files, or with those of an archive. */
export async function startServerAt(
  { folder, programs, account }: ServerPlace,
  { settings = {}, archive }: { settings?: Readonly<Record<string, string>>; archive?: string } = {},
): Promise<TestServer> {
  const server = await startPostgres({
    folder,
    programs,
    account: account.isOwn ? undefined : { uid: account.uid, gid: account.gid },
    user: USER,
    settings: { max_connections: '200', shared_buffers: '64MB', logging_collector: 'off', ...settings },
    isDurable: false,
    ...(archive !== undefined && { archive }),
  });
  return { ...server, uri: `postgresql://${USER}@${encodeURIComponent(folder)}:${server.port}/postgres` };
}

/** Waits for an external condition. Throws after ten seconds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
