/** Security 4.10: guessing passwords from one or many addresses, and locking the owner out by guessing. */
import { describe, expect, test } from 'vitest';
import { changePassword } from '../support/account-operations.ts';
import type { Browser } from '../support/browser.ts';
import { ChatClient, type ChatResponse } from '../support/chat-client.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { attackedService, C1, PASSWORD } from './attacked-service.ts';

const ACCOUNT_TRIES = 6;
const ADDRESS_TRIES = 4;
const KNOWN_TRIES = 3;

const SETTINGS = {
  rate_limiting: {
    login: {
      // These tests advance the clock by seconds, and by an hour to refill a bucket.
      per_ip: { burst: ADDRESS_TRIES, per_second: ADDRESS_TRIES / 3600 },
      per_account: { burst: ACCOUNT_TRIES, per_second: ACCOUNT_TRIES / 3600 },
      per_known_browser: { burst: KNOWN_TRIES, per_second: KNOWN_TRIES / 3600 },
    },
  },
};
const attacked = attackedService(SETTINGS, { arePasswordsChosen: true });

/** Makes one guess. @returns the error code */
async function guess(browser: Browser, username: string, password = 'guess'): Promise<string | undefined> {
  await browser.get('/login');
  await browser.submit({ username, password });
  return browser.page.errorCodes[0];
}

/** Makes one guess through the chat client endpoint, from a new address. */
async function guessInChat(fields: Readonly<Record<string, unknown>>, address = attacked.newAddress()) {
  const body = { type: 'm.login.password', password: 'guess', ...fields };
  return await new ChatClient(attacked.service).post('/login', body, { 'x-forwarded-for': address });
}

function outcome({ status, body }: ChatResponse): unknown[] {
  return [status, body['errcode']];
}

const WRONG = [403, 'M_FORBIDDEN'];
const LIMITED = [429, 'M_LIMIT_EXCEEDED'];

describe("guessing one account's password (S-87)", () => {
  test('from a new address each time, with any spelling of the name, at /reauth and the password change, uses one counter', async () => {
    await attacked.change(
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), id, 'amira@mail.example', 'amira@mail.example', created_at
         from users where username = 'amira'`,
    );
    const session = await attacked.signedIn('amira');
    attacked.clock.advanceSeconds(3600);
    const spellings = ['amira', 'AMIRA', '@amira:example.test', 'amira@mail.example'];
    for (const username of spellings) {
      expect(await guess(attacked.browser(), username), username).toBe('invalid_credentials');
    }
    // A known browser has a separate bucket. Simulates a stolen session in another browser.
    session.cookies.delete('__Host-latchkey_known');
    for (let count = spellings.length; count < ACCOUNT_TRIES; count += 1) {
      await session.get('/reauth');
      const form = session.page.forms.find(({ action }) => action.startsWith('/reauth')) ?? expect.fail('no form');
      await session.submit({ password: 'guess' }, { action: form.action });
      expect(session.page.errorCodes).toEqual(['invalid_credentials']);
    }
    for (const username of spellings) {
      expect(await guess(attacked.browser(), username, PASSWORD), username).toBe('rate_limit_exceeded');
    }
    await session.get('/reauth');
    const form = session.page.forms.find(({ action }) => action.startsWith('/reauth')) ?? expect.fail('no form');
    await session.submit({ password: PASSWORD }, { action: form.action });
    expect(session.page.errorCodes).toEqual(['rate_limit_exceeded']);
    const change = { oldPassword: PASSWORD, newPassword: NEW_PASSWORD };
    expect(await changePassword(session, change)).toBe('RATE_LIMITED');
  });

  test('from 2^16 addresses of one IPv6 network shares the limit of one address', async () => {
    const codes = [];
    for (let host = 1; host <= ADDRESS_TRIES + 2; host += 1) {
      const address = `2001:db8:0:7:${host.toString(16)}::${host}`;
      codes.push(await guess(attacked.browser({ address }), `someone-${host}`));
    }
    expect(codes.slice(0, ADDRESS_TRIES)).toEqual(Array.from({ length: ADDRESS_TRIES }, () => 'invalid_credentials'));
    expect(codes.slice(ADDRESS_TRIES)).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded']);
    expect(await guess(attacked.browser({ address: '2001:db8:0:8::1' }), 'someone')).toBe('invalid_credentials');
  });

  test('by a chat client, however it names the account, shares the counter of the form', async () => {
    await attacked.service.registerUser('cara', PASSWORD);
    await attacked.change(
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), id, 'cara@mail.example', 'cara@mail.example', created_at
         from users where username = 'cara'`,
    );
    const names = [
      { identifier: { type: 'm.id.user', user: 'cara' } },
      { identifier: { type: 'm.id.user', user: '@cara:example.test' } },
      { identifier: { type: 'm.id.thirdparty', medium: 'email', address: 'Cara@mail.example' } },
      { user: 'CARA' },
      { medium: 'email', address: 'cara@mail.example' },
    ];
    for (const name of names) expect(outcome(await guessInChat(name)), JSON.stringify(name)).toEqual(WRONG);
    expect(await guess(attacked.browser(), 'cara')).toBe('invalid_credentials');
    for (const name of names) {
      expect(outcome(await guessInChat({ ...name, password: PASSWORD })), JSON.stringify(name)).toEqual(LIMITED);
    }
    expect(await guess(attacked.browser(), 'cara', PASSWORD)).toBe('rate_limit_exceeded');
    // At most one statement that charges nothing: no hash is computed.
    await guessInChat({ user: 'cara' });
    expect(attacked.service.requestLines().at(-1)?.queries).toBeLessThanOrEqual(2);
  });

  test('by a chat client and a browser at one address shares one limit, which returns the wait time', async () => {
    const address = attacked.newAddress();
    for (let count = 1; count < ADDRESS_TRIES; count += 1) {
      expect(outcome(await guessInChat({ user: `someone-else-${count}` }, address))).toEqual(WRONG);
    }
    expect(await guess(attacked.browser({ address }), 'somebody')).toBe('invalid_credentials');
    const limited = await guessInChat({ user: 'bruno', password: PASSWORD }, address);
    expect(outcome(limited)).toEqual(LIMITED);
    const seconds = Number(limited.headers.get('retry-after'));
    expect(limited.body['retry_after_ms']).toBe(seconds * 1000);
    expect(seconds).toBeGreaterThan(0);
    expect(limited.headers.get('access-control-allow-origin')).toBe('*');
    expect(limited.headers.get('access-control-expose-headers')).toContain('Retry-After');
    // The rejected request did not count as an attempt on the account.
    expect(outcome(await guessInChat({ user: 'bruno', password: PASSWORD }))).toEqual([200, undefined]);
  });

  test('beyond the limit costs no hash, whether the account exists or not (S-79, R-42)', async () => {
    attacked.clock.advanceSeconds(3600);
    for (const username of ['bruno', 'nobody']) {
      for (let count = 0; count < ACCOUNT_TRIES; count += 1) await guess(attacked.browser(), username);
      const refused = attacked.browser();
      expect(await guess(refused, username)).toBe('rate_limit_exceeded');
      expect(refused.page.status).toBe(200);
      expect(refused.page.text).toContain('wait');
      // One statement that charges nothing, and no second one that would record a verified password.
      expect(attacked.service.requestLines().at(-1)?.queries).toBeLessThanOrEqual(2);
    }
    expect(await attacked.count('login_failures where cardinality(failed_at) > $1', [ACCOUNT_TRIES])).toBe(0);
  });
});

