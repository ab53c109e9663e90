import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workingDirectory } from '#config/fixture.test-support.ts';
import { loadConfig } from '#config/load.ts';
import { effectiveSettings } from '#config/reference/effective.ts';
import { readSigningKeys } from '#domain/keys/read-signing-keys.ts';
import { openLog } from '#platform/log/log-writer.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { Reload, type ReloadDeps } from './reload.ts';
import type { Settings } from './running-service.ts';

const [KEY] = testSigningKeys();
const SECRETS = `secrets: {encryption: ${'ab'.repeat(32)}, keys: [{key: ${JSON.stringify(KEY?.key.toString())}}]}\n`;
const FIRST_HALF = `${SECRETS}branding: {service_name: Next}\n`;
const SECOND_HALF = 'rate_limiting: {login: {per_ip: {burst: 5, per_second: 1}}}\n';
const database = await sharedByTests(createTestDatabase());

/** @param contents of the file, one for each read; the last one is repeated */
async function reloaded(...contents: readonly string[]) {
  const directory = workingDirectory({ 'latchkey.yaml': SECRETS });
  const log = join(directory, 'log');
  const sources = { files: [], environment: {}, flags: {}, workingDirectory: directory };
  const loaded = loadConfig(sources);
  const waiting = [...contents];
  const taken: string[] = [];
  const settings: Settings[] = [];
  const opened = openLog({ ...loaded.config.logging, output: { path: log } });
  const service: ReloadDeps['service'] = {
    signingKeys: readSigningKeys(testSigningKeys()),
    replace: async (next) => {
      const { config } = next;
      settings.push(next);
      const { burst } = config.rateLimiting.login.perIp;
      taken.push(`${config.branding.serviceName} ${burst === 5 ? 'whole' : 'half'}`);
      return 0;
    },
  };
  const isDone = await new Reload({
    foundation: {
      ...{ database: database.database, loaded, openLog: opened },
      prepareLog: () => ({ use: () => {}, discard: () => {} }),
      readConfig: (started) => {
        const content = started === undefined ? waiting.shift() : undefined;
        if (content !== undefined) writeFileSync(join(directory, 'latchkey.yaml'), content);
        return loadConfig({ ...sources, ...(started !== undefined && { started }) });
      },
      useDatabasePassword: () => () => {},
      usesGeneratedRoot: () => false,
    },
    ...{ service, manager: undefined, adapt: (config) => config, prepare: async () => {} },
  }).request();
  return { isDone, taken, settings };
}

test('F-25: a file being written is loaded once it is complete, even if its first half is valid', async () => {
  expect(await reloaded(FIRST_HALF, FIRST_HALF + SECOND_HALF)).toMatchObject({ isDone: true, taken: ['Next whole'] });
});

test('F-25: a file whose first half is invalid causes no failure once it is complete', async () => {
  const whole = FIRST_HALF + SECOND_HALF;
  expect(await reloaded(whole.slice(0, -8), whole)).toMatchObject({ isDone: true, taken: ['Next whole'] });
  expect(await reloaded(whole.slice(0, -8))).toMatchObject({ isDone: false, taken: [] });
});

test('the settings shown after a reload are those in effect, and those that wait for a restart are marked', async () => {
  const content = `${SECRETS}branding: {service_name: Next}\nhttp: {workers: 3, hsts: false}\nprotocol_name: other\n`;
  const [{ loaded, restart } = expect.fail('not reloaded')] = (await reloaded(content)).settings;
  const shown = effectiveSettings({ loaded, restart });
  const at = (key: string) => shown.find((setting) => setting.key === key);
  expect(at('branding.service_name')).toMatchObject({ value: 'Next', source: { kind: 'file', line: 2 } });
  expect(at('http.hsts')).toMatchObject({ value: false, differs: true, needsRestart: false });
  const isWaiting = { source: { kind: 'default' }, differs: false, needsRestart: true };
  expect(at('http.workers')).toMatchObject({ value: 1, ...isWaiting });
  expect(at('protocol_name')).toMatchObject({ value: 'chat', ...isWaiting });
});
