/** Security 4.9: finding out who has an account, and which records exist. */
import { describe, expect, it } from 'vitest';
import type { Shown } from '#test/support/browser.ts';
import { attackedService, C1, PASSWORD, UNKNOWN_ID } from './attacked-service.ts';
import { headerOf } from './raw-http.ts';

// Hashes that cost as much as in service: only then does a missing one show.
const attacked = attackedService({
  passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 19_456, iterations: 7 }] },
});

describe('signing in with a wrong password', () => {
  // Other work only ever adds time, so the fastest of each is compared, and more rounds are made until they agree: a
  // hash that is left out keeps them apart for ever.
  it('takes the same time for every kind of account, and for none (S-79)', { timeout: 120_000 }, async () => {
    await attacked.change(
      `insert into users (id, username, username_key, created_at)
       values (gen_random_uuid(), 'empty', 'empty', now()) on conflict do nothing`,
    );
    const browser = attacked.browser();
    await browser.get('/login');
    const fastest = new Map(
      ['amira', 'empty', 'lena', 'dana', 'nobody'].map((name) => [name, Number.POSITIVE_INFINITY]),
    );
    for (let round = 0; round < 100 && (round < 15 || !areAlike(fastest)); round += 1) {
      for (const [username, least] of fastest) {
        await browser.submit({ username, password: 'wrong' });
        expect(browser.shown.errorCodes).toEqual(['invalid_credentials']);
        fastest.set(username, Math.min(least, attacked.service.requestLines().at(-1)?.elapsed ?? Number.NaN));
      }
    }
    expect(fastest).toSatisfy(areAlike);
    // Else the comparison says nothing.
    expect(Math.min(...fastest.values())).toBeGreaterThan(10);
  });

  /** By no more than 5 ms or 5 %. */
  function areAlike(milliseconds: ReadonlyMap<string, number>): boolean {
    const [lowest, highest] = [Math.min(...milliseconds.values()), Math.max(...milliseconds.values())];
    return highest - lowest < Math.max(5, lowest * 0.05);
  }

  it('tells of a lock or a deactivation to nobody but the owner of the password (S-80)', async () => {
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

describe('identifiers of records (S-83)', () => {
  it('unknown, malformed and of another kind: one answer, a 404 that names nobody', async () => {
    const reader = await attacked.signedIn('bruno');
    for (const path of ['/authorize/', '/consent/']) {
      const answers = [];
      for (const id of [UNKNOWN_ID, C1.id, 'x', `${UNKNOWN_ID}0`, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']) {
        const shown = await reader.get(path + id);
        expect([id, shown.status]).toEqual([id, 404]);
        answers.push(comparable(shown));
      }
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    }
  });

  it('of another person’s finished or expired request: no name, no redirect', async () => {
    const owner = await attacked.signedIn('amira');
    await owner.open(attacked.authorizeUrl(C1, { prompt: 'consent', login_hint: 'amira' }));
    const finished = new URL(owner.shown.url).pathname.split('/').at(-1);
    await owner.submit({ action: 'consent' }, { action: '/authorize' });
    await owner.open(attacked.authorizeUrl(C1, { prompt: 'consent', state: 'of-amira' }));
    const expired = new URL(owner.shown.url).pathname.split('/').at(-1);
    attacked.clock.advanceSeconds(3601);
    const readers = [attacked.browser(), await attacked.signedIn('bruno')];
    for (const reader of readers) {
      for (const path of ['/authorize/', '/consent/']) {
        expect(await reader.get(path + finished)).toMatchObject({ status: 409, location: undefined });
        expect(reader.shown.body).not.toContain('amira');
        expect(await reader.get(path + expired)).toMatchObject({ status: 410, location: undefined });
        expect(reader.shown.text).not.toContain('amira');
      }
    }
  });
});

it('webfinger answers the same for accounts that exist and for others (S-86)', async () => {
  const answers = [];
  for (const name of ['amira', 'nobody', 'lena']) {
    const resource = `acct:${name}@example.test`;
    const answer = await attacked.ask({ target: `/.well-known/webfinger?resource=${encodeURIComponent(resource)}` });
    expect(headerOf(answer, 'content-type')).toBe('application/jrd+json');
    expect(attacked.service.requestLines().at(-1)).toMatchObject({ status: 200, queries: 0 });
    answers.push(answer.body.replace(resource, 'RESOURCE'));
  }
  expect(new Set(answers).size).toBe(1);
});

/** What two answers may be compared by: all but dates, sealed values and request ids. */
function comparable(shown: Shown) {
  const { date: _date, 'set-cookie': cookies, 'content-length': _length, ...headers } = shown.headers;
  const body = shown.body.replaceAll(/(GET|POST)-\d+/g, 'ID').replaceAll(/name="csrf" value="[^"]*"/g, 'CSRF');
  return { status: shown.status, headers, cookies: cookies?.map((line) => line.split('=')[0]), body };
}
