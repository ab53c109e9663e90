/** Detects disk-full errors in the output of the PostgreSQL programs. */
import { ExitCode, ExitError } from '#platform/base/errors.ts';

/** The programs run with the C locale, so their output is in English. */
const DISK_FULL = /No space left on device|Disk quota exceeded/;

/** @returns undefined if the output does not mention a full disk */
export function diskFullError(what: string, output: string): ExitError | undefined {
  if (!DISK_FULL.test(output)) return undefined;
  return new ExitError(
    ExitCode.osError,
    `${what}: the disk is full. Free some space and retry; nothing else needs repair.\n  ${output}`,
  );
}
