import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const READABLE = 0o064;
const ACCESSIBLE = 0o077;
const WRITABLE_BY_OTHERS = 0o002;

export interface PermissionProblems {
  readonly warnings: string[];
  /** What the service must not start with: others could plant keys of their own. */
  readonly errors: string[];
}

/** Judges the modes of the data directory, of `keys/`, and of the secret files in them, as far as they exist. */
export async function listPermissionProblems(dataDir: string): Promise<PermissionProblems> {
  const problems: PermissionProblems = { warnings: [], errors: [] };
  const keysDir = join(dataDir, 'keys');
  await judge(problems, dataDir, READABLE, 'readable');
  await judge(problems, keysDir, READABLE, 'readable');
  const keys = await readdir(keysDir).catch(() => []);
  for (const path of [join(dataDir, 'encryption.key'), ...keys.map((name) => join(keysDir, name))]) {
    await judge(problems, path, ACCESSIBLE, 'accessible');
  }
  return problems;
}

async function judge(problems: PermissionProblems, path: string, unwanted: number, how: string): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0,
  );
  const shown = `has mode ${mode.toString(8).padStart(4, '0')}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    problems.errors.push(`${path} ${shown}: every account may write to it; run chmod o-w on it`);
  } else if ((mode & unwanted) !== 0) {
    problems.warnings.push(`${path} ${shown}: it is ${how} by other accounts; run chmod go-rw on it`);
  }
}
