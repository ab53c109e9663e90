import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { type ConfigFlags, type GeneratedSecrets, type LoadedConfig, loadConfig } from './load.ts';

export interface Situation {
  /** Content by name. Most tests name the first file `latchkey.yaml`. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: ConfigFlags;
  /** Files named on the command line. */
  readonly named?: readonly string[];
  readonly generated?: (directory: string) => GeneratedSecrets;
}

/** Writes files into a new working directory, which is removed after the test. */
export function workingDirectory(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content, { mode: 0o600 });
  }
  return directory;
}

export function load(situation: Situation = {}): LoadedConfig & { readonly directory: string } {
  const directory = workingDirectory(situation.files);
  const { generated } = situation;
  const loaded = loadConfig({
    files: situation.named ?? [],
    environment: situation.environment ?? {},
    flags: situation.flags ?? {},
    workingDirectory: directory,
    ...(generated === undefined ? {} : { generated: generated(directory) }),
  });
  return { ...loaded, directory };
}

/** Loads the configuration from YAML text. */
export function loadYaml(yaml: string) {
  return load({ files: { 'latchkey.yaml': yaml } }).config;
}

/** Returns the lines of the error report after the first, unindented. Empty if the configuration is valid. */
export function problemsOf(situation: Situation): readonly string[] {
  try {
    load(situation);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    if (error.exitCode !== ExitCode.config) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.slice(2));
  }
  return [];
}

export function problemsOfYaml(yaml: string): readonly string[] {
  return problemsOf({ files: { 'latchkey.yaml': yaml } });
}
