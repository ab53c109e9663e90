import { join, relative } from 'node:path';
import { packageRoot } from '#platform/base/package-root.ts';
import type { ConfigurationOptions } from './command-io.ts';

/** A shell command for people to copy: this program with the same configuration, called from the same folder. */
export function ownCommand(
  args: readonly string[],
  { files, flags }: ConfigurationOptions,
  workingDirectory: string,
): string {
  const program = join(packageRoot, 'bin/latchkey.js');
  const below = relative(workingDirectory, program);
  const dataDir = flags.dataDir === undefined ? [] : ['--data-dir', flags.dataDir];
  const options = [...files.flatMap((file) => ['--config', file]), ...dataDir];
  return ['node', below.startsWith('..') ? program : below, ...options, ...args].map(shellWord).join(' ');
}

/** A word as a shell reads it back. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9@%+=:,./_-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
