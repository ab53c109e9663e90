/**
 * What becomes of the work when twice as much is asked for as can be done (performance 3): how much of it is still done,
 * and how soon the rest is told to come back.
 */
import { median, merged, percentile, rounded } from './statistics.js';

/** Costs the server so much more than the driver that both have room on one machine. */
const WORKLOAD = 'password-login';
/** Enough for all that is under way and refused. */
const CONNECTIONS = 500;
const PEAK_CONCURRENCY = 16;
const FACTOR = 2;
/** Of what was done at the peak, and milliseconds to a refusal (operations 10.13). */
const GOALS = { goodput: 0.8, refusalP99: 50 };
const PEAK_ROUNDS = 3;

export async function measureOverload({ contestants, driver, size, say }) {
  const [own] = contestants;
  const pool = `${own.name}:overload`;
  await driver.fillPool(pool, own.logins);
  const order = { workload: WORKLOAD, pool, port: own.port };
  const count = size.logins[16];
  const peaks = [];
  for (let round = 0; round < PEAK_ROUNDS; round += 1) {
    const { seconds } = await driver.drive({ ...order, concurrency: PEAK_CONCURRENCY, count });
    peaks.push(count / seconds);
  }
  const peak = median(peaks);
  const seconds = size.overloadSeconds;
  const offered = await driver.offer({ ...order, connections: CONNECTIONS, rate: FACTOR * peak, seconds });
  const { done, refused, refusals } = offered;
  const result = {
    workload: WORKLOAD,
    peak: Math.round(peak),
    offered: Math.round((done + refused) / offered.seconds),
    goodput: rounded(done / offered.seconds / peak),
    refused,
    refusalP99: refused === 0 ? 0 : rounded(percentile(merged([refusals]), 0.99)),
    goals: GOALS,
  };
  say(`overload: ${JSON.stringify(result)}`);
  return result;
}
