/** Security 4.14: taking over an account through its recovery. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, recoverPassword } from '../support/account-operations.ts';
import type { Browser, Page } from '../support/browser.ts';
import { startMails } from '../support/mails.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { attackedService, ISSUER, PASSWORD } from './attacked-service.ts';
import { headerOf } from './raw-http.ts';
import { changedTables } from './table-states.ts';

const mails = await startMails();
const attacked = attackedService({ email: mails.settings }, { arePasswordsChosen: true });
attacked.secrets.add(NEW_PASSWORD);
const PATH = '/account/password/recovery';

beforeAll(async () => {
  await attacked.change(
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), id, username || '@mail.example', username || '@mail.example', created_at from users`,
  );
});
afterAll(async () => await mails.stop());

async function begin(email: string, browser: Browser = attacked.browser()): Promise<Page> {
  await browser.get('/recover');
  return await browser.submit({ email }, { action: '/recover' });
}

/** @returns the ticket in the email to `email` */
async function ticketOf(email: string): Promise<string> {
  expect((await begin(email)).status).toBe(303);
  const [mail] = await mails.deliver(attacked.service.core);
  expect(mail?.to).toBe(email);
  const [, ticket = ''] = /ticket=([0-9A-Za-z]+)/.exec(mail?.text ?? '') ?? [];
  attacked.secrets.add(ticket);
  return ticket;
}

const KINDS = ['amira@mail.example', 'absent@mail.example', 'lena@mail.example', 'dana@mail.example'];

