/** Security 4.9: finding out which accounts and records exist. */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Page } from '../support/browser.ts';
import { ChatClient } from '../support/chat-client.ts';
import { hashes } from '../support/counted-argon2.ts';
import { median } from '../support/measuring.ts';
import { attackedService, C1, PASSWORD, UNKNOWN_ID } from './attacked-service.ts';
import { headerOf } from './raw-http.ts';

vi.mock('@node-rs/argon2', async (original) => {
  const { countedArgon2 } = await import('../support/counted-argon2.ts');
  return countedArgon2(await original());
});

// Hashes with production cost, so that a missing hash is measurable.
const attacked = attackedService({
  passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 19_456, iterations: 7 }] },
});

describe('signing in with a wrong password', () => {
  const NAMES = ['amira', 'empty', 'lena', 'dana', 'nobody'];

  beforeAll(async () => {
    await attacked.change(
      `insert into users (id, username, username_key, created_at)
       values (gen_random_uuid(), 'empty', 'empty', now()) on conflict do nothing`,
    );
  });

  test('computes one hash at the same cost for every kind of account, and for unknown ones (S-79)', async () => {
    const browser = attacked.browser();
    await browser.get('/login');
    const costs = [];
    for (const username of NAMES) {
      const before = hashes.started.length;
      await browser.submit({ username, password: 'wrong' });
      const { queries } = attacked.service.requestLines().at(-1) ?? expect.fail('no line');
      costs.push({ started: hashes.started.slice(before), queries });
    }
    expect(costs).toEqual(NAMES.map(() => ({ started: ['$argon2id$v=19$m=19456,t=7,p=1'], queries: 2 })));
  });

  test('at the chat login route has the same cost and answer for every kind of account, and for unknown ones (S-85)', async () => {
    const chat = new ChatClient(attacked.service);
    const responses = [];
    for (const username of NAMES) {
      const before = hashes.started.length;
      const { status, text } = await chat.tryLogin(username, 'wrong');
      const { queries } = attacked.service.requestLines().at(-1) ?? expect.fail('no line');
      responses.push({ started: hashes.started.slice(before), queries, status, text });
    }
    const text = responses[0]?.text ?? expect.fail('no answer');
    expect(JSON.parse(text)).toMatchObject({ errcode: 'M_FORBIDDEN' });
    const started = ['$argon2id$v=19$m=19456,t=7,p=1'];
    expect(responses).toEqual(NAMES.map(() => ({ started, queries: 2, status: 403, text })));
  });

  test('reveals a lock or deactivation to a chat client only after the right password (S-80)', async () => {
    const chat = new ChatClient(attacked.service);
    for (const [username, status, errcode] of [
      ['lena', 401, 'M_USER_LOCKED'],
      ['dana', 403, 'M_USER_DEACTIVATED'],
    ] as const) {
      expect((await chat.tryLogin(username, 'wrong')).body['errcode']).toBe('M_FORBIDDEN');
      const response = await chat.tryLogin(username, PASSWORD);
      expect([response.status, response.body['errcode']]).toEqual([status, errcode]);
    }
    expect(await attacked.count('compat_sessions')).toBe(0);
  });

  // Measures the CPU time of this process over interleaved attempts, which other load hardly affects. Repeats until the
  // medians agree. A skipped hash would keep them apart.
  test('takes the same time for every kind of account, and for unknown ones (S-79)', { timeout: 120_000 }, async () => {
    const browser = attacked.browser();
    await browser.get('/login');
    const times = new Map(NAMES.map((name): [string, number[]] => [name, []]));
    for (let round = 0; round < 100 && (round < 15 || !areAlike([...times.values()])); round += 1) {
      for (const [username, taken] of times) {
        const before = process.cpuUsage();
        await browser.submit({ username, password: 'wrong' });
        const { user, system } = process.cpuUsage(before);
        expect(browser.page.errorCodes).toEqual(['invalid_credentials']);
        taken.push((user + system) / 1000);
      }
    }
    const medians = Object.fromEntries([...times].map(([name, taken]) => [name, median(taken)]));
    expect(areAlike([...times.values()]), JSON.stringify(medians)).toBe(true);
  });

  /** Whether the medians differ by at most 5 ms or 5 %. */
  function areAlike(times: readonly (readonly number[])[]): boolean {
    const medians = times.map(median);
    const [lowest, highest] = [Math.min(...medians), Math.max(...medians)];
    return highest - lowest <= Math.max(5, lowest * 0.05);
  }

  test('reveals a lock or deactivation only after the right password (S-80)', async () => {
    for (const [username, title] of [
      ['lena', 'Account locked'],
      ['dana', 'Account deactivated'],
    ] as const) {
      const browser = attacked.browser();
      await browser.get('/login');
      expect((await browser.submit({ username, password: 'wrong' })).text).not.toContain(title);
      expect((await browser.submit({ username, password: PASSWORD })).text).toContain(title);
      expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
    }
  });
});

