/**
 * Measures how long machine clients wait while every processor hashes passwords: p99 of introspection, compared with
 * its p99 without the load.
 */
import { poolOf } from './contestants.js';
import { merged, percentile, rounded } from './statistics.js';

const INTROSPECTIONS = 16;
const LOGINS = 8;

export async function measureHashing({ contestants, driver, second, size, say }) {
  const [own] = contestants;
  const idle = [];
  const busy = [];
  const introspect = async () => {
    const pool = `${own.name}:${poolOf('introspect')}`;
    const items = await own.inputs('introspect');
    if (items !== undefined) await driver.fillPool(pool, items);
    const count = size.requests[16];
    return (await driver.drive({ workload: 'introspect', pool, port: own.port, concurrency: INTROSPECTIONS, count }))
      .latencies;
  };
  await second.fillPool('logins', own.logins);
  for (let round = 0; round < size.rounds; round += 1) {
    idle.push(await introspect());
    let isOver = false;
    const hashing = hashUntil(second, own.port, () => isOver);
    busy.push(await introspect());
    isOver = true;
    await hashing;
  }
  const p99 = (rounds) => rounded(percentile(merged(rounds), 0.99));
  const result = { idleP99: p99(idle), hashingP99: p99(busy) };
  say(`introspect p99: ${result.idleP99} ms idle, ${result.hashingP99} ms while passwords are hashed`);
  return { ...result, ratio: rounded(result.hashingP99 / result.idleP99), goal: 5 };
}

async function hashUntil(driver, port, isOver) {
  while (!isOver()) {
    await driver.drive({ workload: 'password-login', pool: 'logins', port, concurrency: LOGINS, count: 2 * LOGINS });
  }
}
