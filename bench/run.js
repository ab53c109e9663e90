/**
 * `npm run bench`: races Latchkey against its peers and against itself, and writes the results to `bench/results/`.
 * After a run that is not quick, it also updates the plot and the tables of `docs/performance.md`.
 * Options: `--quick` (few rounds, small tables), `--only a,b` (workloads), `--rounds N`, `--checkout FOLDER` (another
 * built checkout instead of this one), `--rival FOLDER` (races against that one instead of itself), `--dry` (writes no
 * results). `--smoke` only checks that everything works within its budget (`smoke.js`).
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runToEnd } from '../scripts/steps/child.js';
import { root } from '../scripts/steps/places.js';
import { prepare } from '../scripts/steps/prepare.js';
import { run } from '../scripts/steps/run.js';
import { measureAccountLists } from './account-lists.js';
import { measureCleanUp } from './clean-up.js';
import { arePeersInstalled, startContestants } from './contestants.js';
import { fillDatabase, uuidOf } from './data-set.js';
import { measureGrowth } from './growth.js';
import { measureHashing } from './hashing.js';
import { CLIENT_ID, startLatchkey } from './latchkey.js';
import { startDriver } from './load/start-driver.js';
import { commitOf, describeMachine, loadAverage } from './machine.js';
import { measureMemory } from './memory.js';
import { withOpened } from './opened.js';
import { measureOverload } from './overload.js';
import { startPostgres } from './postgres.js';
import { raceAll } from './races.js';
import { writeResults } from './report.js';
import { SIZES, SMOKE } from './settings.js';
import { smoke } from './smoke.js';
import { measureStarts } from './starts.js';
import { measureSteady } from './steady.js';
import { measureTiming } from './timing.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    checkout: { type: 'string', default: root },
    rival: { type: 'string' },
    dry: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
  },
});

await run(() => withOpened(bench));

async function bench(opened) {
  if (options.checkout === root) await prepare({ withTools: false });
  if (!options.smoke && !arePeersInstalled())
    await runToEnd('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], join(root, 'tools'));
  const size = options.smoke ? SMOKE : { ...SIZES[options.quick ? 'quick' : 'full'] };
  if (options.rounds !== undefined) size.rounds = Number(options.rounds);
  const only = options.only?.split(',');
  const wants = (name) => only === undefined || only.includes(name);
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'));
  // The database account has to traverse it.
  chmodSync(folder, 0o755);
  opened({ stop: () => rmSync(folder, { recursive: true, force: true }) });
  const loadBefore = loadAverage();
  const postgres = opened(await startPostgres(join(folder, 'postgres')));
  const place = { checkout: options.checkout, folder: join(folder, 'service'), database: postgres.asConfiguration };
  say('filling the database');
  const data = await fill(place, postgres, size);
  const result = {
    measuredAt: new Date().toISOString(),
    commit: commitOf(options.checkout) ?? commitOf(),
    rival: options.rival === undefined ? undefined : commitOf(options.rival),
    isQuick: options.quick,
    machine: describeMachine(folder),
    postgres: { version: postgres.version, settings: postgres.settings },
    size,
    loadAverage: { before: loadBefore },
  };
  const driver = opened(startDriver());
  if (options.smoke) return await smoke({ ...place, postgres, data, driver, size, wants, opened, say });
  if (wants('starts')) result.starts = await measureStarts({ ...place, count: size.starts, say });
  if (wants('memory')) result.memory = await measureMemory({ ...place, driver, data, ...size.memory, say });
  const contestants = await startContestants({ ...place, rival: options.rival, postgres, data, opened });
  const common = { contestants, driver, postgres, size, say };
  result.races = await raceAll({ ...common, wants });
  if (wants('hashing')) result.hashing = await measureHashing({ ...common, second: opened(startDriver()) });
  if (wants('overload')) result.overload = await measureOverload(common);
  if (wants('timing')) result.timing = await measureTiming(common);
  if (wants('account-lists')) result.accountLists = await measureAccountLists(common);
  // They take half an hour or more, so they run only if requested by name.
  if (only?.includes('clean-up')) result.cleanUp = await measureCleanUp(common);
  if (only?.includes('growth')) result.growth = await measureGrowth(common);
  if (only?.includes('steady')) result.steady = await measureSteady({ ...place, ...common, data });
  result.loadAverage.after = loadAverage();
  writeResults(result, { isDry: options.dry });
  if (options.dry || options.quick) return;
  const generator = 'scripts/generate-reference.js';
  await runToEnd(generator, process.execPath, [generator], root);
}

/** The first start migrates and stores the client of the sessions. */
async function fill(place, postgres, size) {
  const service = await startLatchkey({ name: 'first', ...place });
  const client = await postgres.connect();
  try {
    return await fillDatabase(client, size, uuidOf(CLIENT_ID));
  } finally {
    await client.end();
    await service.stop();
  }
}

function say(text) {
  process.stderr.write(`bench: ${text}\n`);
}
