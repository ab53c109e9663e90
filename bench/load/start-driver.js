import { startWorker } from '../worker.js';

/** Starts a load driver in a separate process. */
export function startDriver() {
  const worker = startWorker(new URL('./driver.js', import.meta.url), { serialization: 'advanced' });
  return {
    fillPool: (pool, items) => worker.ask({ kind: 'pool', pool, items }),
    /** @returns `{ count, seconds, latencies, cpuSeconds }`; latencies in milliseconds */
    drive: (order) => worker.ask({ kind: 'drive', ...order }),
    /**
     * @returns `{ done, refused, leftOut, seconds, latencies, refusals }`; latencies of served and of refused requests,
     * in milliseconds
     */
    offer: (order) => worker.ask({ kind: 'offer', ...order }),
    stop: worker.stop,
  };
}
