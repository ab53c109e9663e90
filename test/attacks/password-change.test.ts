/** Security 4.14: password changes by a session thief and in races. */
import { describe, expect, test } from 'vitest';
import { type Change, changePassword, viewerId } from '../support/account-operations.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { attackedService, C3, PASSWORD } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';

const attacked = attackedService({}, { arePasswordsChosen: true });
attacked.secrets.add(NEW_PASSWORD);

const CHANGES = "audit_events where kind = 'password_changed'";
const OF_AMIRA = "(select id from users where username = 'amira')";
const NEWEST = `(select id from user_sessions where user_id = ${OF_AMIRA} order by id desc limit 1)`;

async function tryPassword(username: string, password: string): Promise<number> {
  const browser = attacked.browser();
  await browser.get('/login');
  return (await browser.submit({ username, password })).status;
}

/** Restores the account's original password. */
async function restore(): Promise<void> {
  await attacked.change(
    `update user_passwords set hash = other.hash, scheme_version = other.scheme_version
       from user_passwords other where user_passwords.user_id = ${OF_AMIRA}
        and other.user_id = (select id from users where username = 'bruno')`,
  );
}

describe('with a stolen session (S-122)', () => {
  test.each<[string, Partial<Change>, string]>([
    ['no current password', {}, 'BAD_USER_INPUT'],
    ['null', { oldPassword: null }, 'BAD_USER_INPUT'],
    ['an empty one', { oldPassword: '' }, 'WRONG_PASSWORD'],
    ['a wrong one', { oldPassword: 'guess' }, 'WRONG_PASSWORD'],
  ])('%s changes no password', async (_, fields, outcome) => {
    const attacker = await attacked.signedIn('amira');
    const changes = await attacked.count(CHANGES);
    expect(await changePassword(attacker, { newPassword: NEW_PASSWORD, ...fields })).toBe(outcome);
    expect(await attacked.count(CHANGES)).toBe(changes);
    for (const username of ['amira', 'bruno']) expect(await tryPassword(username, PASSWORD)).toBe(303);
  });

  test("the id of another account changes nothing, with either account's password", async () => {
    const userId = await viewerId(await attacked.signedIn('bruno'));
    const attacker = await attacked.signedIn('amira');
    const changes = await attacked.count(CHANGES);
    for (const oldPassword of [PASSWORD, 'guess', null]) {
      expect(await changePassword(attacker, { userId, oldPassword, newPassword: NEW_PASSWORD })).toBe('FORBIDDEN');
    }
    expect(await attacked.count(CHANGES)).toBe(changes);
    for (const username of ['amira', 'bruno']) expect(await tryPassword(username, PASSWORD)).toBe(303);
  });
});

describe('in concurrent requests', () => {
  test('30 changes at once from two browsers and two instances: one takes effect (S-100)', async () => {
    const browsers = [await attacked.signedIn('amira'), await attacked.signedIn('amira')];
    const userId = await viewerId(browsers[0] ?? expect.fail('no browser'));
    await attacked.withSecondInstance(async (second) => {
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const sent = attacked.browser({ at: index % 4 < 2 ? attacked.service : second });
          for (const [name, value] of browsers[index % 2]?.cookies ?? []) sent.cookies.set(name, value);
          const change = { userId, oldPassword: PASSWORD, newPassword: `${NEW_PASSWORD} ${index}` };
          return await changePassword(sent, change);
        }),
      );
      const taken = outcomes.flatMap((outcome, index) => (outcome === 'ALLOWED' ? [index] : []));
      expect([taken.length, outcomes]).toEqual([1, outcomes]);
      expect(await tryPassword('amira', `${NEW_PASSWORD} ${taken[0]}`)).toBe(303);
      expect(await tryPassword('amira', PASSWORD)).toBe(200);
    });
    await restore();
  });

  test('a password set by the command line meanwhile is kept (S-102)', async () => {
    const browser = await attacked.signedIn('amira');
    const userId = await viewerId(browser);
    const held = await HeldChange.make(
      attacked.service.connectionString,
      `update user_passwords set id = gen_random_uuid() where user_id = ${OF_AMIRA}`,
      [],
    );
    const change = { userId, oldPassword: PASSWORD, newPassword: NEW_PASSWORD };
    expect(await held.commitDuring(changePassword(browser, change))).toBe('WRONG_PASSWORD');
    expect(await tryPassword('amira', PASSWORD)).toBe(303);
  });

  test.each([
    ['a lock of the account', `users set locked_at = created_at where id = ${OF_AMIRA}`],
    ['the end of the session', `user_sessions set finished_at = created_at where id = ${NEWEST}`],
  ])('%s that commits meanwhile wins (S-102)', async (_, statement) => {
    attacked.clock.advanceSeconds(1);
    const browser = await attacked.signedIn('amira');
    const change = { userId: await viewerId(browser), oldPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const held = await HeldChange.make(attacked.service.connectionString, `update ${statement}`, []);
    const outcome = await held.commitDuring(changePassword(browser, change));
    await attacked.change('update users set locked_at = null where username = $1::text', ['amira']);
    expect(outcome).toBe('UNAUTHENTICATED');
    expect(await tryPassword('amira', PASSWORD)).toBe(303);
  });
});

test('a change that ends all sessions invalidates every earlier token, including refresh tokens (R-33, S-126)', async () => {
  const browser = await attacked.signedIn('amira');
  const { accessToken, refreshToken } = await attacked.tokens(browser, C3);
  const change = { oldPassword: PASSWORD, newPassword: NEW_PASSWORD, endApplicationSessions: true };
  expect(await changePassword(browser, change)).toBe('ALLOWED');
  expect(await attacked.introspect(accessToken)).toEqual({ active: false });
  expect((await attacked.refresh(C3, refreshToken)).status).toBe(400);
  await restore();
});
