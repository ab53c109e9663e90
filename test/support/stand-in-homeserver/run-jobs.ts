import { createHomeserverWorker } from '#app/jobs.ts';
import type { Core } from '#domain/core.ts';

/** Runs the jobs of the homeserver that are due, and those that they make due. */
export async function tellHomeserver(core: Core): Promise<void> {
  const worker = createHomeserverWorker(core);
  while ((await worker.poll()) > 0) await worker.idle();
}
