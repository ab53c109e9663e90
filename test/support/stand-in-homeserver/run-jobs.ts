import { createHomeserverWorker } from '#app/jobs.ts';
import type { Core } from '#domain/core.ts';

/** Runs the homeserver jobs that are due, including those that become due as a result. */
export async function notifyHomeserver(core: Core): Promise<void> {
  const worker = createHomeserverWorker(core);
  while ((await worker.poll()) > 0) await worker.idle();
}
