/**
 * Profiles one workload: `node bench/profile.js WORKLOAD [REQUESTS]` runs it on the production build under V8's
 * profiler and prints self time by source file or runtime module, and by function. `--checkout FOLDER` profiles another
 * built checkout.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from '../scripts/steps/places.js';
import { asLatchkey } from './contestants.js';
import { fillDatabase, uuidOf } from './data-set.js';
import { CLIENT_ID, startLatchkey } from './latchkey.js';
import { startDriver } from './load/start-driver.js';
import { withOpened } from './opened.js';
import { startPostgres } from './postgres.js';
import { SIZES } from './settings.js';

const CONCURRENCY = 16;
const MAX_LINES = 60;
/** Start of each source file in a bundle. */
const marksByFile = new Map();

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { checkout: { type: 'string', default: root } },
});
const [workload = 'introspect', requests = '20000'] = positionals;

await withOpened(async (opened) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-profile-'));
  chmodSync(folder, 0o755);
  opened({ stop: () => rmSync(folder, { recursive: true, force: true }) });
  const postgres = opened(await startPostgres(join(folder, 'postgres')));
  const driver = opened(startDriver());
  const place = { checkout: options.checkout, folder: join(folder, 'service'), database: postgres.asConfiguration };
  const first = await startLatchkey({ name: 'first', ...place });
  const client = await postgres.connect();
  const data = await fillDatabase(client, { ...SIZES.full, sessions: SIZES.full.sessions / 5 }, uuidOf(CLIENT_ID));
  opened({ stop: () => client.end() });
  await first.stop();
  const flags = ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${folder}`];
  const service = opened(await startLatchkey({ name: 'profiled', ...place, flags }));
  const contestant = asLatchkey(service, client, data);
  const order = { workload, pool: 'profiled', port: service.port, concurrency: CONCURRENCY, count: Number(requests) };
  const fill = async (count) => {
    const items = await contestant.inputs(workload, count);
    if (items !== undefined) await driver.fillPool('profiled', items);
  };
  const warmUp = Math.ceil(order.count / 4);
  await fill(warmUp);
  await driver.drive({ ...order, count: warmUp });
  await fill(order.count);
  const from = monotonicMicroseconds();
  await driver.drive(order);
  const until = monotonicMicroseconds();
  await service.stop();
  const profile = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'));
  report(JSON.parse(readFileSync(join(folder, profile), 'utf8')), from, until);
});

/** The profiler's clock. */
function monotonicMicroseconds() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Counts only samples between the two times, to exclude the start and code that was not compiled yet. */
function report({ nodes, samples, timeDeltas, startTime }, from, until) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const selfMicroseconds = new Map();
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index];
    if (at < from || at > until) continue;
    selfMicroseconds.set(id, (selfMicroseconds.get(id) ?? 0) + timeDeltas[index]);
  }
  const functions = new Map();
  const groups = new Map();
  let total = 0;
  for (const [id, time] of selfMicroseconds) {
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    if (functionName === '(idle)') continue;
    total += time;
    const place = url === '' ? '' : `${url.replace(/^.*\/(?=dist\/|node_modules\/)/, '')}:${lineNumber + 1}`;
    const name = `${functionName || '(anonymous)'} ${place}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
    const group = groupOf(functionName, url, lineNumber);
    groups.set(group, (groups.get(group) ?? 0) + time);
  }
  const show = (times) =>
    [...times]
      .sort(([, one], [, other]) => other - one)
      .slice(0, MAX_LINES)
      .map(
        ([name, time]) =>
          `${((time / total) * 100).toFixed(1).padStart(5)} %  ${(time / Number(requests)).toFixed(2).padStart(6)} us  ${name}`,
      )
      .join('\n');
  process.stdout.write(`${workload}: busy ${(total / Number(requests)).toFixed(1)} us per request\n\n`);
  process.stdout.write(`${show(groups)}\n\n${show(functions)}\n`);
}

/** Returns the runtime module or source file; otherwise the profiler's name. */
function groupOf(functionName, url, lineNumber) {
  if (url.startsWith('file:')) return sourceOf(fileURLToPath(url), lineNumber);
  if (url.startsWith('node:') || functionName.startsWith('(')) return url || functionName;
  return `native ${functionName}`;
}

/** The bundler writes a comment with the file name before each file in a bundle. */
function sourceOf(file, lineNumber) {
  let marks = marksByFile.get(file);
  if (marks === undefined) {
    const lines = readFileSync(file, 'utf8').split('\n');
    marks = lines.flatMap((line, index) => {
      const name = /^\/\/ (?:.*\/)?((?:src|node_modules)\/\S+\.\w+)$/.exec(line)?.[1];
      return name === undefined ? [] : [{ index, name }];
    });
    marksByFile.set(file, marks);
  }
  return marks.findLast(({ index }) => index <= lineNumber)?.name ?? file;
}
