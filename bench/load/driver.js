/**
 * The load driver, a separate process. It runs bounded closed loops as ordered by its parent, checks every response,
 * and reports latencies and its processor time. A wrong response fails the order. The order `offer` is not a loop: it
 * sends at a fixed rate, regardless of responses.
 */
import { serveOrders } from '../worker.js';
import { Connection } from './connection.js';
import { Pool } from './pool.js';
import { WORKLOADS } from './workloads.js';

/** Input pools by name: a request takes an input out and puts back the one made from the response. */
const pools = new Map();

serveOrders(async (order) => {
  if (order.kind === 'drive') return await drive(order);
  if (order.kind === 'offer') return await offer(order);
  pools.set(order.pool, new Pool(order.items));
});

async function drive({ workload, pool: poolName, port, concurrency, count }) {
  const { request, check, prepare } = WORKLOADS[workload];
  const pool = pools.get(poolName);
  const latencies = new Float64Array(count);
  const open = async () => {
    const connection = await Connection.open(port);
    return { connection, state: await prepare?.(connection) };
  };
  const workers = await Promise.all(Array.from({ length: concurrency }, open));
  let started = 0;
  const loop = async (worker) => {
    while (started < count) {
      const index = started;
      started += 1;
      const input = pool.take();
      const text = request(input, worker.state);
      const sentAt = performance.now();
      const answer = await worker.connection.exchange(text);
      latencies[index] = performance.now() - sentAt;
      const next = check(answer, input);
      if (next !== undefined) pool.putBack(next);
      if (worker.connection.isLast) {
        worker.connection.close();
        Object.assign(worker, await open());
      }
    }
  };
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(workers.map(loop));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const { connection } of workers) connection.close();
  return { count, seconds, latencies, cpuSeconds: (user + system) / 1e6 };
}

const TICK_MS = 5;

/**
 * Sends `rate` requests per second. If all connections are waiting for responses, a request fails the order, or is left
 * out if the order allows it.
 */
async function offer({ workload, pool: poolName, port, connections, rate, seconds, leavesOut = false }) {
  const { request, check, prepare } = WORKLOADS[workload];
  const pool = pools.get(poolName);
  const idle = [];
  const open = async () => {
    const connection = await Connection.open(port);
    idle.push({ connection, state: await prepare?.(connection) });
  };
  while (idle.length < connections) await open();
  const refusals = [];
  const latencies = [];
  let leftOut = 0;
  let failure;
  const send = async (worker) => {
    const input = pool.take();
    const sentAt = performance.now();
    const answer = await worker.connection.exchange(request(input, worker.state));
    if (answer.status === 503) {
      if (!/\r\nretry-after: *\d+/i.test(answer.head)) throw new Error('a refusal does not say when to come back');
      refusals.push(performance.now() - sentAt);
      pool.putBack(input);
    } else {
      const next = check(answer, input);
      if (next !== undefined) pool.putBack(next);
      latencies.push(performance.now() - sentAt);
    }
    if (worker.connection.isLast) {
      worker.connection.close();
      await open();
    } else idle.push(worker);
  };
  const under = new Set();
  const startedAt = performance.now();
  for (let sent = 0; performance.now() - startedAt < seconds * 1000; ) {
    const due = ((performance.now() - startedAt) / 1000) * rate;
    for (; sent < due; sent += 1) {
      // Round robin, because the service closes idle connections.
      const worker = idle.shift();
      if (worker === undefined) {
        if (!leavesOut) throw new Error('more requests at once than connections');
        leftOut += 1;
        continue;
      }
      const answered = send(worker).catch((error) => {
        failure = error;
      });
      under.add(answered);
      void answered.finally(() => under.delete(answered));
    }
    if (failure !== undefined) throw failure;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(under);
  if (failure !== undefined) throw failure;
  const took = (performance.now() - startedAt) / 1000;
  for (const { connection } of idle) connection.close();
  return {
    ...{ done: latencies.length, refused: refusals.length, leftOut, seconds: took },
    ...{ latencies: new Float64Array(latencies), refusals: new Float64Array(refusals) },
  };
}
