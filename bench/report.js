/** Results as one JSON file and one Markdown page of tables. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/steps/places.js';
import { GOALS } from './settings.js';

/** Prints the page, and writes both files unless `isDry`. */
export function writeResults(result, { isDry }) {
  const page = renderPage(result);
  process.stdout.write(page);
  if (isDry) return;
  const folder = join(root, 'bench/results');
  mkdirSync(folder, { recursive: true });
  const name = `${result.measuredAt.slice(0, 16).replace(':', '')}-${result.commit?.split(' ', 1)[0] ?? 'unknown'}`;
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(folder, `${name}.md`), page);
}

function renderPage(result) {
  const { machine, postgres, size, loadAverage } = result;
  const parts = [
    `# Benchmark of ${result.measuredAt.slice(0, 10)}`,
    '',
    `Commit ${result.commit ?? 'unknown'}${result.rival === undefined ? '' : `, against ${result.rival}`}` +
      `${result.isQuick ? ', a quick run: too short for claims' : ''}. ` +
      `${machine.processors} processors (${machine.processor}), ${machine.memoryMb} MB, Linux ${machine.kernel}, ` +
      `Node.js ${machine.node}, PostgreSQL ${postgres.version} on ${machine.fileSystemOfDatabase} with ` +
      `${Object.entries(postgres.settings)
        .map(([name, value]) => `${name}=${value}`)
        .join(', ')}. ` +
      `${size.users} users, ${size.sessions} sessions, ${size.rounds} rounds. ` +
      `Load average ${loadAverage.before} before, ${loadAverage.after} after.`,
    '',
    ...raceTables(result.races),
    ...otherTable(result),
  ];
  return `${parts.join('\n')}\n`;
}

function raceTables(races) {
  if (races.length === 0) return [];
  const figures = races.flatMap(({ workload, concurrency, contestants, statementsPerRequest }) =>
    Object.entries(contestants).map(([name, one]) => [
      workload,
      concurrency,
      name,
      one.rate,
      one.p50 ?? '',
      one.p95 ?? '',
      one.p99 ?? '',
      one.serverCpu,
      one.databaseCpu,
      one.driverCpu,
      one.foreignProcessors,
      one.residentMb,
      name === 'latchkey' ? statementsPerRequest : '',
    ]),
  );
  const ratios = races.flatMap(({ workload, concurrency, ratios: ofPeers, noise }) => [
    ...Object.entries(ofPeers).map(([name, ratio]) => ratioRow(workload, concurrency, name, ratio)),
    ratioRow(workload, concurrency, 'itself', noise),
  ]);
  return [
    '## Figures',
    '',
    'Rates are medians of the rounds, times are milliseconds over all of them; processor seconds are for 1,000 requests ' +
      'and exact to the clock ticks of Linux; "others" is how many processors something else kept busy in that time.',
    '',
    ...table(
      [
        'workload',
        'at once',
        'server',
        'per second',
        'p50',
        'p95',
        'p99',
        'CPU server',
        'CPU database',
        'CPU driver',
      ].concat('others', 'MB', 'statements'),
      figures,
    ),
    '',
    '## Ratios',
    '',
    'Latchkey divided by the other, round by round. No difference below that "against itself" means anything.',
    '',
    ...table(['workload', 'at once', 'against', 'rate: median', 'least', 'most', 'CPU', 'goal', 'met'], ratios),
    '',
  ];
}

function ratioRow(workload, concurrency, name, { rate, cpu, goal }) {
  const verdict = goal === undefined ? '' : rate.median >= goal ? 'yes' : 'no';
  return [workload, concurrency, name, rate.median, rate.least, rate.most, cpu, goal ?? '', verdict];
}