describe('a user whose account is under attack (S-88)', () => {
  test('keeps the session, signs in from a known browser, and their client refreshes', async () => {
    attacked.clock.advanceSeconds(3600);
    const known = await attacked.signedIn('adele');
    const { refreshToken } = await attacked.tokens(known, C1);
    attacked.clock.advanceSeconds(3600);
    for (let count = 0; count <= ACCOUNT_TRIES; count += 1) await guess(attacked.browser(), 'adele');
    expect(await guess(attacked.browser(), 'adele', PASSWORD)).toBe('rate_limit_exceeded');
    expect((await known.get('/')).text).toContain('adele');
    expect((await attacked.refresh(C1, refreshToken)).status).toBe(200);
    await known.submit({}, { action: '/logout' });
    expect(await guess(known, 'adele', PASSWORD)).toBeUndefined();
    expect(known.page.status).toBe(303);
  });

  test('keeps using a chat client, which refreshes and signs out', async () => {
    attacked.clock.advanceSeconds(3600);
    const chat = new ChatClient(attacked.service);
    const { accessToken, refreshToken } = await chat.login('bruno', PASSWORD, { refresh_token: true });
    for (let count = 0; count <= ACCOUNT_TRIES; count += 1) await guessInChat({ user: 'bruno' });
    expect(outcome(await guessInChat({ user: 'bruno', password: PASSWORD }))).toEqual(LIMITED);
    const refreshed = await chat.post('/refresh', { refresh_token: refreshToken });
    expect(refreshed.status).toBe(200);
    const bearer = { authorization: `Bearer ${String(refreshed.body['access_token'])}` };
    expect((await chat.post('/logout', undefined, bearer)).status).toBe(200);
    expect(accessToken).not.toBe(refreshed.body['access_token']);
  });

  test('signs in from one known browser while another one, lost or stolen, guesses', async () => {
    attacked.clock.advanceSeconds(3600);
    const stolen = await attacked.signedIn('adele');
    const own = await attacked.signedIn('adele');
    for (const browser of [stolen, own]) {
      await browser.get('/');
      await browser.submit({}, { action: '/logout' });
    }
    const guesses = [];
    for (let count = 0; count <= KNOWN_TRIES; count += 1) guesses.push(await guess(stolen, 'adele'));
    expect(guesses).toEqual([...new Array(KNOWN_TRIES).fill('invalid_credentials'), 'rate_limit_exceeded']);
    expect(await guess(own, 'adele', PASSWORD)).toBeUndefined();
    expect(own.page.status).toBe(303);
  });
});

test('a burst of 100 guesses over two instances gets no more checks than the limit (S-89)', async () => {
  attacked.clock.advanceSeconds(3600);
  await attacked.withSecondInstance(async (second) => {
    const browsers = Array.from({ length: 100 }, (_, index) =>
      attacked.browser({ at: index % 2 === 0 ? second : attacked.service }),
    );
    for (const browser of browsers) await browser.get('/login');
    const codes = await Promise.all(
      browsers.map(async (browser) => {
        await browser.submit({ username: 'bruno', password: 'guess' });
        return browser.page.errorCodes[0];
      }),
    );
    expect(new Set(codes)).toEqual(new Set(['invalid_credentials', 'rate_limit_exceeded']));
    const checked = codes.filter((code) => code === 'invalid_credentials').length;
    expect(checked).toBeLessThanOrEqual(ACCOUNT_TRIES + 2);
    expect(checked).toBeGreaterThan(0);
  });
});
