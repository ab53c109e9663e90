import { type Machine, thisMachine } from '#platform/base/machine.ts';

export const MAX_WORKERS = 64;
/** Memory of a process with a few concurrent sign-ins. */
export const ENOUGH_BYTES_PER_PROCESS = 256 * 1024 * 1024;

/** Returns the number of serving processes for `http.workers: auto`. */
export function automaticWorkers({ processors, memoryLimit }: Machine = thisMachine()): number {
  const isLimited = memoryLimit !== undefined && memoryLimit > 0;
  const fitting = isLimited ? Math.floor(memoryLimit / ENOUGH_BYTES_PER_PROCESS) : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(MAX_WORKERS, processors, fitting));
}
