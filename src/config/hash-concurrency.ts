import { type Machine, thisMachine } from '#platform/base/machine.ts';
import type { PasswordsConfig } from './sections/passwords.ts';

type HashedPasswords = Pick<PasswordsConfig, 'enabled' | 'schemes'>;

const BYTES_PER_KIB = 1024;

/**
 * Returns how many hashes the processors and the memory can handle concurrently. The start is rejected later if the
 * result is less than 1.
 * @param processes number of serving processes on this machine
 */
export function defaultHashConcurrency(
  processes: number,
  passwords: HashedPasswords,
  { processors, memoryLimit }: Machine = thisMachine(),
): number {
  const computed = Math.min(8, Math.max(2, Math.ceil(processors / processes)));
  const fitting = fittingHashes(memoryLimit, hashBytes(passwords));
  return Math.max(1, Math.min(computed, Math.floor(fitting / processes)));
}

/** Returns how many hashes fit into half of the container's memory (operations 9.2). */
export function fittingHashes(memoryLimit: Machine['memoryLimit'], bytesEach: number): number {
  if (memoryLimit === undefined || memoryLimit === 0 || bytesEach === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(memoryLimit / 2 / bytesEach);
}

/** Returns the memory that one hash needs, in bytes, for the scheme that needs the most. */
export function hashBytes({ enabled, schemes }: HashedPasswords): number {
  if (!enabled) return 0;
  return Math.max(0, ...schemes.map((one) => (one.algorithm === 'argon2id' ? one.memoryKib * BYTES_PER_KIB : 0)));
}
