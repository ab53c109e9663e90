import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findUser } from '#domain/accounts/find-user.ts';
import { ActivityBuffer } from '#domain/activity/activity-buffer.ts';
import { finishBrowserSession } from '#domain/browser-sessions/finish-browser-session.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import { type Cookie, Cookies, type JsonValue } from '#platform/http/cookies.ts';
import type { Requester } from '#platform/log/request-line.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';
import { Urls } from './urls.ts';
import { KNOWN_COOKIE, SESSION_COOKIE, type ViewerRequest, Viewers } from './viewer.ts';

const DAY_SECONDS = 86_400;
const keys = new KeyRing(Buffer.alloc(32, 3));
const cookies = new Cookies({
  keys,
  address: new Urls('https://auth.example.org/'),
  log: silentLog,
  prefix: 'latchkey_',
});

/** One request of a browser that stores cookies. */
class TestRequest implements ViewerRequest {
  readonly cookies;
  readonly clientAddress = '192.0.2.7';
  readonly headers;
  readonly userAgent = 'Firefox/141';
  requester: Requester | undefined;

  constructor(header: string | undefined, acceptLanguage?: string) {
    this.cookies = cookies.jar(header);
    this.headers = { 'accept-language': acceptLanguage };
  }

  setRequester(requester: Requester): void {
    this.requester = requester;
  }

  requireWork(): void {}

  /** Returns the content that the response writes to a cookie, or undefined if the cookie is unchanged. */
  written(cookie: Cookie): unknown {
    const start = `${cookies.wireName(cookie)}=`;
    const change = this.cookies.changes().find((line) => line.startsWith(start));
    return change === undefined
      ? undefined
      : cookies.unseal(cookie, change.slice(start.length).split(';', 1)[0] ?? '')?.document;
  }
}

function requestWith(
  documents: { readonly session?: JsonValue; readonly known?: JsonValue },
  acceptLanguage?: string,
): TestRequest {
  const pairs = [SESSION_COOKIE, KNOWN_COOKIE].flatMap((cookie) => {
    const document = cookie === SESSION_COOKIE ? documents.session : documents.known;
    return document === undefined ? [] : [`${cookies.wireName(cookie)}=${cookies.seal(cookie, document)}`];
  });
  return new TestRequest(pairs.join('; '), acceptLanguage);
}

const insertSession = statement<
  never,
  { readonly id: string; readonly userId: string; readonly keyHash: Buffer; readonly at: Date }
>(
  'test-viewer-session',
  `insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, last_active_at)
  values (:id::uuid, :userId::uuid, :keyHash::bytea, :at::timestamptz, :at::timestamptz, :at::timestamptz)`,
);
const activityOf = statement<
  { at: number; ip: string | null; user_agent: string | null; finish_reason: string | null },
  { readonly id: string }
>(
  'test-viewer-activity',
  `select (extract(epoch from last_active_at) * 1000)::float8 as at, host(last_active_ip) as ip, user_agent,
    finish_reason
  from user_sessions where id = :id::uuid`,
);

const accountOf = statement<{ locale: string | null; updated_at: Date | null }, { readonly id: string }>(
  'test-viewer-language',
  'select locale, updated_at from users where id = :id::uuid',
);
let database: Database;
let activity: ActivityBuffer;
let viewers: Viewers;
let userId: UserId;
let sessionId: BrowserSessionId;
const clock = new FakeClock();

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
  activity = new ActivityBuffer(database, silentLog);
  viewers = viewersWith({ idleSeconds: undefined });
  userId = await insertTestAccount(database, { username: 'ada' });
});

afterAll(async () => {
  await activity.stop();
});

beforeEach(async () => {
  sessionId = newId(clock.now());
  await database.execute(insertSession, {
    id: toUuid(sessionId),
    userId: toUuid(userId),
    keyHash: sha256('key'),
    at: new Date(clock.now()),
  });
});

function viewersWith(limits: ConstructorParameters<typeof Viewers>[0]['limits']): Viewers {
  const pages = { ownLanguage: ({ headers }: Pick<ViewerRequest, 'headers'>) => headers['accept-language'] };
  const keyRing = new KeyRing(Buffer.alloc(32, 7));
  return new Viewers({ database, clock, limits, activity, pages, keyRing });
}

function cookie(setSecondsAgo = 0): JsonValue {
  return { current: sessionId, key: 'key', set_at: clock.now() / 1000 - setSecondsAgo };
}

