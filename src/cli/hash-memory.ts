import type { Config } from '#config/config.ts';
import { ExitError } from '#platform/base/errors.ts';

const BYTES_PER_KIB = 1024;
const BYTES_PER_MIB = 1024 * 1024;

/**
 * Refuses to start where hashes at work could take over half the memory of the container (operations 9.2): it would
 * be killed at the first rush of sign-ins.
 * @param atOnce hashes that may be at work
 * @param memoryLimit bytes, as `process.constrainedMemory()` says: beyond any machine, 0 or undefined without a limit
 * @throws ExitError 78
 */
export function requireMemoryForHashes(
  { passwords }: Pick<Config, 'passwords'>,
  atOnce: number,
  memoryLimit: number | undefined,
): void {
  if (memoryLimit === undefined || memoryLimit === 0 || !passwords.enabled) return;
  const bytesEach = Math.max(0, ...passwords.schemes.map(memoryOf));
  if (atOnce * bytesEach <= memoryLimit / 2) return;
  const fitting = Math.floor(memoryLimit / 2 / bytesEach);
  const advice =
    fitting > 0
      ? `set limits.password_hash_concurrency to at most ${fitting}, or give the container more memory`
      : 'give the container more memory, or take a smaller memory_kib in passwords.schemes';
  throw new ExitError(
    78,
    `${atOnce} password hashes at once need ${mib(atOnce * bytesEach)} MiB, over half of the ${mib(memoryLimit)} MiB ` +
      `of this container: ${advice}`,
  );
}

function memoryOf(scheme: Config['passwords']['schemes'][number]): number {
  return scheme.algorithm === 'argon2id' ? scheme.memoryKib * BYTES_PER_KIB : 0;
}

function mib(bytes: number): number {
  return Math.round(bytes / BYTES_PER_MIB);
}
