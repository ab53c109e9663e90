import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { Secret } from '#platform/base/secret.ts';
import type { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { beginRegistration, openEstimator, registerCompletely, registerUpToFinish } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const ORIGIN = 'https://auth.example.org';
const SECRET = 'shared-secret-of-the-test';
let service: PageService;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const homeserver = await sharedByTests(startStandInHomeserver(SECRET));

beforeAll(async () => {
  homeserver.state.exclusive = /^bridge-/;
  service = await startPages(testDatabase.database, {
    registration: { estimator },
    homeserver: { kind: 'synapse', endpoint: homeserver.endpoint, secret: new Secret(SECRET) },
  });
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  // The homeserver's circuit breaker may still be open from the previous test.
  service.clock.advanceSeconds(11);
  homeserver.requests.length = 0;
});

afterAll(async () => {
  await service.stop();
});

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

async function count(table: 'user_registrations' | 'users', username: string): Promise<number> {
  return (await rows(`select from ${table} where username = $1::text`, username)).length;
}

interface JobState {
  readonly payload: object;
  readonly attempt: number;
  readonly failed_reason: string | null;
  readonly is_dead: boolean;
}

async function provisioning(username: string): Promise<JobState[]> {
  return await rows<JobState>(
    `select payload - 'user_id' as payload, attempt, failed_reason, failed_at is not null as is_dead from queue_jobs
      where queue = 'provision-user'
        and payload ->> 'user_id' = (select id::text from users where username = $1::text)`,
    username,
  );
}

describe('a requested name', () => {
  test.each([
    ['taken-there', 'belongs to another user at the homeserver'],
    ['bridge-bot', 'is reserved by an application service'],
  ])('%s is unavailable: it %s (browser-flows 5.5, S-82)', async (username) => {
    homeserver.addUser('taken-there');
    const response = await beginRegistration(service.browser(), { username });
    expect(response).toMatchObject({ status: 200, errorCodes: ['exists'] });
    expectCleanPage(response.body);
    expect(await count('user_registrations', username)).toBe(0);
  });

  test.each([
    ['Dana', 'breaks a rule'],
    ['admin', 'is banned'],
  ])('%s, which %s, is not checked at the homeserver', async (username) => {
    await beginRegistration(service.browser(), { username });
    expect(homeserver.requests).toEqual([]);
  });

  test('is checked at the homeserver only after all other checks pass, which bounds the calls', async () => {
    await beginRegistration(service.browser(), { username: 'weak', password: 'short' });
    expect(homeserver.requests).toEqual([]);
  });

  test('is checked once by the form, and once at the end', async () => {
    await registerCompletely(service.browser(), 'asked');
    const requested = homeserver.requests.map(({ path, query }) => `${path} ${query.get('localpart')}`);
    // `finish` is opened twice, and each visit decides what comes next.
    expect(requested).toEqual(Array(3).fill('/_synapse/mas/is_localpart_available asked'));
  });

  test('taken there as well is rejected in the step for another name', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'lost-there');
    homeserver.addUser('lost-there');
    const lost = await browser.get(finish);
    expect(lost).toMatchObject({ status: 303, location: finish.replace('finish', 'username') });
    await browser.follow();
    expect(browser.page).toMatchObject({ status: 200, errorCodes: ['exists'] });
    homeserver.addUser('also-there');
    expect(await browser.submit({ username: 'also-there' })).toMatchObject({ status: 200, errorCodes: ['exists'] });
    expect(await browser.submit({ username: 'found-here' })).toMatchObject({ status: 303, location: finish });
    expect(await browser.get(finish)).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(await count('users', 'lost-there')).toBe(0);
    expect(await count('users', 'found-here')).toBe(1);
  });

  test('that became free again redirects back to the last step', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'free-again');
    homeserver.addUser('free-again');
    const { location = '' } = await browser.get(finish);
    homeserver.state.users.delete('free-again');
    expect(await browser.get(location)).toMatchObject({ status: 303, location: finish });
  });
});

