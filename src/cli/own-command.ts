import { join, relative } from 'node:path';
import { packageRoot } from '#platform/base/package-root.ts';
import type { CommandOptions } from './command-io.ts';

/** Returns a shell command for users to copy: this program with the same configuration, run from the same directory. */
export function ownCommand(
  args: readonly string[],
  { files, flags }: CommandOptions,
  workingDirectory: string,
): string {
  const program = join(packageRoot, 'bin/latchkey.js');
  const below = relative(workingDirectory, program);
  const dataDir = flags.dataDir === undefined ? [] : ['--data-dir', flags.dataDir];
  const options = [...files.flatMap((file) => ['--config', file]), ...dataDir];
  return ['node', below.startsWith('..') ? program : below, ...options, ...args].map(shellWord).join(' ');
}

/** Quotes a word for the shell. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
