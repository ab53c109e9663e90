/** Findings about the configuration and its files (operations 3.8). */
import type { Config } from '#config/config.ts';
import type { LoadedConfig } from '#config/load.ts';
import type { Resource } from '#platform/http/http-options.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

export const SETTINGS = 'See docs/reference/configuration.md for all settings';

/** A configuration without errors, with what is worth a warning. */
export type ReadSettings = Pick<LoadedConfig, 'warnings' | 'fileWarnings' | 'deprecations' | 'files'>;

/** Problems of access to the files of the data directory. */
export interface FileProblems {
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
}

export function settingsFindings({ deprecations, files, fileWarnings, warnings }: ReadSettings): readonly Finding[] {
  const worth = [...warnings.filter((warning) => !fileWarnings.includes(warning)), ...deprecations];
  const names = files.length === 0 ? 'no file, only defaults and environment' : files.join(', ');
  return worth.length === 0 ? [ok('config', names)] : worth.map((warning) => warn('config', warning, SETTINGS));
}

/** @param fileWarnings about files of the configuration */
export function fileFindings(found: FileProblems, fileWarnings: readonly string[]): readonly Finding[] {
  const name = 'secrets.files';
  const hint = 'Read access to these files is enough to impersonate the service, and write access to replace its keys';
  const findings = [
    ...found.errors.map((error) => fail(name, error, hint)),
    ...[...fileWarnings, ...found.warnings].map((warning) => warn(name, warning, hint)),
  ];
  return findings.length > 0 ? findings : [ok(name, 'only this system user has access to the secrets')];
}

/** Operator endpoints should not be on the listener that users reach (operations 1.7.1). */
export function checkResources({ listeners }: Pick<Config['http'], 'listeners'>): Finding {
  const name = 'listener.resources';
  const serving = (resource: Resource) =>
    listeners.filter(({ resources }) => resources.some((one) => one.name === resource));
  const showing = serving('connection-info');
  if (showing.length === 0) return skip(name, 'no listener serves "connection-info"');
  const open = showing.filter((listener) => serving('human').includes(listener));
  if (open.length === 0) return ok(name, '"connection-info" is only on listeners without "human"');
  return warn(
    name,
    `${open.map((listener) => listener.name).join(', ')}: serves both "connection-info" and "human"`,
    'It shows the addresses of proxies to everyone. Remove it when you no longer need it, or move it to a separate listener',
  );
}
