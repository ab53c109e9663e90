/**
 * The load driver, a process of its own: runs bounded closed loops as it is told by its parent, checks every answer,
 * and reports latencies and its own processor time. A wrong answer fails the order.
 */
import { serveOrders } from '../worker.js';
import { Connection } from './connection.js';
import { Pool } from './pool.js';
import { WORKLOADS } from './workloads.js';

/** Kinds of requests by name: a request takes an input out and puts back what the answer made of it. */
const pools = new Map();

serveOrders(async (order) => {
  if (order.kind === 'drive') return await drive(order);
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
