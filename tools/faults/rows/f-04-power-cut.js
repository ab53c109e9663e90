import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { killProcess } from '../../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../../test/support/start-postgres.js';
import { say } from '../../browser/checks.js';
import { killTree, until } from '../../cluster/processes.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone } from '../instances.js';
import { buildSyncedFiles, SyncedFiles } from '../synced-files.js';

const LOAD_MS = 3_000;
const SIGN_IN_SECONDS = 30;

export const fault = {
  id: 'F-04',
  title: 'power cut: what was not flushed is lost',
  async run({ checks, folder, isShort }) {
    const library = buildSyncedFiles(folder);
    const cuts = isShort ? 2 : 20;
    await cutServer({ checks, folder: makeFolder(folder, 'server'), library, cuts });
    await cutEmbedded({ checks, folder: makeFolder(folder, 'embedded'), library, cuts });
  },
};

/** The database machine loses power; the service machine does not. */
async function cutServer({ checks, folder, library, cuts }) {
  const files = new SyncedFiles({ library, of: join(folder, 'postgres/data'), folder: join(folder, 'flushed') });
  const database = await startPostgres({
    ...{ folder: join(folder, 'postgres'), account: postgresAccount(), user: DATABASE_USER, isDurable: true },
    programs: files.watched(findInstalledPrograms(), join(folder, 'bin')),
    // The service overrides this: whatever it acknowledged was flushed.
    settings: { max_connections: '100', synchronous_commit: 'off', wal_writer_delay: '10s' },
  });
  const instances = new Instances(folder);
  try {
    await instances.add(databaseSettings(database));
    await cutUnderLoad({
      ...{ checks, instances, files, cuts, what: 'the database' },
      end: () => database.kill(),
      start: () => database.start(),
    });
  } finally {
    await instances.stop();
    await database.remove();
  }
}

/** A single machine runs everything. */
async function cutEmbedded({ checks, folder, library, cuts }) {
  const data = join(folder, 'data');
  const files = new SyncedFiles({ library, of: data, folder: join(folder, 'flushed') });
  const bin = join(folder, 'bin');
  files.watched(findInstalledPrograms(), bin);
  const instances = new Instances(folder);
  const endServer = () => killTree(Number(readFileSync(join(data, 'db/postmaster.pid'), 'utf8').split('\n', 1)[0]));
  try {
    const instance = await instances.add(undefined, {
      dataDir: data,
      change: (settings) => ({ ...settings, database: { embedded: { bin_dir: bin } } }),
      environment: files.environment,
    });
    await cutUnderLoad({
      ...{ checks, instances, files, cuts, what: 'service and embedded database' },
      end: async () => {
        instances.leave(instance);
        endServer();
        await killProcess(instance.service);
      },
      start: () => instances.start(instance),
    });
  } finally {
    await instances.stop();
  }
}

async function cutUnderLoad({ checks, instances, files, cuts, what, end, start }) {
  const load = await instances.load();
  for (let cut = 1; cut <= cuts; cut += 1) {
    // Alternates between losing all unflushed data and some of it.
    const keepsSome = cut % 2 === 0;
    await checks.that(`F-04: ${what}, cut ${cut} of ${cuts}: nothing acknowledged is lost`, async () => {
      load.start();
      await pause(LOAD_MS * (0.5 + Math.random()));
      await end();
      await files.untilUnused();
      const { files: count, lost, kept } = files.cut({ keepsSome });
      await start();
      await until(() => load.signIn().catch(() => undefined), 'a sign-in', SIGN_IN_SECONDS);
      await load.stop();
      const compared = await load.compare();
      say(`cut ${cut}: ${count} files, ${lost} bytes lost, ${kept} not flushed and there; ${compared} facts hold`);
      requireNone(load.faults.splice(0));
      if (lost === 0) throw new Error('everything had been flushed');
    });
  }
  const { acknowledged, signIns } = load.counts;
  say(`${what}: ${acknowledged} requests and ${signIns} sign-ins were acknowledged`);
}

/** The database account needs access. */
function makeFolder(folder, name) {
  const path = join(folder, name);
  mkdirSync(path);
  chmodSync(path, 0o711);
  return path;
}