describe('discovering whether an address is known (S-81)', () => {
  /** Returns everything that an observer sees, and the cost of the request, without values that differ each time. */
  function seen({ status, headers, body }: Page) {
    const { date: _, 'set-cookie': cookies = [], ...others } = headers;
    const lengths = cookies.map((cookie) => cookie.replace(/=[^;]*/, ({ length }) => `=${length}`));
    const { queries, fetched, requester } = attacked.service.requestLines().at(-1) ?? expect.fail('no line');
    const neutral = (text: string) =>
      text
        .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID')
        .replaceAll(/\w+@mail\.example/g, 'ADDRESS')
        .replaceAll(/(notice=|name="csrf" value=")[\w-]+/g, '$1X');
    return {
      status,
      headers: JSON.parse(neutral(JSON.stringify({ ...others, 'content-length': undefined }))),
      lengths,
      body: neutral(body),
      queries,
      fetched,
      requester,
    };
  }

  test('known, unknown, locked and deactivated: the same responses, statements, tables and log lines', async () => {
    const observed = [];
    for (const email of KINDS) {
      const browser = attacked.browser();
      const lines = attacked.service.logLines().length;
      const before = await attacked.tableStates();
      const responses = [seen(await begin(email, browser)), seen(await browser.follow())];
      const { pathname } = new URL(browser.page.url);
      responses.push(seen(await browser.submit({}, { action: pathname })), seen(await browser.follow()));
      const written = attacked.service.logLines().slice(lines);
      const events = written.map((line) => line.split(' ')[2]);
      observed.push({ answers: responses, events, tables: changedTables(before, await attacked.tableStates()) });
    }
    for (const one of observed.slice(1)) expect(one).toEqual(observed[0]);
    await mails.deliver(attacked.service.core);
  });
});

describe('recovery link poisoning (S-121)', () => {
  test.each<[string, Record<string, string>]>([
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
    ['Forwarded', { forwarded: 'host=evil.example;proto=javascript' }],
    ['X-Original-URL', { 'x-original-url': 'https://evil.example/recover' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'javascript' }],
    ['X-Forwarded-Port', { 'x-forwarded-port': '8443' }],
    ['Host', { host: 'evil.example' }],
    ['Host with a port', { host: 'auth.example.test:8443' }],
  ])('%s does not change the link', async (_, headers) => {
    const browser = attacked.browser();
    await browser.get('/recover');
    const { status } = await browser.submit({ email: 'amira@mail.example' }, { action: '/recover', headers });
    expect(status).toBe(303);
    const [mail] = await mails.deliver(attacked.service.core);
    const links = [...`${mail?.text} ${mail?.html}`.matchAll(/https?:\/\/[^\s"<]+/g)].map(([link]) => link);
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((link) => !link.startsWith(ISSUER))).toEqual([]);
    attacked.secrets.add(/ticket=(\w+)/.exec(mail?.text ?? '')?.[1] ?? PASSWORD);
  });
});

describe('an address that resembles another (S-98)', () => {
  test.each([
    ['a+tag', 'amira+tag@mail.example'],
    ['a full-width letter in the domain', 'amira@ｍail.example'],
    ['a Cyrillic letter in the domain', 'amira@mаil.example'],
    ['an additional dot', 'a.mira@mail.example'],
    ['a long s', 'amira@mail.example'.replace('a', 'ª')],
  ])('%s: sends mail only to the stored address, or none', async (_, typed) => {
    await begin(typed);
    const sent = await mails.deliver(attacked.service.core);
    expect(sent.filter(({ to }) => to !== 'amira@mail.example')).toEqual([]);
  });

  test('with another letter case counts as the same address, and mail goes to the stored one', async () => {
    await begin('AMIRA@Mail.Example');
    expect(await mails.deliver(attacked.service.core)).toMatchObject([{ to: 'amira@mail.example' }]);
  });

  test.each([
    'amira@mail.example\r\nBcc: eve@evil.example',
    'amira@mail.example,eve@evil.example',
    '<amira@mail.example>',
  ])('%j is not an address (S-76)', async (typed) => {
    expect((await begin(typed)).errorCodes).toEqual(['invalid']);
    expect(await mails.deliver(attacked.service.core)).toEqual([]);
  });
});

describe('a ticket (S-119)', () => {
  test('of one account cannot set the password of another account', async () => {
    const ticket = await ticketOf('amira@mail.example');
    const browser = attacked.browser();
    // Unknown fields cannot select another user.
    for (const other of ['userId: "bruno"', 'username: "bruno"', 'email: "bruno@mail.example"']) {
      const input = `{ ticket: "${ticket}", newPassword: "${NEW_PASSWORD}", ${other} }`;
      const { body } = await ask(browser, `mutation { setPasswordByRecovery(input: ${input}) { status } }`);
      expect(JSON.parse(body).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
    expect(await recoverPassword(browser, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    expect(await tryPassword('bruno', PASSWORD)).toBe(303);
    expect(await tryPassword('amira', PASSWORD)).toBe(200);
    expect(await tryPassword('amira', NEW_PASSWORD)).toBe(303);
    await mails.deliver(attacked.service.core);
  });

  test('planted session cookies have no effect after a recovery, which signs nobody in (S-61)', async () => {
    const attacker = await attacked.signedIn('bruno');
    const ticket = await ticketOf('bruno@mail.example');
    const victim = attacked.browser();
    expect(await recoverPassword(victim, { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    expect(victim.cookies.has('__Host-latchkey_session')).toBe(false);
    expect((await attacker.get('/')).text).toContain('You were signed out');
    await mails.deliver(attacked.service.core);
  });

  test('is not part of any request of the page, nor sent to other origins (S-120)', async () => {
    const ticket = await ticketOf('adele@mail.example');
    const response = await attacked.ask({ method: 'GET', target: `${PATH}?ticket=${ticket}` });
    expect(headerOf(response, 'referrer-policy')).toBe('no-referrer');
    expect(headerOf(response, 'cache-control')).toBe('no-store');
    expect(headerOf(response, 'content-security-policy')).toContain("default-src 'none'");
    const addresses = [...response.body.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address = '']) => address);
    expect(addresses.filter((address) => !address.startsWith('/') || address.includes(ticket))).toEqual([]);
  });

  async function tryPassword(username: string, password: string): Promise<number> {
    const browser = attacked.browser();
    await browser.get('/login');
    return (await browser.submit({ username, password })).status;
  }
});

describe('records of other browsers (S-83)', () => {
  test('an unknown id and that of another browser get the same answer', async () => {
    const { location = '' } = await begin('amira@mail.example');
    await mails.deliver(attacked.service.core);
    const stranger = attacked.browser();
    for (const id of [location.slice(-26), '01JD3Q5Z8W2N4K6M7P9R0S1T00', 'x', '../../etc/passwd']) {
      const { body, status } = await stranger.get(`/recover/progress/${encodeURIComponent(id)}`);
      expect([id, status, body]).toEqual([id, 303, '']);
      expect(stranger.page.location).toBe(`${ISSUER}recover`);
    }
  });
});
