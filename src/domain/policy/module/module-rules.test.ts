import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testConfig } from '#test/support/app.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { ModuleRules } from './module-rules.ts';
import { loadPolicyModule } from './policy-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-policy-'));
const { policy } = testConfig('https://auth.example.org/', ['human']);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(text: string, name = 'rules.mjs'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Returns what a module's `email` rule decides about an address, and what is logged. */
async function judged(rule: string, deadlineMs = 50) {
  const log = new RecordingLog({ clock: new FakeClock() });
  const module = await loadPolicyModule(write(`export const email = ${rule};`));
  const rules = new ModuleRules({ module, policy, log, deadlineMs });
  const violations = await rules.judge('email', { email: 'a@example.org' });
  const errors = log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);
  return { violations, errors };
}

describe('a rule of the policy module', () => {
  test('is called with input and data, and its reasons are returned unchanged, sync or async', async () => {
    const rule = `(input, data) => input.email.endsWith('.org') && data.registration.banned_usernames.literals.length > 0
      ? [{ code: 'no-org', msg: 'No <b>.org</b>', field: 'email' }] : []`;
    const violations = [{ code: 'no-org', msg: 'No <b>.org</b>', field: 'email', redirect: undefined }];
    expect(await judged(rule)).toEqual({ violations, errors: [] });
    expect(await judged(`async ${rule}`)).toEqual({ violations, errors: [] });
    expect(await judged('() => []')).toEqual({ violations: [], errors: [] });
  });

  test('that is missing returns nothing and replaces nothing', async () => {
    const module = await loadPolicyModule(write('export const email = () => [];'));
    const rules = new ModuleRules({ module, policy, log: new RecordingLog({ clock: new FakeClock() }) });
    expect([rules.replaces('email'), rules.replaces('register')]).toEqual([true, false]);
    expect(await rules.judge('password', { password: 'x', username: 'u', display_name: null, emails: [] })).toEqual([]);
  });

  test.each([
    ["() => { throw new Error('out of order\\nsecond line'); }", 'Error: out of order'],
    ['async () => { throw undefined; }', 'undefined'],
    ["() => 'no'", 'the result must be a list of violations, but is of type string'],
    ['() => undefined', 'the result must be a list of violations, but is undefined'],
    ['() => true', 'the result must be a list of violations, but is of type boolean'],
    ["() => ['no']", 'violation 1 must be an object, but is of type string'],
    ["() => [{ msg: 'no' }]", 'violation 1: "code" must be 1 to 64 letters'],
    ["() => [{ code: 'a b', msg: 'no' }]", 'violation 1: "code" must be 1 to 64 letters'],
    ["() => [{ code: 'a' }]", 'violation 1 has no "msg"'],
    [
      "() => [{ code: 'a', msg: 'b' }, { code: 'a', msg: 1 }]",
      'violation 2: "msg" must be a string, but is of type number',
    ],
    ["() => [{ code: 'a', msg: 'b', level: 1 }]", 'violation 1 has the unknown property "level"'],
    ["() => [{ code: 'a', msg: 'b', redirect: 'https://a.example' }]", '"redirect" is supported only by the rule'],
    ["() => [{ code: 'a', msg: 'x'.repeat(501) }]", '"msg" is longer than 500 characters'],
    ["() => Array(21).fill({ code: 'a', msg: 'b' })", 'more than 20 violations'],
    ["() => [{ code: 'a', get msg() { throw new Error('trap'); } }]", 'Error: trap'],
    ['() => new Promise(() => {})', 'no result within 50 ms'],
    ["(input, data) => { data.admin_users.push('me'); return []; }", 'TypeError: Cannot add property 0'],
  ])('that fails rejects with policy_error and logs one ERROR line with its name: %s', async (rule, reason) => {
    const { violations, errors } = await judged(rule);
    expect(violations).toMatchObject([{ code: 'policy_error' }]);
    expect(errors).toMatchObject([{ rule: 'email', reason: expect.stringContaining(reason) }]);
    expect(String(errors[0]?.['reason'])).not.toContain('\n');
  });
});

describe('a policy module', () => {
  test.each([
    ['export const emails = () => [];', 'unknown export "emails"; the rules are register, email, password'],
    ['export default {};', 'unknown export "default"'],
    ['export const email = 1;', 'export "email" is not a function'],
    ['', 'no rule is exported'],
    ['export const email = (', 'cannot be loaded: '],
    ["import 'not-there'; export const email = () => [];", 'cannot be loaded: Error'],
    ["throw new Error('not today');", 'cannot be loaded: Error: not today'],
  ])('that cannot be used is rejected with the reason: %s', async (text, reason) => {
    await expect(loadPolicyModule(write(text))).rejects.toThrow(reason);
  });

  test('that does not exist is rejected', async () => {
    await expect(loadPolicyModule(join(folder, 'none.mjs'))).rejects.toThrow('cannot be read: no such file');
  });

  test('is read again when the file has changed, and stays the same while it has not', async () => {
    const first = await loadPolicyModule(write('export const email = () => [];'));
    expect((await loadPolicyModule(join(folder, 'rules.mjs'))).email).toBe(first.email);
    const next = await loadPolicyModule(write('export const register = () => [];'));
    expect(Object.keys(next)).toEqual(['register']);
  });
});
