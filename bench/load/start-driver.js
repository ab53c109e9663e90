import { startWorker } from '../worker.js';

/** Starts a load driver in a process of its own. */
export function startDriver() {
  const worker = startWorker(new URL('./driver.js', import.meta.url), { serialization: 'advanced' });
  return {
    fillPool: (pool, items) => worker.ask({ kind: 'pool', pool, items }),
    /** @returns `{ count, seconds, latencies, cpuSeconds }`; latencies in milliseconds */
    drive: (order) => worker.ask({ kind: 'drive', ...order }),
    /**
     * @returns `{ done, refused, leftOut, seconds, latencies, refusals }`; milliseconds until each was answered, and until
     *   each was told to come back
     */
    offer: (order) => worker.ask({ kind: 'offer', ...order }),
    stop: worker.stop,
  };
}
