import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { storePolicyData } from '#domain/policy/store-policy-data.ts';
import { testConfig } from '#test/support/app.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { runCommand } from './run-command.test-support.ts';

let directory: string;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-policy-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
});

async function debugPolicy(policy: object, ...args: string[]) {
  const settings = {
    secrets: { encryption: 'ab'.repeat(32) },
    database: { uri: testDatabase.connectionString },
    logging: { output: join(directory, 'log') },
    policy,
  };
  writeFileSync(join(directory, 'latchkey.json'), JSON.stringify(settings), { mode: 0o600 });
  const argv = ['debug', 'policy', ...args, '-c', join(directory, 'latchkey.json')];
  return await runCommand(argv, { workingDirectory: directory });
}

test('debug policy: shows what decides each rule, without the database', async () => {
  writeFileSync(join(directory, 'rules.mjs'), 'export const email = () => []; export const register = () => [];');
  const { exitCode, out } = await debugPolicy({ module: 'rules.mjs' });
  expect(exitCode).toBe(0);
  expect(out).toBe(
    [
      `module: ${join(directory, 'rules.mjs')}`,
      ...['register: module', 'email: module', 'password: built-in', 'clientRegistration: built-in'],
      ...['authorizationGrant: built-in', 'compatLogin: built-in', 'the policy is valid', ''],
    ].join('\n'),
  );
  const { out: none } = await debugPolicy({}, '--json');
  expect(JSON.parse(none)).toMatchObject({ module: null, rules: { register: 'built-in' } });
});

test('debug policy: exit 1 and the reason for an invalid module', async () => {
  writeFileSync(join(directory, 'broken.mjs'), 'export const mail = () => [];');
  const { exitCode, out } = await debugPolicy({ module: 'broken.mjs' }, '--json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(out).problem).toMatch(/^policy\.module: .*broken\.mjs: unknown export "mail"/);
});

test('debug policy --with-dynamic-data: checks the data stored last, exit 1 when the configuration makes it invalid', async () => {
  const before = await debugPolicy({}, '--with-dynamic-data', '--json');
  expect([before.exitCode, JSON.parse(before.out).stored_data]).toEqual([0, null]);
  const database = testDatabase.database;
  const stored = await storePolicyData(database, { allowed_domains: ['example.org'] }, Date.now());
  const id = stored.ok ? stored.id : '';
  const good = await debugPolicy({}, '--with-dynamic-data');
  expect([good.exitCode, good.out]).toEqual([0, expect.stringContaining(`stored data: ${id}\nthe policy is valid\n`)]);
  await sql(database, `update policy_data set data = '{"allowed_domains": ["not a domain"]}'`);
  const bad = await debugPolicy({}, '--with-dynamic-data', '--json');
  expect([bad.exitCode, JSON.parse(bad.out).problem]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^policy data ${id}: data\\.allowed_domains\\.0: expected a domain`)),
  ]);
  // The command reports the effective data without changing it.
  const policy = new LivePolicy({
    configured: testConfig('https://a.example/', []).policy.data,
    database,
    log: silentLog,
  });
  expect((await policy.judgeStored())?.judged.ok).toBe(false);
  expect(policy.data.emails.allowedDomains).toEqual([]);
});