describe('while the homeserver does not respond', () => {
  test.each([
    ['refuses connections', { kind: 'refuse' }],
    ['never answers', { kind: 'hang' }],
    ['answers 500', { kind: 'answer', status: 500 }],
    ['answers 429', { kind: 'answer', status: 429, headers: { 'retry-after': '60' } }],
    ['answers a page', { kind: 'answer', status: 200, body: '<html>' }],
    ['answers another error', { kind: 'answer', status: 400, body: '{"errcode":"M_UNKNOWN"}' }],
  ] as const)('(it %s) the form says so, keeps the input, and writes nothing (F-17, S-82)', async (_, fault) => {
    await homeserver.setFault(fault);
    const browser = service.browser();
    const response = await beginRegistration(browser, { username: 'early-bird' });
    expect(response).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
    expect(response.forms[0]?.inputs.get('username')).toBe('early-bird');
    expectCleanPage(response.body);
    expect(await count('user_registrations', 'early-bird')).toBe(0);
    expect(service.lines.filter((line) => line.includes('homeserver.failed')).length).toBeGreaterThan(0);
  });

  test('the form counts towards the address limit only as a check', async () => {
    await homeserver.setFault({ kind: 'refuse' });
    const limited = await startPages(testDatabase.database, {
      clock: service.clock,
      registration: { estimator, limits: { registration: { burst: 1, perSecond: 1 / 3600 } } },
      homeserver: { kind: 'synapse', endpoint: homeserver.endpoint, secret: new Secret(SECRET) },
    });
    const browser = limited.browser({ address: '198.51.100.33' });
    await beginRegistration(browser, { username: 'patient' });
    await homeserver.setFault(undefined);
    expect((await beginRegistration(browser, { username: 'patient' })).status).toBe(303);
    await limited.stop();
  });

  test('the step for another name shows the error as well', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'stuck');
    homeserver.addUser('stuck');
    const { location = '' } = await browser.get(finish);
    await homeserver.setFault({ kind: 'refuse' });
    expect(await browser.get(location)).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
    const response = await browser.submit({ username: 'unstuck' });
    expect(response).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
    expect(await count('user_registrations', 'unstuck')).toBe(0);
  });

  test.each([
    ['refuses connections', { kind: 'refuse' }],
    ['never answers', { kind: 'hang' }],
  ] as const)('(it %s) the last step waits: nothing is created, and a button retries', async (_, fault) => {
    const username = `late-${fault.kind}`;
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, username);
    await homeserver.setFault(fault);
    const response = await browser.get(finish);
    expect(response).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
    expect(response.body).toContain('Nothing is lost. Please retry in a moment.');
    expect(response.body).toMatch(new RegExp(`<a [^>]*href="${new URL(finish).pathname}"[^>]*>Retry</a>`));
    expectCleanPage(response.body);
    expect(service.lastRequest().requester).toBeUndefined();
    expect(await count('users', username)).toBe(0);
    await homeserver.setFault(undefined);
    service.clock.advanceSeconds(11);
    expect(await browser.get(finish)).toMatchObject({ status: 303, location: `${ORIGIN}/` });
    expect(await count('users', username)).toBe(1);
  });

  test('completed registrations are not affected', async () => {
    const browser = service.browser();
    const finish = await registerUpToFinish(browser, 'over');
    await browser.get(finish);
    await homeserver.setFault({ kind: 'refuse' });
    expect(await browser.get(finish)).toMatchObject({ status: 303, location: `${ORIGIN}/` });
  });
});

