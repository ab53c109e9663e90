/** Runs one workload at one concurrency in rounds: all contestants one after another, in alternating order. */

import { poolOf } from './contestants.js';
import { machineCpuSeconds } from './machine.js';
import { cpuSeconds } from './processes.js';

const WARM_UP_CONCURRENCY = 16;

/** Sends requests that are not measured; their responses are still checked. */
export async function warmUp({ contestants, count, ...rest }) {
  for (const contestant of contestants) {
    await measure({ ...rest, concurrency: WARM_UP_CONCURRENCY, contestant, count });
  }
}

/**
 * @returns for each contestant its measurements, one per round:
 * `{ rate, latencies, serverCpu, databaseCpu, driverCpu, foreign }`, processor times in seconds per 1,000 requests,
 * `foreign` the share of the machine that other processes used during that time
 */
export async function race({ workload, concurrency, count, rounds, contestants, driver, postgres }) {
  const measured = new Map(contestants.map(({ name }) => [name, []]));
  const common = { workload, concurrency, driver, postgres };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const contestant of order) {
      measured.get(contestant.name).push(await measure({ ...common, contestant, count }));
    }
  }
  return measured;
}

/** Measures one contestant, which may have a different `workload` and `count`. */
export async function measure({ contestant, driver, postgres, concurrency, ...task }) {
  const { workload, count } = { ...task, ...contestant.own };
  const pool = `${contestant.name}:${poolOf(workload)}`;
  const items = await contestant.inputs?.(workload, count);
  if (items !== undefined) await driver.fillPool(pool, items);
  const cpuOf = () => ({
    server: cpuSeconds(contestant.pid),
    database: contestant.usesDatabase ? cpuSeconds(postgres.pid) : 0,
    machine: machineCpuSeconds(),
  });
  const before = cpuOf();
  const order = { workload, pool, port: contestant.port, concurrency, count };
  const run = await (contestant.work?.(count) ?? driver.drive(order));
  const after = cpuOf();
  const spent = { server: after.server - before.server, database: after.database - before.database };
  const driverCpu = run.cpuSeconds ?? 0;
  const foreign = after.machine - before.machine - spent.server - spent.database - driverCpu;
  const perThousand = (seconds) => (seconds / count) * 1000;
  return {
    rate: count / run.seconds,
    latencies: run.latencies ?? new Float64Array(),
    serverCpu: perThousand(spent.server),
    databaseCpu: perThousand(spent.database),
    driverCpu: perThousand(driverCpu),
    foreign: Math.max(0, foreign / run.seconds),
  };
}
