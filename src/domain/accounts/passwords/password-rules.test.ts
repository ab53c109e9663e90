import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_MODULE_RULES } from '#test/support/module-rules.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import { findPasswordProblem } from './password-rules.ts';
import { StrengthEstimator } from './strength-estimator.ts';

const settings = {
  ...{ minimumComplexity: 3, minimumLength: 8, maximumLength: 1024, moduleRules: NO_MODULE_RULES },
  leakedPasswords: { has: async () => false },
};
const owner = { username: 'florentina.b', emails: ['tina.bergwald@example.org'], serviceName: 'Klabauterdienst' };
const CALLER = { address: '192.0.2.1' };
const strong = 'vortex-Lampion 71 pergola';
let estimator: StrengthEstimator;

beforeAll(async () => {
  estimator = new StrengthEstimator(await bundleWorker(new URL('./strength.worker.ts', import.meta.url)));
});

afterAll(() => estimator.close());

function problem(password: string): ReturnType<typeof findPasswordProblem> {
  return findPasswordProblem({ ...settings, estimator }, password, owner, CALLER);
}

describe('new passwords (S-93)', () => {
  test.each([
    ['the username', 'florentina.b'],
    ['the e-mail address', 'tina.bergwald@example.org'],
    ['the local part of the address', 'tina.bergwald'],
    ['the name of the service', 'Klabauterdienst'],
    ['only spaces', '            '],
    ['a keyboard walk', 'qwertzuiop123'],
  ])('%s is too weak', async (_, password) => {
    expect(await problem(password)).toBe('password_too_weak');
  });

  test.each([
    ['the most common one', 'password'],
    ['a common one in upper case', 'BASEBALL'],
  ])('%s is widely known to attackers (browser-flows 5.7)', async (_, password) => {
    expect(await problem(password)).toBe('password_compromised');
  });

  test('seven characters are too short, counted in characters, not bytes', async () => {
    expect(await problem('xK9#tq!')).toBe('password_too_short');
    expect(await problem('ßä漢字漢ßö')).toBe('password_too_short');
    expect(await problem('🦔🛶🪁')).toBe('password_too_short');
  });

  test('1,025 bytes are too long and 1,024 are accepted', async () => {
    const longest = `${strong} `.repeat(40).slice(0, 1024);
    expect(await problem(longest)).toBeUndefined();
    expect(await problem(`${longest}x`)).toBe('password_too_long');
    expect(await problem(`${longest.slice(0, 1023)}ß`)).toBe('password_too_long');
  });

  test('64 characters are accepted', async () => {
    expect(await problem(`${strong} ${strong} ${strong}`.slice(0, 64))).toBeUndefined();
  });

  test('a zero byte is rejected', async () => {
    expect(await problem(`${strong}\0${strong}`)).toBe('password_invalid');
  });

  test('a common password is rejected even when no strength is required', async () => {
    const lenient = { ...settings, estimator, minimumComplexity: 0 };
    expect(await findPasswordProblem(lenient, 'baseball', owner, CALLER)).toBe('password_compromised');
    expect(await findPasswordProblem(lenient, 'a fine day', owner, CALLER)).toBeUndefined();
  });

  test('after the worker dies the next request starts another', async () => {
    await estimator.close();
    expect(await problem(strong)).toBeUndefined();
  });
});
