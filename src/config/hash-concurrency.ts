import { availableParallelism } from 'node:os';
import type { PasswordsConfig } from './sections/passwords.ts';

type HashedPasswords = Pick<PasswordsConfig, 'enabled' | 'schemes'>;

/** What hashes of passwords have. */
interface Machine {
  readonly processors: number;
  /** Bytes, as `process.constrainedMemory()` says: beyond any machine, 0 or undefined without a limit. */
  readonly memoryLimit: number | undefined;
}

const BYTES_PER_KIB = 1024;

/**
 * As many hashes at once as the processors can compute and the memory can hold; a start with less than one is refused
 * later.
 * @param processes that serve on this machine together
 */
export function defaultHashConcurrency(
  processes: number,
  passwords: HashedPasswords,
  { processors, memoryLimit }: Machine = {
    processors: availableParallelism(),
    memoryLimit: process.constrainedMemory(),
  },
): number {
  const computed = Math.min(8, Math.max(2, Math.ceil(processors / processes)));
  const fitting = fittingHashes(memoryLimit, hashBytes(passwords));
  return Math.max(1, Math.min(computed, Math.floor(fitting / processes)));
}

/** How many hashes fit into half the memory of the container (operations 9.2). */
export function fittingHashes(memoryLimit: Machine['memoryLimit'], bytesEach: number): number {
  if (memoryLimit === undefined || memoryLimit === 0 || bytesEach === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(memoryLimit / 2 / bytesEach);
}

/** Bytes of memory that a hash takes while it is computed, by the scheme that takes the most. */
export function hashBytes({ enabled, schemes }: HashedPasswords): number {
  if (!enabled) return 0;
  return Math.max(0, ...schemes.map((one) => (one.algorithm === 'argon2id' ? one.memoryKib * BYTES_PER_KIB : 0)));
}
