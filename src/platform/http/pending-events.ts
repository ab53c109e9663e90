import { outside } from '#platform/base/tasks.ts';

/**
 * Waits until the connections and bytes pending in the kernel have been received. The first immediate may run before
 * the event loop polls the kernel, the second one runs after.
 *
 * A timer can be the first thing that runs after the event loop was blocked. What it would report as missing may
 * already have arrived.
 */
export function afterPendingEvents(): Promise<void> {
  return outside(new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
}
