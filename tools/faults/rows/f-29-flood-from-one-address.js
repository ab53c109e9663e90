import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { median, percentile, rounded } from '../../../bench/statistics.js';
import { startWorker } from '../../../bench/worker.js';
import { say } from '../../browser/checks.js';
import { CLIENT_ID, CLIENT_SECRET, PASSWORD, USERNAME } from '../../cluster/load.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
const TRAFFIC = new URL('../load/traffic.js', import.meta.url);
/** Requests of other clients, per second. */
const RATES = { introspect: 60, 'login-page': 20, 'password-login': 5 };
const CONNECTIONS = 64;
const FLOODER = '127.0.0.2';
/**
 * With the default budget, a flood whose requests wait uses little for minutes. With a small budget it is soon
 * rejected.
 */
const LIMITS = { waiting: {}, refused: { per_address: { burst: '200ms', per_second: '1ms' } } };
/** Maximum ratio of other clients' p99 with and without a flood: the goal, and the limit on a busy machine. */
const MAX_RATIO = 2;
const MAX_RATIO_SHORT = 10;
const MAX_SERVED_A_SECOND = 100;
/** Time until all connections are open and have sent what they can. */
const BEGIN_SECONDS = 2;
const TICKS_A_SECOND = 100;

export const fault = {
  id: 'F-29',
  title: 'a flood of the dearest requests from one address',
  async run({ checks, folder, isShort }) {
    const [rounds, seconds] = isShort ? [3, 3] : [7, 15];
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    const [others, flooder] = [startWorker(TRAFFIC), startWorker(TRAFFIC)];
    try {
      let host;
      for (const [name, work] of Object.entries(LIMITS)) {
        const { base, port, service } = await instances.add(databaseSettings(database), {
          change: ({ limits, http, ...settings }) => ({
            ...settings,
            http: { ...http, trusted_proxies: ['127.0.0.1'] },
            limits: { ...limits, work },
          }),
        });
        if (host === undefined) await instances.load();
        host ??= new URL(base).host;
        const steady = { kind: 'steady', port, host, seconds, kinds: await kindsOf(base) };
        const flood = { kind: 'flood', port, host, seconds, texts: dearTexts(), connections: CONNECTIONS };
        const ask = async () => await others.ask(steady);
        const askInFlood = async () => {
          const flooding = flooder.ask({ ...flood, seconds: seconds + BEGIN_SECONDS, localAddress: FLOODER });
          await pause(BEGIN_SECONDS * 1000);
          return await Promise.all([ask(), flooding]);
        };
        // The first requests are a warm-up.
        await ask();
        await askInFlood();
        const found = [];
        for (let round = 0; round < rounds; round += 1) {
          const idle = await ask();
          const before = cpuMs(service.pid);
          const [during, statuses] = await askInFlood();
          const processor = (cpuMs(service.pid) - before) / (seconds + BEGIN_SECONDS) / 10;
          found.push({ idle, during, statuses, processor });
        }
        tell(name, found);
        await checks.that(`F-29: ${name}: others are served as ever`, () => {
          requireNone(found.flatMap(({ during }) => Object.values(during).flatMap(({ failures }) => failures)));
        });
        await checks.that(`F-29: ${name}: others wait hardly longer`, () => {
          const ratio = ratioOf(found, 'introspect');
          if (ratio > (isShort ? MAX_RATIO_SHORT : MAX_RATIO)) throw new Error(`p99 is ${ratio} times as long`);
        });
        await checks.that(`F-29: ${name}: the flood gets little`, () => {
          const { statuses } = found.at(-1);
          if (name === 'refused' && (statuses[429] ?? 0) < CONNECTIONS) throw new Error(JSON.stringify(statuses));
          if ((statuses[200] ?? 0) > MAX_SERVED_A_SECOND * seconds) throw new Error(JSON.stringify(statuses));
        });
      }
    } finally {
      await Promise.all([others.stop(), flooder.stop()]);
      await instances.stop();
      await database.remove();
    }
  },
};

function tell(name, found) {
  for (const workload of Object.keys(RATES)) {
    const of = (state, share) => rounded(median(found.map((round) => part(round[state][workload], share))));
    say(
      `${name}: ${workload}: p50 ${of('idle', 0.5)} ms, in the flood ${of('during', 0.5)} ms; ` +
        `p99 ${of('idle', 0.99)} ms, in the flood ${of('during', 0.99)} ms: ${ratioOf(found, workload)} times`,
    );
  }
  const { statuses } = found.at(-1);
  const processor = Math.round(median(found.map((round) => round.processor)));
  say(`${name}: answers to the flood ${JSON.stringify(statuses)}; the service used ${processor} % of a processor`);
}

/** Returns the median ratio of the 99th percentiles over all rounds. */
function ratioOf(found, workload) {
  return rounded(median(found.map(({ idle, during }) => part(during[workload], 0.99) / part(idle[workload], 0.99))));
}

function part({ latencies }, share) {
  return percentile(Float64Array.from(latencies).sort(), share);
}

/** Returns the processor time of a process with all its threads. */
function cpuMs(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13);
  return ((Number(user) + Number(system)) * 1000) / TICKS_A_SECOND;
}

async function kindsOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const headers = { authorization: AUTHORIZATION };
  const answer = await fetch(`${base}oauth2/token`, { method: 'POST', headers, body });
  const { access_token: accessToken } = await answer.json();
  const inputs = {
    introspect: [{ accessToken, authorization: AUTHORIZATION, sub: CLIENT_ID }],
    'login-page': [{}],
    'password-login': [{ username: USERNAME, password: PASSWORD }],
  };
  return Object.entries(RATES).map(([workload, rate]) => ({ workload, rate, inputs: inputs[workload] }));
}

/** Returns the most expensive requests found by `test/attacks/work.test.ts`. */
function dearTexts() {
  const many = (count, part) => Array.from({ length: count }, (_, index) => part(index)).join(' ');
  const documents = [
    `{ viewer { ... on User { ${'username '.repeat(220)} } ... on User { ${'username '.repeat(227)} } } }`,
    many(10, (n) => `query A${n} { ${`viewer { ${'__typename '.repeat(194)} } `.repeat(2)} }`),
    `{ ${many(3900, (n) => `n${n}`)} }`,
  ];
  return documents.map((query) => {
    const body = JSON.stringify({ query, operationName: null });
    const head = 'POST /graphql HTTP/1.1\r\nContent-Type: application/json\r\n';
    return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  });
}
