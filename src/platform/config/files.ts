import { readFileSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from './problems.ts';
import type { Node, Origin } from './tree.ts';
import { parseYaml } from './yaml.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const USUAL_PLACES = ['latchkey.yaml', 'config.yaml', '/etc/latchkey/config.yaml'];

/**
 * Returns the files to read in order of precedence: those named on the command line, or else in `LATCHKEY_CONFIG`. If
 * neither is set, it is the first file found in the usual places, if any.
 */
export function configurationFiles(
  named: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  workingDirectory: string,
): readonly string[] {
  if (named.length > 0) return named;
  const listed = (environment['LATCHKEY_CONFIG'] ?? '').split(':').filter((file) => file !== '');
  if (listed.length > 0) return listed;
  const found = USUAL_PLACES.find((file) => isThere(resolve(workingDirectory, file)));
  return found === undefined ? [] : [found];
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

export interface FileContent {
  readonly root: Node | undefined;
  readonly problems: readonly Problem[];
}

/** @param rank of the source; @param file as the operator named it, used in problem reports */
export function readConfigurationFile(file: string, rank: number, workingDirectory: string): FileContent {
  const path = resolve(workingDirectory, file);
  const origin: Origin = { rank, source: displayName(file, workingDirectory), directory: dirname(path) };
  const fail = (message: string): FileContent => ({
    root: undefined,
    problems: [{ key: undefined, message, at: origin }],
  });
  let bytes: Buffer;
  try {
    if (statSync(path).size > MAX_BYTES) return fail('the file is larger than 4 MiB');
    bytes = readFileSync(path);
  } catch (error) {
    return fail(`cannot read the configuration file: ${systemReason(error)}`);
  }
  if (bytes.length > MAX_BYTES) return fail('the file is larger than 4 MiB');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail('the file is not UTF-8');
  }
  return parseYaml(text, origin);
}

function displayName(file: string, workingDirectory: string): string {
  return file.startsWith('./') ? relative(workingDirectory, resolve(workingDirectory, file)) : file;
}
