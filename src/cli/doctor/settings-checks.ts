/** Checks that need only files (operations 3.8). */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listPermissionProblems } from '#app/data-directory/data-directory.ts';
import { withRootKeys } from '#app/data-directory/root-key-files.ts';
import { type ConfigSources, type LoadedConfig, loadConfig } from '#config/load.ts';
import { type Finding, fail } from '#domain/health/finding.ts';
import { checkResources, fileFindings, SETTINGS, settingsFindings } from '#domain/health/settings-findings.ts';
import { ExitError } from '#platform/base/errors.ts';
import { readIfThere } from '#platform/base/files.ts';
import { processAccount } from '#platform/base/ownership.ts';

/**
 * Loads the configuration like the service, with the secrets of the data directory. Returns undefined if it is invalid.
 */
export async function checkConfiguration(
  sources: ConfigSources,
): Promise<{ readonly loaded: LoadedConfig | undefined; readonly findings: readonly Finding[] }> {
  try {
    const loaded = await loadAsService(sources);
    const findings = [...settingsFindings(loaded), ...(await checkFiles(loaded)), checkResources(loaded.config.http)];
    return { loaded, findings };
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
  const found = existsSync(config.dataDir)
    ? await listPermissionProblems(config.dataDir, processAccount())
    : { warnings: [], errors: [] };
  return fileFindings(found, fileWarnings);
}