describe('record identifiers (S-83)', () => {
  test('that are unknown, malformed or of another kind get the same 404 without any name', async () => {
    const reader = await attacked.signedIn('bruno');
    for (const path of ['/authorize/', '/consent/']) {
      const responses = [];
      for (const id of [UNKNOWN_ID, C1.id, 'x', `${UNKNOWN_ID}0`, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
        const page = await reader.get(path + id);
        expect([id, page.status]).toEqual([id, 404]);
        responses.push(comparable(page));
      }
      for (const response of responses) expect(response).toEqual(responses[0]);
    }
  });

  test('of another user’s finished or expired request reveal no name and cause no redirect', async () => {
    const owner = await attacked.signedIn('amira');
    await owner.open(attacked.authorizeUrl(C1, { prompt: 'consent', login_hint: 'amira' }));
    const finished = new URL(owner.page.url).pathname.split('/').at(-1);
    await owner.submit({ action: 'consent' }, { action: '/authorize' });
    await owner.open(attacked.authorizeUrl(C1, { prompt: 'consent', state: 'of-amira' }));
    const expired = new URL(owner.page.url).pathname.split('/').at(-1);
    attacked.clock.advanceSeconds(3601);
    const readers = [attacked.browser(), await attacked.signedIn('bruno')];
    for (const reader of readers) {
      for (const path of ['/authorize/', '/consent/']) {
        expect(await reader.get(path + finished)).toMatchObject({ status: 409, location: undefined });
        expect(reader.page.body).not.toContain('amira');
        expect(await reader.get(path + expired)).toMatchObject({ status: 410, location: undefined });
        expect(reader.page.text).not.toContain('amira');
      }
    }
  });
});

test('webfinger answers the same for existing and unknown accounts (S-86)', async () => {
  const responses = [];
  for (const name of ['amira', 'nobody', 'lena']) {
    const resource = `acct:${name}@example.test`;
    const response = await attacked.ask({ target: `/.well-known/webfinger?resource=${encodeURIComponent(resource)}` });
    expect(headerOf(response, 'content-type')).toBe('application/jrd+json');
    expect(attacked.service.requestLines().at(-1)).toMatchObject({ status: 200, queries: 0 });
    responses.push(response.body.replace(resource, 'RESOURCE'));
  }
  expect(new Set(responses).size).toBe(1);
});

/** Returns the comparable parts of a response: all except dates, sealed values and request IDs. */
function comparable(page: Page) {
  const { date: _date, 'set-cookie': cookies, 'content-length': _length, ...headers } = page.headers;
  const body = page.body.replaceAll(/(GET|POST)-\d+/g, 'ID').replaceAll(/name="csrf" value="[^"]*"/g, 'CSRF');
  return { status: page.status, headers, cookies: cookies?.map((line) => line.split('=')[0]), body };
}
