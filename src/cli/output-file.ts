/** Files that commands write for the operator: mode 0600, since most of them hold secrets. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { systemReason } from '#platform/base/system-errors.ts';

const OWNER_ONLY = 0o600;

/**
 * @param advice what to do when the file exists
 * @throws ExitError 73 when the file exists
 */
export function createFile(path: string, text: string, advice: string): void {
  attempt(path, advice, () => {
    const file = openSync(path, 'wx', OWNER_ONLY);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } catch (error) {
      // Part of a key would be in the way of the next attempt, or be taken for the whole.
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  });
}

/** The file has either its old or its new content, and never a mode that others could read it by. */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${randomAlphanumeric(8)}.tmp`;
  try {
    attempt(path, 'try again', () => {
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
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') throw new ExitError(ExitCode.cantCreate, `${path} exists; ${advice}`);
    if (code === 'EACCES') throw new ExitError(ExitCode.noPermission, `cannot write ${path}: permission denied`);
    const reason = code === 'ENOENT' ? 'its folder does not exist' : systemReason(error);
    throw new ExitError(ExitCode.failure, `cannot write ${path}: ${reason}`, {
      cause: error,
    });
  }
}
