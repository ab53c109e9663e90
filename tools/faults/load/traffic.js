/**
 * A separate process that simulates many clients: at a fixed rate with a different address for each request, or as fast
 * as possible over several connections from one address.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '../../../bench/load/connection.js';
import { WORKLOADS } from '../../../bench/load/workloads.js';
import { serveOrders } from '../../../bench/worker.js';

const TICK_MS = 2;
const RETRY_MS = 5;

serveOrders((order) => (order.kind === 'steady' ? steady(order) : flood(order)));

/**
 * @param host public host of the service
 * @param kinds list of `{ workload, rate, inputs }`, with rates per second
 * @returns for each workload `latencies` in milliseconds, and `failures`, messages of wrong responses
 */
async function steady({ port, host, seconds, kinds }) {
  return Object.fromEntries(
    await Promise.all(kinds.map(async (kind) => [kind.workload, await sendSteadily({ port, host, seconds, ...kind })])),
  );
}

async function sendSteadily({ port, host, seconds, workload, rate, inputs }) {
  const { request, check, prepare } = WORKLOADS[workload];
  const [latencies, failures, idle, inProgress] = [[], [], [], new Set()];
  let sent = 0;
  const send = async (input, address) => {
    let worker = idle.pop();
    if (worker === undefined || worker.connection.isLast) {
      const connection = await Connection.open(port, { host });
      const exchange = (text) => connection.exchange(forwarded(text, address));
      worker = { connection, state: await prepare?.({ exchange }) };
    }
    const text = forwarded(request(input, worker.state), address);
    const sentAt = performance.now();
    const answer = await worker.connection.exchange(text);
    latencies.push(performance.now() - sentAt);
    check(answer, input);
    idle.push(worker);
  };
  const startedAt = performance.now();
  for (;;) {
    const elapsed = (performance.now() - startedAt) / 1000;
    if (elapsed > seconds) break;
    for (; sent < elapsed * rate; sent += 1) {
      const address = `10.${sent % 200}.${(sent >> 8) % 200}.7`;
      const sending = send(inputs[sent % inputs.length], address).catch((error) => failures.push(error.message));
      inProgress.add(sending);
      void sending.finally(() => inProgress.delete(sending));
    }
    await pause(TICK_MS);
  }
  await Promise.all(inProgress);
  for (const { connection } of idle) connection.close();
  return { latencies, failures };
}

/**
 * @param texts complete requests without their host, used in turn
 * @param localAddress of all connections
 * @returns the count of each status; `cut`: the connection was closed before a response
 */
async function flood({ port, host, seconds, connections, texts, localAddress }) {
  const statuses = {};
  const count = (status) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const until = performance.now() + seconds * 1000;
  let next = 0;
  const loop = async () => {
    let connection;
    while (performance.now() < until) {
      try {
        connection ??= await Connection.open(port, { host, localAddress });
        next += 1;
        const { status } = await Promise.race([
          connection.exchange(texts[next % texts.length]),
          pause(until - performance.now(), { status: 'open' }),
        ]);
        count(status);
        if (!connection.isLast) continue;
      } catch {
        count('cut');
        await pause(RETRY_MS);
      }
      connection?.close();
      connection = undefined;
    }
    connection?.close();
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return statuses;
}

/** Returns the request as forwarded by a proxy. */
function forwarded(text, address) {
  return text.replace('\r\n', `\r\nX-Forwarded-For: ${address}\r\n`);
}
