/** What the programs of PostgreSQL say where a disk has no room left. */
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** They speak English here. */
const DISK_FULL = /No space left on device|Disk quota exceeded/;

/** @returns undefined when the output says nothing of a full disk */
export function diskFullError(what: string, output: string): ExitError | undefined {
  if (!DISK_FULL.test(output)) return undefined;
  return new ExitError(
    ExitCode.osError,
    `${what}: a disk is full. Free space on it and try again; nothing else has to be repaired.\n  ${output}`,
  );
}
