import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stopProcess } from '../test/support/program.js';

/**
 * Runs a script in a separate process that handles orders. Each order is a message with an `id`, answered with `result`
 * or `failure`.
 * @param url of the script
 * @param options of `fork`
 */
export function startWorker(url, options = {}) {
  const child = fork(fileURLToPath(url), [], options);
  const waiting = new Map();
  let lastId = 0;
  child.on('message', ({ id, result, failure }) => {
    const order = waiting.get(id);
    waiting.delete(id);
    if (failure === undefined) order?.resolve(result);
    else order?.reject(new Error(failure));
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${url} ended with ${code ?? signal}`));
  });
  return {
    pid: child.pid,
    ask: (order) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        child.send({ id: lastId, ...order });
      }),
    stop: () => stopProcess(child),
  };
}

/** The child's side: answers each order with what `carryOut` returns or throws, and exits with its parent. */
export function serveOrders(carryOut) {
  process.on('message', async (order) => {
    try {
      process.send({ id: order.id, result: await carryOut(order) });
    } catch (error) {
      process.send({ id: order.id, failure: error.message });
    }
  });
  process.on('disconnect', () => process.exit());
}