describe('a newly registered user', () => {
  async function register(username: string, displayName: string | undefined): Promise<Browser> {
    const browser = service.browser();
    await beginRegistration(browser, { username });
    await browser.follow();
    await browser.submit(displayName === undefined ? { action: 'skip' } : { display_name: displayName });
    await browser.follow();
    return browser;
  }

  test('exists at the homeserver as soon as the job has run (check 11)', async () => {
    await register('amira', 'Amira Öz');
    expect(await provisioning('amira')).toMatchObject([{ payload: { display_name: 'Amira Öz' }, attempt: 0 }]);
    const [account] = await rows(`select keeps_unknown_devices from users where username = 'amira'`);
    expect(account).toEqual({ keeps_unknown_devices: false });
    expect(homeserver.user('amira')).toBeUndefined();
    await notifyHomeserver(service.core);
    expect(homeserver.user('amira')).toMatchObject({ displayName: 'Amira Öz', emails: [], isLocked: false });
    expect(await provisioning('amira')).toEqual([]);
  });

  test('without a display name is named after the username', async () => {
    await register('plain', undefined);
    await notifyHomeserver(service.core);
    expect(homeserver.user('plain')).toMatchObject({ displayName: 'plain' });
  });

  test('is created after an outage: the job backs off, by a quarter of an hour at most', async () => {
    await register('patient-one', undefined);
    await homeserver.setFault({ kind: 'refuse' });
    const waits: number[] = [];
    for (let run = 0; run < 12; run += 1) {
      await notifyHomeserver(service.core);
      const [wait] = await rows<{ seconds: number }>(
        `select extract(epoch from due_at - $1::timestamptz)::float8 as seconds from queue_jobs
          where queue = 'provision-user' and dedup_key like '%named'`,
        new Date(service.clock.now()),
      );
      waits.push(wait?.seconds ?? -1);
      service.clock.advanceSeconds(wait?.seconds ?? 0);
    }
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(900, 5 * 2 ** index * 0.8));
      expect(wait).toBeLessThanOrEqual(Math.min(900, 5 * 2 ** index * 1.2));
    }
    expect(await provisioning('patient-one')).toMatchObject([{ attempt: 12, is_dead: false }]);
    await homeserver.setFault(undefined);
    await notifyHomeserver(service.core);
    expect(homeserver.user('patient-one')).toBeDefined();
  });

  test('is given up after three days, and the job records the reason', async () => {
    await register('forgotten', undefined);
    await homeserver.setFault({ kind: 'answer', status: 503 });
    service.clock.advanceSeconds(72 * 3600 - 1);
    await notifyHomeserver(service.core);
    expect(await provisioning('forgotten')).toMatchObject([{ is_dead: false }]);
    service.clock.advanceSeconds(3600);
    await notifyHomeserver(service.core);
    expect(await provisioning('forgotten')).toMatchObject([
      { is_dead: true, failed_reason: expect.stringMatching(/^user \w{26}: 503$/) },
    ]);
  });

  test('is retried when the homeserver requests it, and not before', async () => {
    await register('throttled', undefined);
    await homeserver.setFault({ kind: 'answer', status: 429, headers: { 'retry-after': '300' } });
    await notifyHomeserver(service.core);
    await homeserver.setFault(undefined);
    service.clock.advanceSeconds(299);
    await notifyHomeserver(service.core);
    expect(await provisioning('throttled')).toMatchObject([{ attempt: 1 }]);
    service.clock.advanceSeconds(1);
    await notifyHomeserver(service.core);
    expect(await provisioning('throttled')).toEqual([]);
  });

  test('is not retried after a permanent error of the homeserver', async () => {
    await register('refused', undefined);
    await homeserver.setFault({ kind: 'answer', status: 400, body: '{"errcode":"M_INVALID_PARAM"}' });
    await notifyHomeserver(service.core);
    const failed_reason = expect.stringMatching(/^user \w{26}: 400 M_INVALID_PARAM$/);
    expect(await provisioning('refused')).toMatchObject([{ attempt: 1, is_dead: true, failed_reason }]);
    expect(service.lines.filter((line) => line.includes('ERROR job.dead')).at(-1)).toContain('M_INVALID_PARAM');
  });

  test('is created there once, however often the job runs (S-96)', async () => {
    await register('twice', undefined);
    await rows(`update queue_jobs set due_at = due_at where queue = 'provision-user'`);
    await homeserver.setFault({ kind: 'answer', status: 500 });
    await notifyHomeserver(service.core);
    await homeserver.setFault(undefined);
    const before = homeserver.user('twice');
    expect(before, 'the homeserver did what it was asked before it failed').toBeDefined();
    service.clock.advanceSeconds(10);
    await notifyHomeserver(service.core);
    expect(homeserver.user('twice')).toBe(before);
    expect(await provisioning('twice')).toEqual([]);
  });
});

test('without a homeserver it is not checked and no job is written', async () => {
  const alone = await startPages(testDatabase.database, { clock: service.clock, registration: { estimator } });
  await registerCompletely(alone.browser(), 'alone');
  expect(await provisioning('alone')).toEqual([]);
  await alone.stop();
});
