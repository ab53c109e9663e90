/** Figures of one whole run, for readers who choose: the tables of `docs/performance.md`. */
import { GOALS } from './settings.js';
import { CONCURRENCY, cpuUnit, processorOf, raceOf, short } from './stored.js';

/** The other workloads are in the page of the run. */
const REQUESTS = [
  { workload: 'introspect', label: 'token introspection' },
  { workload: 'userinfo', label: 'userinfo' },
  { workload: 'client-credentials', label: 'client credentials' },
  { workload: 'refresh', label: 'refresh, without an ID token' },
  { workload: 'refresh-openid', label: 'refresh, with an ID token' },
  { workload: 'code-exchange', label: 'code exchange, with an ID token' },
  { workload: 'password-login', label: 'sign-in with a password' },
];
const PLATFORM = { bare: 'the bare server', argon2id: 'bare argon2id' };

/**
 * @param {object} result whole run
 * @returns {{ source: string, requests: string[][], operation: string[][] }} a sentence, and the rows of two tables with
 * their heads. Figures that the run lacks have no row.
 */
export function summaryOf(result) {
  return { source: sourceOf(result), requests: requestRows(result), operation: operationRows(result) };
}

function sourceOf({ name, measuredAt, commit, machine, postgres, size }) {
  return (
    `The figures are from the run of ${measuredAt.slice(0, 10)} with commit ${commit?.slice(0, 7) ?? 'unknown'}\n` +
    `([all figures](../bench/results/${name}.md)). One Latchkey process, PostgreSQL ${postgres.version.split(' ', 1)[0]} and the\n` +
    `load generator shared ${machine.processors} processors (${processorOf(machine)}), with ${count(size.users)} users, ${count(size.sessions)} sessions\n` +
    `and ${CONCURRENCY} concurrent requests.`
  );
}

function requestRows(result) {
  const rows = REQUESTS.flatMap(({ workload, label }) => {
    const race = raceOf(result, workload);
    if (race === undefined) return [];
    const { rate, serverCpu } = race.contestants.latchkey;
    return [
      [
        label,
        String(race.statementsPerRequest),
        count(rate),
        ratioTo(race, 'oidc-provider') ?? '',
        platformRatio(race),
        String(serverCpu),
        short(serverCpu / cpuUnit(result)),
      ],
    ];
  });
  const head = [
    'Request',
    'Statements',
    'Requests per second',
    'Rate against node-oidc-provider',
    'Rate against the platform',
    'CPU time, ms',
    'CPU time against a look-up of the bare server',
  ];
  return [head, ...rows];
}

function platformRatio(race) {
  for (const [name, label] of Object.entries(PLATFORM)) {
    const ratio = ratioTo(race, name);
    if (ratio !== undefined) return `${label}: ${ratio}`;
  }
  return '';
}

function ratioTo({ ratios }, name) {
  const ratio = ratios[name];
  if (ratio === undefined) return undefined;
  return `${short(ratio.rate.median)}${ratio.goal === undefined ? '' : ` (goal ${ratio.goal})`}`;
}

function operationRows({ starts, memory, hashing, overload }) {
  const rows = [];
  if (starts !== undefined) {
    const { postgres, embedded } = starts;
    const megabytes = `at most ${GOALS.residentMb} MB`;
    rows.push(
      ['memory after start, with your own PostgreSQL', `${Math.round(postgres.residentMb)} MB`, megabytes],
      [
        'memory after start, embedded',
        `${Math.round(embedded.residentMb)} MB, and ${Math.round(embedded.databaseMb)} MB for the database`,
        `${megabytes} without the database`,
      ],
      [
        'start to the first response, with your own PostgreSQL',
        `${seconds(postgres.millisecondsToFirstAnswer)} s, of which ${seconds(postgres.millisecondsOfRuntimeAndConnection)} s are Node.js and the first connection`,
        `at most ${seconds(GOALS.startMilliseconds)} s more than these`,
      ],
      [
        'start to the first response, embedded, with an existing database',
        `${seconds(embedded.secondStartMilliseconds)} s`,
        `at most ${seconds(GOALS.secondStartMilliseconds)} s`,
      ],
    );
  }
  if (memory !== undefined) {
    rows.push([
      `memory after ${count(memory.last)} requests, against ${count(memory.first)}`,
      `${Math.round(memory.afterLast)} MB against ${Math.round(memory.afterFirst)} MB`,
      `at most ${GOALS.memoryGrowth} times`,
    ]);
  }
  if (hashing !== undefined) {
    rows.push([
      'p99 of introspection while all processors hash passwords',
      `${short(hashing.ratio)} times the p99 when idle`,
      `at most ${hashing.goal} times`,
    ]);
  }
  if (overload !== undefined) {
    rows.push([
      'sign-ins completed when twice as many arrive as the server can handle',
      `${short(overload.goodput * 100)} % of the peak`,
      `at least ${overload.goals.goodput * 100} %`,
    ]);
  }
  return [['Figure', 'Measured', 'Goal'], ...rows];
}

function seconds(milliseconds) {
  return (milliseconds / 1000).toFixed(1);
}

function count(value) {
  return value.toLocaleString('en-US');
}
