import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { SmallDisk } from '../../../test/support/small-disk.js';
import { postgresAccount } from '../../../test/support/start-postgres.js';
import { say } from '../../browser/checks.js';
import { sharesOf } from '../../upgrade/rows.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone, requireRight, startDatabase } from '../instances.js';
import { Administrator } from '../load/administrator.js';
import { Moment } from '../load/moment.js';
import { Requests } from '../load/requests.js';

/** Enough for a new database and the writes of the load. */
const MEGABYTES = 320;
/** Each size fills the rest that the larger one left. */
const RECORD_BYTES = [1_000_000, 10_000, 100];
const LINE = /^\d{4}-\d\d-\d\dT/;
/** From the end of the fault to a sign-in. */
const MAX_SIGN_IN_MS = 10_000;
const POLL_MS = 100;
/** With the lowest memory settings, larger sorts and the like use temporary files. */
const LITTLE_MEMORY = { work_mem: '64kB', hash_mem_multiplier: '1', temp_tablespaces: 'temporary' };
/** Rows in all tables that grow with use. */
const ROWS = { short: 20_000, long: 100_000 };
const EXPIRED_TOKENS = 1_000;
const CLEAN_UP = 'cleanup-oauth2-access-tokens';
const MAX_WAIT_MS = 20_000;
/** Lists over many rows that administrators read. */
const LISTS = [
  'users?page[first]=100',
  'users?page[last]=100',
  'users?filter[search]=person-47',
  'user-sessions?page[first]=100',
  'oauth2-sessions?page[first]=100&filter[status]=active',
  'compat-sessions?page[last]=100&filter[status]=active',
];
const INDEX_SCANS = ['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan'];
const RELOAD_MS = 500;
const TEMPORARY = 'disk of temporary files';
/** Tokens of the load expire later. */
const EXPIRED = 'select count(*)::integer from oauth2_access_tokens where expires_at < now()';
const ALWAYS_ANSWERED = ['POST oauth2/introspect', 'POST oauth2/token', 'POST oauth2/revoke'];
const DISK_IS_NAMED = "The disk of the database server's temporary files is full";

