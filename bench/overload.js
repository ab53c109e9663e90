/**
 * Measures an overload of twice the capacity (performance 3): the remaining throughput, and how fast other requests are
 * refused.
 */
import { median, merged, percentile, rounded } from './statistics.js';

/** Costs the server so much more than the driver that both fit on one machine. */
const WORKLOAD = 'password-login';
/** Enough for all requests in progress and refused. */
const CONNECTIONS = 500;
const PEAK_CONCURRENCY = 16;
const FACTOR = 2;
/** Minimum share of the peak throughput, and maximum milliseconds until a refusal (operations 10.13). */
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
