/**
 * Runs an older version and this one side by side, under load. The older one fills a database in its schema. This one
 * migrates it while users sign in and clients use their tokens. Instances are replaced one at a time, rolled back, and
 * replaced again. No request may fail, no user may be signed out, and every acknowledged change must be in effect
 * (operations 8.3, 10.11; security F-21). With `--rows N` the database has that many additional rows, and no request
 * may wait for long. With `--earlier` it starts from a version without groups and events of administrators.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/steps/places.js';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess } from '../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../test/support/start-postgres.js';
import { Checks, say } from '../browser/checks.js';
import { instanceSettings } from '../cluster/instance-settings.js';
import { Load, PASSWORD, USERNAME } from '../cluster/load.js';
import { Administration, withAdministrators } from './administration.js';
import { EARLIER, OLDER, olderCheckout } from './older-checkout.js';
import { fillAdministration, fillRows, sharesOf } from './rows.js';

/** Load before, between and after the replacements. */
const LOAD_MS = 2_000;
/** Time that a load balancer gives an instance to complete its requests. */
const DRAIN_MS = 3_000;
const USER = 'upgrade';
const options = { rows: { type: 'string', default: '0' }, earlier: { type: 'boolean', default: false } };
const { values } = parseArgs({ options });
const rows = Number(values.rows);
const from = values.earlier ? EARLIER : OLDER;
/** Maximum wait of a request for a lock or an index build (operations 8.3). */
const MAX_WAIT_MS = 3_000;

const folder = mkdtempSync(join(tmpdir(), 'latchkey-upgrade-'));
// PostgreSQL does not run as root and uses a different account, which needs access.
chmodSync(folder, 0o711);
const checks = new Checks();
const older = await olderCheckout(from);
const postgres = await startPostgres({
  ...{ folder: join(folder, 'postgres'), programs: findInstalledPrograms(), account: postgresAccount(), user: USER },
  ...{ settings: { max_connections: '100' }, isDurable: true },
});
const ports = [await freePort(), await freePort()];
const instances = ports.map((port) => ({ base: `http://127.0.0.1:${port}/`, port, service: undefined }));
/** URLs that the load balancer uses. */
const bases = [];
try {
  for (const instance of instances) await start(instance, older);
  const first = programOf(instances[0], older);
  await first.run(['manage', 'register-user', '--yes', '--password-file', '-', USERNAME], PASSWORD);
  const server = { ...postgres, user: USER, database: 'postgres' };
  if (rows > 0) await fillRows(server, sharesOf(rows), { say });
  if (rows > 0 && !values.earlier) await fillAdministration(server, sharesOf(rows).users, { say });
  const load = new Load(bases);
  const administration = values.earlier ? undefined : new Administration(bases, server);
  const loads = [load, administration].filter((one) => one !== undefined);
  for (const one of loads) await one.prepare();
  for (const one of loads) one.start();
  await pause(LOAD_MS);
  await replaceAll(loads, 'are replaced by this version, which migrates the database', root);
  await checks.that('names of groups become records; new clients and invitations refer to them', async () => {
    await administration?.createRecords();
  });
  await replaceAll(loads, 'are put back to the older version', older);
  await checks.that('the older version serves new clients and changes new invitations', async () => {
    await administration?.changeRecords();
  });
  await replaceAll(loads, 'are replaced again', root);
  for (const one of loads) await one.stop();
  await checks.that(
    'every token that was issued is live, every one that was revoked is not, no session ended',
    async () => {
      const compared = await load.compare();
      requireNone(load.faults);
      say(`${compared} acknowledged facts hold; requests: ${JSON.stringify(load.counts)}`);
    },
  );
  await checks.that('groups, invitations, clients and audit events are as they were changed last', async () => {
    if (administration === undefined) return;
    const compared = await administration.compare();
    requireNone(administration.faults);
    say(`${compared} facts hold after ${administration.acknowledged} requests of administrators`);
  });
} finally {
  for (const { service } of instances) if (service !== undefined) await stopProcess(service);
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = checks.close();

async function replaceAll([load, ...others], what, checkout) {
  await checks.that(`from ${from}: the instances ${what}, one after the other, and no request fails`, async () => {
    for (const instance of instances) {
      bases.splice(bases.indexOf(instance.base), 1);
      await pause(DRAIN_MS);
      const code = await stopProcess(instance.service);
      if (code !== 0) throw new Error(`an instance ended with ${code}`);
      await start(instance, checkout);
      await pause(LOAD_MS);
    }
    requireNone(load.faults.splice(0));
    const { acknowledged, signIns, ...failed } = load.counts;
    if (Object.values(failed).some((count) => count > 0))
      throw new Error(`${JSON.stringify(failed)} ${load.lastFailure}`);
    if (signIns === 0) throw new Error('nobody signed in');
    for (const { faults } of others) requireNone(faults.splice(0));
    const slowestMs = Math.round(Math.max(load.slowestMs, ...others.map((one) => one.slowestMs)));
    say(`${acknowledged} requests and ${signIns} sign-ins so far, none failed; the slowest took ${slowestMs} ms`);
    if (slowestMs > MAX_WAIT_MS) throw new Error(`a request took ${slowestMs} ms`);
  });
}

async function start(instance, checkout) {
  instance.service = await programOf(instance, checkout).serve(instance.base);
  bases.push(instance.base);
}

function programOf({ port }, checkout) {
  const database = { socket: postgres.host, port: postgres.port, username: USER, database: 'postgres' };
  // The older version uses the URL in the pages of each instance.
  const settings = withAdministrators(
    instanceSettings({ dataDir: join(folder, 'data'), database, port, level: 'error' }),
  );
  return new Program(folder, settings, { name: `instance-${port}.json`, checkout });
}

function requireNone(faults) {
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${[...new Set(faults)].slice(0, 5).join('\n')}`);
}