describe('the viewer of a request (browser-flows 2.5)', () => {
  test('without a cookie is anonymous without a query', async () => {
    const request = requestWith({});
    const { result, task } = await measured(() => viewers.read(request));
    expect(result).toEqual({ kind: 'anonymous' });
    expect(task.queries).toBe(0);
    expect(request.cookies.changes()).toEqual([]);
  });

  test('with a live session is the requester with one query, and leaves the cookie unchanged', async () => {
    const request = requestWith({ session: cookie() });
    const { result, task } = await measured(() => viewers.read(request));
    expect(result).toMatchObject({ kind: 'active', session: { id: sessionId }, user: { username: 'ada' } });
    expect(task.queries).toBe(1);
    expect(request.requester).toEqual({ kind: 'user', id: userId, username: 'ada' });
    expect(request.cookies.changes()).toEqual([]);
  });

  test('gets its activity recorded', async () => {
    clock.advanceSeconds(120);
    await viewers.read(requestWith({ session: cookie() }));
    await activity.flush();
    expect(await database.first(activityOf, { id: toUuid(sessionId) })).toMatchObject({
      at: clock.now(),
      ip: '192.0.2.7',
      user_agent: 'Firefox/141',
    });
  });

  test('gets the page language stored, without another query, and only when it differs', async () => {
    const account = () => database.first(accountOf, { id: toUuid(userId) });
    const use = async (language?: string): Promise<void> => {
      clock.advanceSeconds(1);
      const { task } = await measured(() => viewers.read(requestWith({ session: cookie() }, language)));
      expect(task.queries).toBe(1);
      await activity.flush();
    };
    await use('de');
    const german = await account();
    expect(german).toEqual({ locale: 'de', updated_at: new Date(clock.now()) });
    await use('de');
    // A request without a language does not change the user's locale.
    await use();
    expect(await account()).toEqual(german);
    await use('fr');
    expect(await account()).toEqual({ locale: 'fr', updated_at: new Date(clock.now()) });
  });

  test('with a wrong key is anonymous, and the cookie stays', async () => {
    const request = requestWith({ session: { current: sessionId, key: 'other', set_at: 0 } });
    expect(await viewers.read(request)).toEqual({ kind: 'anonymous' });
    expect(request.requester).toBeUndefined();
    expect(request.cookies.changes()).toEqual([]);
  });

  test('with a deleted session is anonymous, and the cookie drops it', async () => {
    const request = requestWith({ session: { current: newId(clock.now()), key: 'key', set_at: 0 } });
    expect(await viewers.read(request)).toEqual({ kind: 'anonymous' });
    expect(request.written(SESSION_COOKIE)).toEqual({ logged_out_at: new Date(clock.now()).toISOString() });
  });

  test('has no requester when the session was ended elsewhere', async () => {
    await finishBrowserSession(database, { userId, which: sessionId, reason: 'logout', now: clock.now() });
    const request = requestWith({ session: cookie() });
    expect(await viewers.read(request)).toMatchObject({ kind: 'ended', sessionId, user: { username: 'ada' } });
    expect(request.requester).toBeUndefined();
  });

  test('with a session idle for too long is anonymous, and the session ends (S-66)', async () => {
    clock.advanceSeconds(600 + 121);
    const request = requestWith({ session: cookie() });
    const strict = viewersWith({ idleSeconds: 600 });
    expect(await strict.read(request)).toEqual({ kind: 'anonymous' });
    expect(request.written(SESSION_COOKIE)).toHaveProperty('logged_out_at');
    expect(await database.first(activityOf, { id: toUuid(sessionId) })).toMatchObject({ finish_reason: 'expired' });
    expect(await viewers.read(requestWith({ session: cookie() }))).toMatchObject({ kind: 'ended' });
  });

  test.each([[null], ['text'], [{ current: 'x', key: 'y' }], [{ current: 7 }], [{ logged_out_at: '2026-01-01' }]])(
    'with the cookie content %j is anonymous without a query',
    async (session) => {
      const { result, task } = await measured(() => viewers.read(requestWith({ session })));
      expect(result).toEqual({ kind: 'anonymous' });
      expect(task.queries).toBe(0);
    },
  );
});

describe('the session cookie', () => {
  test('is renewed with the same key when less than 300 of its 400 days remain', async () => {
    const young = requestWith({ session: cookie(100 * DAY_SECONDS - 1) });
    await viewers.read(young);
    expect(young.written(SESSION_COOKIE)).toBeUndefined();
    const old = requestWith({ session: cookie(100 * DAY_SECONDS) });
    await viewers.read(old);
    expect(old.written(SESSION_COOKIE)).toEqual({ current: sessionId, key: 'key', set_at: clock.now() / 1000 });
    expect(old.cookies.changes()[0]).toContain('Max-Age=34560000');
  });

  test('of a signed-in user contains the session, and the browser knows the account from then on', async () => {
    const user = await findUser(database, userId);
    if (user === undefined) throw new Error('no user');
    const other = newId<'user'>(clock.now());
    const request = requestWith({ known: [{ user: other, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }] });
    viewers.signIn(request, { id: sessionId, key: 'key' }, user);
    expect(request.written(SESSION_COOKIE)).toMatchObject({ current: sessionId, key: 'key' });
    expect(request.requester).toEqual({ kind: 'user', id: userId, username: 'ada' });
    const known = viewers.knownBrowsers(request);
    expect(known.map((entry) => entry.user)).toEqual([userId, other]);

    const again = requestWith({ known: known.map(({ user: id, nonce }) => ({ user: id, nonce })) });
    viewers.signIn(again, { id: sessionId, key: 'key' }, user);
    expect(viewers.knownBrowsers(again)).toEqual(known);
  });

  test('records when the browser was signed out', () => {
    const request = requestWith({ session: cookie() });
    expect(viewers.signedOutAt(request)).toBeUndefined();
    viewers.forget(request);
    expect(viewers.signedOutAt(request)).toBe(clock.now());
    expect(viewers.cookie(request)).toBeUndefined();
  });
});

test('the known cookie keeps ten accounts, newest first, and drops malformed ones', () => {
  const users = Array.from({ length: 12 }, () => newId<'user'>(clock.now()));
  const nonce = 'AAAAAAAAAAAAAAAAAAAAAA';
  const request = requestWith({ known: [...users.map((user) => ({ user, nonce })), { user: 'x', nonce }, 'y', null] });
  expect(viewers.knownBrowsers(request)).toHaveLength(12);
  const user = { id: userId, username: 'ada', displayName: undefined, locale: undefined };
  viewers.signIn(
    request,
    { id: sessionId, key: 'key' },
    { ...user, canRequestAdmin: false, isLocked: false, isDeactivated: false },
  );
  expect(viewers.knownBrowsers(request).map((entry) => entry.user)).toEqual([userId, ...users.slice(0, 9)]);
});