export const fault = {
  id: 'F-12',
  title: 'full disks of the database, of the embedded database, of the log and of temporary files',
  async run({ checks, folder, isShort }) {
    if (process.getuid() !== 0) throw new Error('only root can mount a small disk');
    const fullMs = isShort ? 4_000 : 60_000;
    await withDisk(join(folder, 'server'), async (disk) => {
      const database = await startDatabase(disk.path, { min_wal_size: '32MB', max_wal_size: '64MB' });
      const instances = new Instances(folder);
      try {
        await instances.add(databaseSettings(database));
        const restart = async () => {
          // A server that cannot write its transaction log exits, and its operator has to restart it.
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
    await withDisk(join(folder, 'temporary'), async (disk) => {
      const database = await startDatabase(folder, LITTLE_MEMORY);
      const instances = new Instances(folder);
      const client = new pg.Client({ ...database, user: DATABASE_USER, database: 'postgres' });
      try {
        await instances.add(databaseSettings(database));
        await client.connect();
        await keepTemporaryFiles(client, disk);
        const load = await instances.load();
        await instances.fill(sharesOf(ROWS[isShort ? 'short' : 'long']), { say, expired: EXPIRED_TOKENS });
        load.start();
        await load.untilAtWork();
        await goOnWithoutTemporaryFiles(checks, instances, disk, { load, client, fullMs });
        await refuseWhatNeedsTemporaryFiles(checks, instances, disk, { load, client, fullMs });
      } finally {
        await client.end();
        await instances.stop();
        await database.remove();
      }
    });
  },
};

/** Makes the server write its temporary files to the disk. */
async function keepTemporaryFiles(client, disk) {
  const folder = join(disk.path, 'files');
  mkdirSync(folder, { mode: 0o700 });
  const { uid, gid } = postgresAccount();
  chownSync(folder, uid, gid);
  await client.query(`create tablespace ${LITTLE_MEMORY.temp_tablespaces} location '${folder}'`);
}

/** While its statements use indexes, no request needs temporary files. */
async function goOnWithoutTemporaryFiles(checks, instances, disk, { load, client, fullMs }) {
  const [instance] = instances.all;
  const requests = new Requests({ bases: instances.bases, publicBase: instance.base, moment: new Moment() });
  const administrator = new Administrator();
  const before = { ...load.counts };
  disk.fill();
  await instance.program.run(['jobs', 'run', CLEAN_UP]);
  await checks.that(`F-12: ${TEMPORARY}: no request of people, programs or administrators is refused`, async () => {
    await repeatFor(fullMs, async () => {
      for (const list of LISTS) await administrator.read({ requests }, list);
      disk.fill();
    });
    const { unavailable, cut } = load.counts;
    if (unavailable + cut > before.unavailable + before.cut)
      throw new Error(`${JSON.stringify(load.counts)}, ${JSON.stringify(load.unavailable)}`);
  });
  await checks.that(
    `F-12: ${TEMPORARY}: the clean-up of tokens, which needs them, says which disk is full`,
    async () => {
      const lines = () => instance.log.split('\n').filter((line) => line.includes(CLEAN_UP));
      const deadline = performance.now() + MAX_WAIT_MS;
      while (!lines().some((line) => line.includes(DISK_IS_NAMED))) {
        if (performance.now() > deadline) throw new Error(`it says ${lines().at(-1)}`);
        await repeatFor(POLL_MS, () => disk.fill());
      }
    },
  );
  const keptWhileFull = await countExpired(client);
  disk.free();
  await checks.that(`F-12: ${TEMPORARY}: the clean-up of tokens is done once there is room`, async () => {
    await instance.program.run(['jobs', 'run', CLEAN_UP]).catch((error) => {
      if (!error.message.includes('is already running')) throw error;
    });
    const deadline = performance.now() + MAX_WAIT_MS;
    while ((await countExpired(client)) > 0) {
      if (performance.now() > deadline) throw new Error(`${await countExpired(client)} tokens are there`);
      await pause(POLL_MS);
    }
  });
  const { acknowledged } = requests.counts;
  say(`${TEMPORARY}: ${acknowledged} lists of administrators; ${keptWhileFull} expired tokens waited`);
}

/** A database whose planner uses no indexes, as without statistics, writes temporary files instead. */
async function refuseWhatNeedsTemporaryFiles(checks, instances, disk, { load, client, fullMs }) {
  const before = { ...load.unavailable };
  for (const setting of INDEX_SCANS) await client.query(`alter system set ${setting} = off`);
  await client.query('select pg_reload_conf()');
  await pause(RELOAD_MS);
  // Invalidates cached plans.
  await client.query('analyze');
  disk.fill();
  await repeatFor(fullMs, () => disk.fill());
  // Which requests need temporary files depends on the users' random steps.
  const deadline = performance.now() + MAX_WAIT_MS;
  while (Object.keys(refusedSince(load, before)).length === 0 && performance.now() < deadline) {
    await repeatFor(POLL_MS, () => disk.fill());
  }
  const refused = refusedSince(load, before);
  disk.free();
  let signedInMs;
  await checks.that(
    `F-12: ${TEMPORARY}: without plans by index people sign in again within ${MAX_SIGN_IN_MS / 1_000} s, without a restart`,
    async () => {
      signedInMs = Math.round(await load.untilSignedIn(MAX_SIGN_IN_MS));
      await load.untilUndisturbed(MAX_SIGN_IN_MS);
    },
  );
  await load.stop();
  await checks.that(`F-12: ${TEMPORARY}: what needs them is refused, and the lines say why`, () => {
    say(`${TEMPORARY}: refused without plans by index: ${JSON.stringify(refused)}, a sign-in ${signedInMs} ms later`);
    if (Object.keys(refused).length === 0) throw new Error('nothing was refused');
    const lines = instances.all[0].log.split('\n').filter((line) => line.includes('temporarily_unavailable'));
    if (!lines.some((line) => line.includes(DISK_IS_NAMED))) throw new Error(`they say ${lines.at(-1)}`);
  });
  await checks.that(`F-12: ${TEMPORARY}: clients and programs go on also without plans by index`, () => {
    requireNone(ALWAYS_ANSWERED.filter((kind) => refused[kind] !== undefined));
  });
  await checks.that(`F-12: ${TEMPORARY}: answers were right or 503, and everything acknowledged is so`, () =>
    requireRight(instances, load),
  );
}

async function repeatFor(milliseconds, work) {
  const endsAt = performance.now() + milliseconds;
  do {
    await work();
    await pause(POLL_MS);
  } while (performance.now() < endsAt);
}

/** Returns the number of 503 responses by kind of request since then. */
function refusedSince({ unavailable }, before) {
  const counts = Object.entries(unavailable).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

async function countExpired(client) {
  const { rows } = await client.query(EXPIRED);
  return rows[0].count;
}

/**
 * @param connection options of `pg.Client` for a database on this disk
 * @param restart starts it if it has exited
 */
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

/** Uses up the space that the server has reserved; a light write load would take minutes for that. */
async function fillTransactionLog(connection) {
  const client = new pg.Client(connection);
  // The server closes the connection if it cannot continue.
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
