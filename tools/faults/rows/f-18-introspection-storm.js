import { startDriver } from '../../../bench/load/start-driver.js';
import { percentile } from '../../../bench/statistics.js';
import { say } from '../../browser/checks.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
const WORKLOAD = { workload: 'introspect', pool: 'storm' };
const TOKENS = 20;
const CONNECTIONS = 1_500;
const PEAK_CONCURRENCY = 16;
/** Share of the peak rate; above it, waiting times grow without limit. */
const CAPACITY = 0.7;
const STORM_RATE = 5_000;
const BEYOND = 2;
const MAX_P99_MS = 100;
/** Minimum share of the peak rate during the storm. The storm itself uses a part of the two cores. */
const MIN_GOODPUT = 0.4;

export const fault = {
  id: 'F-18',
  title: 'a storm of introspections while people sign in',
  async run({ checks, folder, isShort }) {
    const seconds = isShort ? 5 : 60;
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    const driver = startDriver();
    try {
      // A homeserver has one address, and the default is meant for browsers.
      const limits = { max_connections_per_address: 2 * CONNECTIONS };
      const { base, port } = await instances.add(databaseSettings(database), {
        change: (settings) => ({ ...settings, limits: { ...settings.limits, ...limits } }),
      });
      const load = await instances.load();
      await driver.fillPool(WORKLOAD.pool, await inputs(base));
      const order = { ...WORKLOAD, port };
      const drive = () => driver.drive({ ...order, concurrency: PEAK_CONCURRENCY, count: isShort ? 3_000 : 30_000 });
      // The first run is a warm-up.
      await drive();
      const { count, seconds: took } = await drive();
      const peak = count / took;

      const rate = CAPACITY * peak;
      const usual = await driver.offer({ ...order, connections: CONNECTIONS, rate, seconds });
      const p99 = percentile(usual.latencies.sort(), 0.99);
      say(`at ${Math.round(rate)} a second of ${Math.round(peak)}: p99 ${p99.toFixed(1)} ms`);
      await checks.that('F-18: up to what it can do, nothing is refused', () => {
        if (usual.refused > 0) throw new Error(`${usual.refused} refused`);
        // Short runs share the machine with others.
        if (!isShort && p99 > MAX_P99_MS) throw new Error(`p99 ${p99} ms`);
      });

      const offered = Math.max(STORM_RATE, BEYOND * peak);
      let isOver = false;
      const storm = driver
        .offer({ ...order, connections: CONNECTIONS, rate: offered, seconds, leavesOut: true })
        .finally(() => {
          isOver = true;
        });
      const people = signInUntil(() => isOver, load);
      const { done, refused, leftOut, seconds: stormSeconds } = await storm;
      const { signedIn, refusedPeople } = await people;
      const goodput = done / stormSeconds / peak;
      say(
        `storm of ${Math.round(offered)} a second: ${Math.round(done / stormSeconds)} done (${goodput.toFixed(2)} of the peak), ` +
          `${Math.round(refused / stormSeconds)} refused, ${Math.round(leftOut / stormSeconds)} could not be sent; ` +
          `${signedIn} people signed in, ${refusedPeople} were told to come back`,
      );
      await checks.that('F-18: beyond it the rest is refused, and the work goes on', () => {
        if (goodput < MIN_GOODPUT) throw new Error(`${goodput} of the peak`);
      });
      await checks.that('F-18: people sign in during the storm', () => {
        requireNone(load.faults);
        if (signedIn === 0) throw new Error('nobody signed in');
      });
      await checks.that('F-18: after it all is as before', async () => {
        await drive();
        await load.signIn();
      });
    } finally {
      await driver.stop();
      await instances.stop();
      await database.remove();
    }
  },
};

/** Creates the inputs of the workload. Each is used by one request at a time. */
async function inputs(base) {
  const tokens = [];
  while (tokens.length < TOKENS) {
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const answer = await fetch(`${base}oauth2/token`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body,
    });
    tokens.push((await answer.json()).access_token);
  }
  return Array.from({ length: CONNECTIONS * 2 }, (_, index) => ({
    ...{ accessToken: tokens[index % TOKENS], authorization: AUTHORIZATION, sub: CLIENT_ID },
  }));
}

async function signInUntil(isOver, load) {
  const people = { signedIn: 0, refusedPeople: 0 };
  while (!isOver()) {
    try {
      await load.signIn();
      if (!isOver()) people.signedIn += 1;
    } catch {
      people.refusedPeople += 1;
    }
  }
  return people;
}
