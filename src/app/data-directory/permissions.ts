import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { judgeOwnership, type ProcessAccount } from '#platform/base/ownership.ts';

/** Group and others; of directories only listing counts, since the embedded server's account has to pass through. */
const ACCESSIBLE = 0o077;
const LISTABLE = 0o066;

export interface PermissionProblems {
  readonly warnings: string[];
  /** What the service must not start with: others could plant keys of their own. */
  readonly errors: string[];
}

/**
 * Judges owner, group and mode of the data directory, of `keys/`, and of the secret files in them, as far as they
 * exist. What was made here is private to one account, so that any access of another is worth a warning.
 */
export async function listPermissionProblems(
  dataDir: string,
  account: ProcessAccount | undefined,
): Promise<PermissionProblems> {
  const problems: PermissionProblems = { warnings: [], errors: [] };
  const keysDir = join(dataDir, 'keys');
  const judge = async (path: string, unwanted: number): Promise<void> => {
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) return;
    const { error, warning } = judgeOwnership(path, status, account);
    if (error !== undefined) problems.errors.push(error);
    else if (warning !== undefined) problems.warnings.push(warning);
    else if ((status.mode & unwanted) !== 0) {
      const mode = (status.mode & 0o777).toString(8).padStart(4, '0');
      problems.warnings.push(`${path} has mode ${mode}: other accounts have access to it; run chmod go-rw on it`);
    }
  };
  await judge(dataDir, LISTABLE);
  await judge(keysDir, LISTABLE);
  const keys = await readdir(keysDir).catch(() => []);
  for (const path of [join(dataDir, 'encryption.key'), ...keys.map((name) => join(keysDir, name))]) {
    await judge(path, ACCESSIBLE);
  }
  return problems;
}
