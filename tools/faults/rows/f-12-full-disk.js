import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SmallDisk } from '../../../test/support/small-disk.js';
import { say } from '../../browser/checks.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

/** Enough for a new database and what the load writes. */
const MEGABYTES = 320;
/** Each fills what the one before left. */
const RECORD_BYTES = [1_000_000, 10_000, 100];
const LINE = /^\d{4}-\d\d-\d\dT/;
/** From the end of the fault to a sign-in. */
const MAX_SIGN_IN_MS = 10_000;
const POLL_MS = 100;

export const fault = {
  id: 'F-12',
  title: 'full disks of the database, of the embedded database and of the log',
  async run({ checks, folder, isShort }) {
    if (process.getuid() !== 0) throw new Error('only root can mount a small disk');
    const fullMs = isShort ? 4_000 : 60_000;
    await withDisk(join(folder, 'server'), async (disk) => {
      const database = await startDatabase(disk.path, { min_wal_size: '32MB', max_wal_size: '64MB' });
      const instances = new Instances(folder);
      try {
        await instances.add(databaseSettings(database));
        const restart = async () => {
          // A server that cannot write its log of transactions ends, and is its operator's to start.
          if (!isAlive(database.pid())) await database.start();
        };
        const connection = { ...database, user: DATABASE_USER, database: 'postgres' };
        await fillUp(checks, instances, disk, 'disk of the database', { fullMs, restart, connection });
      } finally {
        await instances.stop();
        await database.remove();
      }
    });
    const embedded = join(folder, 'embedded');
    await withDisk(embedded, async (disk) => {
      const instances = new Instances(folder);
      try {
        const { dataDir } = await instances.add(undefined, {
          dataDir: embedded,
        });
        const connection = { host: join(dataDir, 'run'), port: 5432, user: 'latchkey_admin', database: 'postgres' };
        await fillUp(checks, instances, disk, 'disk of the embedded database', { fullMs, connection });
      } finally {
        await instances.stop();
      }
    });
    await withDisk(join(folder, 'log'), async (disk) => {
      let log;
      const database = await startDatabase(folder);
      const instances = new Instances(folder);
      try {
        const change = (settings) => ({ ...settings, logging: { ...settings.logging, level: 'info' } });
        log = openSync(join(disk.path, 'log'), 'a');
        await instances.add(databaseSettings(database), { change, stdio: ['ignore', 'ignore', log] });
        await fillUp(checks, instances, disk, 'disk of the log', { fullMs });
        await checks.that('F-12: disk of the log: it goes on with whole lines, and tells how many are lost', () => {
          const lines = readFileSync(join(disk.path, 'log'), 'utf8').trimEnd().split('\n');
          const last = lines.findLast((line) => line.includes('http.server.response'));
          if (last === undefined || Date.parse(last.split(' ')[0]) < disk.freedAt)
            throw new Error(`the last is ${last}`);
          requireNone(lines.filter((line) => !LINE.test(line)));
          if (!lines.some((line) => line.includes(' log.dropped '))) throw new Error('no line tells of lost ones');
        });
      } finally {
        await instances.stop();
        await database.remove();
        if (log !== undefined) closeSync(log);
      }
    });
  },
};

/** @param connection options of `pg.Client` for a database whose disk it is. @param restart starts it if it has ended */
async function fillUp(checks, instances, disk, name, { fullMs, restart = async () => undefined, connection }) {
  const load = await instances.load();
  load.start();
  await pause(1_000);
  const before = load.counts.unavailable;
  disk.fill();
  if (connection !== undefined) await fillTransactionLog(connection);
  const endsAt = performance.now() + fullMs;
  await checks.that(`F-12: ${name}: discovery, keys and the check for life answer all the time`, async () => {
    do {
      for (const path of ['.well-known/openid-configuration', 'oauth2/keys.json', 'health?probe=live']) {
        const { status } = await fetch(instances.bases[0] + path);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
      }
      await pause(POLL_MS);
    } while (performance.now() < endsAt);
  });
  disk.free();
  await restart();
  let signedInMs;
  await checks.that(
    `F-12: ${name}: people sign in again within ${MAX_SIGN_IN_MS / 1_000} s, without a restart`,
    async () => {
      signedInMs = Math.round(await load.untilSignedIn(MAX_SIGN_IN_MS));
    },
  );
  await pause(1_000);
  await load.stop();
  const refused = load.counts.unavailable - before;
  await checks.that(`F-12: ${name}: answers were right or 503, and everything acknowledged is so`, async () => {
    const compared = await load.compare();
    requireNone(load.faults);
    say(
      `${name}: ${refused} requests refused, a sign-in ${signedInMs} ms later, ${compared} facts hold; ${JSON.stringify(load.counts)}`,
    );
  });
}

/** What is left of the space that the server has reserved: few writes would need minutes for that. */
async function fillTransactionLog(connection) {
  const client = new pg.Client(connection);
  // The server ends the connection when it cannot go on.
  client.on('error', () => undefined);
  await client.connect();
  for (const size of RECORD_BYTES) {
    const failure = await repeatUntilRefused(client, size);
    say(`the database said: ${failure.message}`);
  }
  await client.end().catch(() => undefined);
}

async function repeatUntilRefused(client, size) {
  for (let written = 0; written < MEGABYTES * 1_000_000; written += size) {
    try {
      await client.query("select pg_logical_emit_message(false, 'fault', repeat('x', $1))", [size]);
    } catch (error) {
      return error;
    }
  }
  throw new Error('the disk was not full');
}

async function withDisk(path, work) {
  const disk = new SmallDisk(path, MEGABYTES);
  try {
    await work(disk);
  } finally {
    disk.unmount();
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
