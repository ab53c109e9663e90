import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '#platform/config/dot-env.ts';
import { configurationFiles } from '#platform/config/files.ts';

const USUAL_NAME = 'config.yaml';

export interface NamedFiles {
  readonly names: readonly string[];
  /** The operator said that they are files of Matrix Authentication Service. */
  readonly areDeclared: boolean;
  /** What names other files than `MAS_CONFIG`, if that is set. */
  readonly overruledBy: string | undefined;
}

interface FileSources {
  /** Named on the command line. */
  readonly files: readonly string[];
  /** The program is `mas-cli`. */
  readonly isMas?: boolean;
  readonly workingDirectory: string;
}

/** Returns the files to read: those of the command line, `LATCHKEY_CONFIG`, `MAS_CONFIG`, or in the usual places. */
export function namedFiles(
  { files, isMas = false, workingDirectory }: FileSources,
  environment: Environment,
): NamedFiles {
  const variable = listOf(environment['MAS_CONFIG']);
  const others = files.length > 0 || (!isMas && listOf(environment['LATCHKEY_CONFIG']).length > 0);
  const declared = (names: readonly string[]): NamedFiles => ({ names, areDeclared: true, overruledBy: undefined });
  if (isMas) return declared(files.length > 0 ? files : variable.length > 0 ? variable : [USUAL_NAME]);
  const names = configurationFiles(files, environment, workingDirectory);
  if (variable.length === 0) return { names, areDeclared: false, overruledBy: undefined };
  if (!others || variable.every((file) => names.includes(file))) return declared(others ? names : variable);
  return { names, areDeclared: false, overruledBy: files.length > 0 ? '--config' : 'LATCHKEY_CONFIG' };
}

function listOf(text = ''): readonly string[] {
  return text.split(':').filter((file) => file !== '');
}

/**
 * Returns the place of a relative file name: in the working directory, or else in the nearest directory above it.
 * Undefined: nowhere.
 */
export function findUpwards(name: string, workingDirectory: string): string | undefined {
  for (let directory = workingDirectory; ; directory = dirname(directory)) {
    const path = resolve(directory, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
    if (isAbsolute(name) || directory === dirname(directory)) return undefined;
  }
}

/** Returns the directory of `.env`. */
export function dotEnvDirectory({ isMas = false, workingDirectory }: FileSources): string {
  const found = isMas ? findUpwards('.env', workingDirectory) : undefined;
  return found === undefined ? workingDirectory : join(found, '..');
}
