/**
 * Runs Latchkey on a cluster of three PostgreSQL servers whose leader is killed repeatedly under load, directly and
 * with PgBouncer in transaction mode in front of each server.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess, untilHealthy } from '../../test/support/program.js';
import { Checks, say } from '../browser/checks.js';
import { Cluster } from './cluster.js';
import { instanceSettings } from './instance-settings.js';
import { Load, PASSWORD, USERNAME } from './load.js';
import { startPoolers } from './poolers.js';
import { endTree, until } from './processes.js';
import { programs } from './programs.js';

const isShort = process.argv.includes('--short');
const KILLS = isShort ? 2 : 10;
const INSTANCES = 2;
const LOAD_MS = isShort ? 1_000 : 4_000;
/** From the promotion of a standby to the first sign-in. */
const MAX_SIGN_IN_SECONDS = 5;
const MANY = 32;

const folder = mkdtempSync(join(tmpdir(), 'latchkey-cluster-'));
// PostgreSQL does not run as root and uses a different account, which needs access.
chmodSync(folder, 0o711);
const checks = new Checks();
const services = [];
const startedAt = performance.now();
const cluster = await Cluster.start(folder, await programs());
say(`three servers run after ${seconds(startedAt)} s`);
let poolers = [];
try {
  const bases = await serve({ uri: cluster.uri() });
  await services[0].program.run(['manage', 'register-user', '--yes', '--password-file', '-', USERNAME], PASSWORD);
  const load = new Load(bases);
  await load.prepare();
  await failOver(load, KILLS, 'the servers themselves');
  await end();

  poolers = await startPoolers(cluster, await programs());
  const pooled = await serve({
    ...{ uri: cluster.uri(poolers.map(({ port }) => port)), pooler: 'transaction' },
    migration_uri: cluster.uri(),
  });
  const many = new Load(pooled);
  await many.prepare();
  await checks.that(`PgBouncer in transaction mode: ${MANY} callers at once, and no request fails`, async () => {
    many.start(MANY);
    await pause(LOAD_MS * 2);
    await many.stop();
    requireNone(many.faults);
    const { acknowledged, signIns, ...failed } = many.counts;
    if (Object.values(failed).some((count) => count > 0)) throw new Error(JSON.stringify(failed));
    say(`through PgBouncer: ${acknowledged} requests and ${signIns} sign-ins, none failed`);
  });
  await failOver(many, isShort ? 1 : 2, 'PgBouncer before each server');
  await end();
} finally {
  await end().catch((error) => say(String(error)));
  for (const pooler of poolers) await endTree(pooler.process);
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
say(`done after ${seconds(startedAt)} s`);
process.exitCode = checks.close();

/** Kills the leader repeatedly under load, and compares the recorded responses with the final state. */
async function failOver(load, kills, through) {
  for (let round = 1; round <= kills; round += 1) {
    await checks.that(`kill ${round} of ${kills} (${through}): nothing acknowledged is lost`, async () => {
      const leader = await until(() => cluster.leader(), 'a leader');
      load.start();
      await pause(LOAD_MS);
      const killedAt = performance.now();
      await cluster.kill(leader);
      const next = await until(() => cluster.leader(), 'a new leader');
      const promotedAt = performance.now();
      await until(() => load.signIn().catch(() => undefined), 'a sign-in', 30);
      const signedInAt = performance.now();
      await load.stop();
      const compared = await load.compare();
      say(
        `kill ${round}: ${next.name} after ${inSeconds(promotedAt - killedAt)} s, the first sign-in ` +
          `${inSeconds(signedInAt - promotedAt)} s later; ${compared} acknowledged facts hold; ` +
          `requests so far: ${JSON.stringify(load.counts)}`,
      );
      cluster.restart(leader);
      requireNone(load.faults.splice(0));
      if (signedInAt - promotedAt > MAX_SIGN_IN_SECONDS * 1000) throw new Error('nobody could sign in for too long');
    });
    await cluster.untilWhole();
  }
}

/**
 * @param database settings of the section
 * @returns the URLs of the instances
 */
async function serve(database) {
  const bases = [];
  for (let index = 0; index < INSTANCES; index += 1) {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}/`;
    const settings = instanceSettings({ dataDir: join(folder, 'latchkey'), database, port, level: 'warn' });
    const program = new Program(folder, settings, { name: `instance-${index}-${port}.json` });
    const service = program.launch(['serve'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const entry = { program, service, log: '' };
    service.stderr.setEncoding('utf8').on('data', (text) => {
      entry.log += text;
    });
    services.push(entry);
    await untilHealthy(service, base, { output: () => entry.log });
    bases.push(base);
  }
  return bases;
}

/** Stops the instances. Their logs must contain no errors except 503 responses. */
async function end() {
  const ended = services.splice(0);
  if (ended.length === 0) return;
  for (const { service } of ended) await stopProcess(service);
  await checks.that('the log of the instances holds no error', () => {
    requireNone(ended.flatMap(({ log }) => log.split('\n').filter((line) => / ERROR (?!.*" 503 )/.test(line))));
  });
}

function requireNone(faults) {
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${[...new Set(faults)].slice(0, 5).join('\n')}`);
}

function seconds(since) {
  return inSeconds(performance.now() - since);
}

function inSeconds(milliseconds) {
  return (milliseconds / 1000).toFixed(1);
}
