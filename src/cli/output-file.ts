/** Files that commands write for the operator, with mode 0600 because most contain secrets. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';

const OWNER_ONLY = 0o600;

/**
 * @param advice what to do if the file exists
 * @throws ExitError 73 if the file exists
 */
export function createFile(path: string, text: string, advice: string): void {
  attempt(path, advice, () => {
    const file = openSync(path, 'wx', OWNER_ONLY);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } catch (error) {
      // A partial key would block the next attempt, or be mistaken for a complete one.
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  });
}

/** Replaces a file atomically. It never has a mode that allows others to read it. */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${randomAlphanumeric(8)}.tmp`;
  try {
    attempt(path, 'retry', () => {
      writeFileSync(temporary, text, { mode: OWNER_ONLY, flag: 'wx' });
      chmodSync(temporary, OWNER_ONLY);
      renameSync(temporary, path);
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

function attempt(path: string, advice: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw new ExitError(ExitCode.cantCreate, `${path} already exists; ${advice}`);
    if (isErrno(error, 'EACCES')) throw new ExitError(ExitCode.noPermission, `cannot write ${path}: permission denied`);
    const reason = isErrno(error, 'ENOENT') ? 'its directory does not exist' : systemReason(error);
    throw new ExitError(ExitCode.failure, `cannot write ${path}: ${reason}`, {
      cause: error,
    });
  }
}
