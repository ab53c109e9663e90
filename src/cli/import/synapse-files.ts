import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse, type ScalarTag, type Tags, YAMLParseError } from 'yaml';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { isObject } from '#platform/base/objects.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import { parseSynapseSettings, type SynapseSettings } from './synapse-settings.ts';

export interface SynapseConfiguration {
  readonly settings: SynapseSettings;
  /**
   * Reads a file that a setting names.
   * @throws ExitError 1 or 77 if it cannot be read
   */
  readFile(path: string): string;
}

/**
 * Reads what `synapse.app.homeserver --config-path` would: files, and `.yaml` files of directories. Top-level sections
 * of later files replace those of earlier files.
 * @throws ExitError 1, or 77 without permission to read a file
 */
export function readSynapseConfiguration(paths: readonly string[], workingDirectory: string): SynapseConfiguration {
  const files = paths.flatMap((path) => filesAt(resolve(workingDirectory, path)));
  const values = Object.assign({}, ...files.map(readMapping));
  const directory = dirname(files[0] ?? workingDirectory);
  return {
    settings: parseSynapseSettings(values),
    // Relative paths start at Synapse's working directory, which is not known here.
    readFile: (path) => read(resolve(directory, path)),
  };
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.yaml'));
    return names.toSorted().map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
}

function readMapping(file: string): object {
  const value = parsed(file);
  if (isObject(value)) return value;
  throw new ExitError(ExitCode.failure, `${file}: expected Synapse settings in the form "name: value"`);
}

/** Like PyYAML, which Synapse uses: yes and no are booleans, y and n are not. */
const BOOLEAN = 'tag:yaml.org,2002:bool';
const booleans: ScalarTag[] = [
  { tag: BOOLEAN, default: true, test: /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, resolve: () => true },
  { tag: BOOLEAN, default: true, test: /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, resolve: () => false },
];
const customTags = (tags: Tags): Tags => [
  ...booleans,
  ...tags.filter((one) => typeof one === 'string' || one.tag !== BOOLEAN),
];

function parsed(file: string): unknown {
  try {
    return parse(read(file), { version: '1.1', merge: true, uniqueKeys: false, logLevel: 'error', customTags });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new ExitError(ExitCode.failure, `${file}: ${error.message}`);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): ExitError {
  const reason = systemReason(error);
  const exitCode = reason === 'permission denied' ? ExitCode.noPermission : ExitCode.failure;
  return new ExitError(exitCode, `cannot read ${path}: ${reason}`, { cause: error });
}
