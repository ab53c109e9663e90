import { chownSync, mkdtempSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServerAccount } from '#platform/embedded-postgres/account.ts';
import { findBinaries } from '#platform/embedded-postgres/binaries.ts';
import { type PostgresServer, startPostgres } from './start-postgres.js';

/** A server for tests: real, thrown away afterwards, without fsync. */
export interface TestServer extends PostgresServer {
  /** Connects as a superuser to the database `postgres` through a private socket. */
  readonly uri: string;
}

const USER = 'tests';

/**
 * Starts a server of the programs that users get, found as the program finds them.
 * @param settings further ones of postgresql.conf
 */
export async function startPostgresServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-pg-'));
  const account = await findServerAccount(undefined, undefined);
  // Before the programs are tried: they may be copied into it, and the account has to reach them.
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
  const server = await startPostgres({
    folder,
    programs: binaries,
    account: account.isOwn ? undefined : { uid: account.uid, gid: account.gid },
    user: USER,
    settings: { max_connections: '200', shared_buffers: '64MB', logging_collector: 'off', ...settings },
    isDurable: false,
  });
  return { ...server, uri: `postgresql://${USER}@${encodeURIComponent(folder)}:${server.port}/postgres` };
}

/** Waits for a condition of the outside world; throws after ten seconds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
