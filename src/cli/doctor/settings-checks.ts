/** Checks that need only files (operations 3.8). */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listPermissionProblems } from '#app/data-directory/data-directory.ts';
import { withRootKeys } from '#app/data-directory/root-key-files.ts';
import type { Config } from '#config/config.ts';
import { type ConfigSources, type LoadedConfig, loadConfig } from '#config/load.ts';
import { ExitError } from '#platform/base/errors.ts';
import { readIfThere } from '#platform/base/files.ts';
import { processAccount } from '#platform/base/ownership.ts';
import type { Resource } from '#platform/http/http-options.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

const SETTINGS = 'See docs/reference/configuration.md for all settings';

/**
 * Loads the configuration like the service, with the secrets of the data directory. Returns undefined if it is invalid.
 */
export async function checkConfiguration(
  sources: ConfigSources,
): Promise<{ readonly loaded: LoadedConfig | undefined; readonly findings: readonly Finding[] }> {
  try {
    const loaded = await loadAsService(sources);
    const { fileWarnings, warnings, deprecations, files } = loaded;
    const worth = [...warnings.filter((warning) => !fileWarnings.includes(warning)), ...deprecations];
    const names = files.length === 0 ? 'no file, only defaults and environment' : files.join(', ');
    const findings =
      worth.length === 0 ? [ok('config', names)] : worth.map((warning) => warn('config', warning, SETTINGS));
    return { loaded, findings: [...findings, ...(await checkFiles(loaded)), checkResources(loaded.config.http)] };
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    const [first = '', ...problems] = error.message.split('\n').map((line) => line.trim());
    const messages = problems.length === 0 ? [first] : problems;
    return { loaded: undefined, findings: messages.map((message) => fail('config', message, SETTINGS)) };
  }
}

/** Does not generate missing secrets. */
async function loadAsService(sources: ConfigSources): Promise<LoadedConfig> {
  const first = loadConfig(sources);
  const { dataDir } = first.config;
  const keysDir = join(dataDir, 'keys');
  const encryptionKey = (await readIfThere(join(dataDir, 'encryption.key')))?.trim();
  const hasKeys = statSync(keysDir, { throwIfNoEntry: false })?.isDirectory() === true;
  if (encryptionKey === undefined && !hasKeys) return first;
  return loadConfig({
    ...sources,
    generated: withRootKeys(dataDir, { encryptionKey, keysDir: hasKeys ? keysDir : undefined }),
  });
}

async function checkFiles({ config, fileWarnings }: LoadedConfig): Promise<readonly Finding[]> {
  const name = 'secrets.files';
  const hint = 'Read access to these files is enough to impersonate the service, and write access to replace its keys';
  const found = existsSync(config.dataDir)
    ? await listPermissionProblems(config.dataDir, processAccount())
    : { warnings: [], errors: [] };
  const findings = [
    ...found.errors.map((error) => fail(name, error, hint)),
    ...[...fileWarnings, ...found.warnings].map((warning) => warn(name, warning, hint)),
  ];
  return findings.length > 0 ? findings : [ok(name, 'only this system user has access to the secrets')];
}

/** Operator endpoints should not be on the listener that users reach (operations 1.7.1). */
function checkResources({ listeners }: Pick<Config['http'], 'listeners'>): Finding {
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