function otherTable({ starts, memory, hashing, overload, timing = {}, accountLists = {}, cleanUp, growth, steady }) {
  const rows = [];
  const add = (what, value, goal, isMet) => rows.push([what, value, goal, isMet ? 'yes' : 'no']);
  if (starts !== undefined) {
    const { postgres, embedded } = starts;
    const ownMs = postgres.millisecondsToFirstAnswer - postgres.millisecondsOfRuntimeAndConnection;
    add(
      'resident after start, PostgreSQL, MB',
      postgres.residentMb,
      GOALS.residentMb,
      postgres.residentMb <= GOALS.residentMb,
    );
    add(
      'resident after start, embedded (without the database), MB',
      embedded.residentMb,
      GOALS.residentMb,
      embedded.residentMb <= GOALS.residentMb,
    );
    add(
      `start to first answer, PostgreSQL, beyond the ${postgres.millisecondsOfRuntimeAndConnection} ms of runtime and connection, ms`,
      ownMs,
      GOALS.startMilliseconds,
      ownMs <= GOALS.startMilliseconds,
    );
    rows.push([
      'npm start to first answer, embedded, first start (installed and built), ms',
      embedded.firstStartMilliseconds,
      '',
      '',
    ]);
    const { secondStartMilliseconds } = embedded;
    add(
      'npm start to first answer, embedded, second start, ms',
      secondStartMilliseconds,
      GOALS.secondStartMilliseconds,
      secondStartMilliseconds <= GOALS.secondStartMilliseconds,
    );
    rows.push(['memory of the embedded database (shared pages once), MB', embedded.databaseMb, '', '']);
  }
  if (memory !== undefined) {
    const growth = Number((memory.afterLast / memory.afterFirst).toFixed(3));
    add(
      `resident after ${memory.last} requests (${memory.afterLast} MB) over after ${memory.first} (${memory.afterFirst} MB)`,
      growth,
      GOALS.memoryGrowth,
      growth <= GOALS.memoryGrowth,
    );
  }
  if (hashing !== undefined) {
    add(
      `p99 of introspect while passwords are hashed (${hashing.hashingP99} ms) over idle (${hashing.idleP99} ms)`,
      hashing.ratio,
      hashing.goal,
      hashing.ratio <= hashing.goal,
    );
  }
  if (overload !== undefined) {
    const { workload, peak, offered, goodput, refused, refusalP99, goals } = overload;
    const asked = `${workload}: ${offered} per second are asked for, ${peak} at the peak`;
    add(`${asked}; done, of the peak`, goodput, goals.goodput, goodput >= goals.goodput);
    add(`${asked}; p99 of ${refused} refusals, ms`, refusalP99, goals.refusalP99, refusalP99 <= goals.refusalP99);
  }
  for (const [form, { tries, medians, processorMs, apart, allowed }] of Object.entries(timing)) {
    const list = Object.entries(medians).map(([kind, time]) => `${kind} ${time} (processor ${processorMs[kind]})`);
    add(`${form}: medians of ${tries} tries each (${list.join(', ')} ms) apart, ms`, apart, allowed, apart <= allowed);
  }
  for (const [list, { tries, medians, processorMs, ratio, goal }] of Object.entries(accountLists)) {
    const people = Object.entries(medians).map(
      ([person, time]) => `${person} ${time} (processor with database ${processorMs[person]})`,
    );
    const what = `${list}: medians of ${tries} tries each (${people.join(', ')} ms), ratio`;
    if (goal === undefined) rows.push([what, ratio, '', '']);
    else add(what, ratio, goal, ratio <= goal);
  }
  if (cleanUp !== undefined) {
    const { rows: count, seconds, idleP99, cleaningP99, ratio, goal } = cleanUp;
    const what = `p99 of introspect while ${count} expired tokens are removed in ${seconds} s (${cleaningP99} ms) over idle (${idleP99} ms)`;
    add(what, ratio, goal, ratio <= goal);
  }
  for (const [workload, ratio] of Object.entries(growth?.growth ?? {})) {
    const { from, to, before, after, goal } = growth;
    const what = `${workload}: processor time with ${to} sessions (${after[workload].cpu} us) over with ${from} (${before[workload].cpu} us)`;
    add(what, ratio, goal, ratio <= goal);
  }
  if (steady !== undefined) {
    const { seconds, requests, usedMbFirst, usedMbLast, growth: ratio, goal } = steady;
    const what = `memory in use after full collections, at the end of ${seconds} s with ${requests} requests (${usedMbLast} MB) over after a twelfth (${usedMbFirst} MB)`;
    add(what, ratio, goal, ratio <= goal);
  }
  if (rows.length === 0) return [];
  return [
    '## Start, memory, hashing, timing, lists of the account area',
    '',
    ...table(['what', 'value', 'goal', 'met'], rows),
  ];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
