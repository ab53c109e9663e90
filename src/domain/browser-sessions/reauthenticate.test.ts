import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PasswordChecks } from '#domain/accounts/passwords/check-password.ts';
import { parseSessionCookie, type SessionCookie, type SessionCredentials } from '#domain/records/browser-session.ts';
import { Counters } from '#domain/statistics/counters.ts';
import { toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { cheapHasher, insertTestAccount } from '#test/support/accounts.ts';
import { noCaptcha } from '#test/support/captcha.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { measured } from '#test/support/measured.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { finishBrowserSession } from './finish-browser-session.ts';
import { type ReauthDeps, type ReauthOutcome, reauthenticate } from './reauthenticate.ts';
import { signInWithPassword } from './sign-in.ts';
import { findViewerRow, resolveViewer } from './viewer.ts';

let database: Database;
let deps: ReauthDeps;
let userId: UserId;
let cookie: SessionCookie;
let accounts = 0;
const clock = new FakeClock();
const secondFactors = {
  policy: 'optional',
  arePasskeysUsed: false,
  isRequiredAfterUpstream: false,
  isRequiredOnReauth: true,
  trustDays: 0,
} as const;
const ample = { burst: 100_000, perSecond: 1000 };

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
  const passwordChecks = new PasswordChecks({
    database,
    hasher: cheapHasher(),
    counters: new Counters(),
    clock,
    log: silentLog,
    keyRing: new KeyRing(Buffer.alloc(32)),
    limits: { perIp: ample, perAccount: { burst: 50, perSecond: 1 }, perKnownBrowser: ample },
    maximumBytes: 1024,
    sendsNotices: false,
  });
  deps = { database, clock, passwordChecks, secondFactors };
});

beforeEach(async () => {
  accounts += 1;
  userId = await insertTestAccount(database, { username: `person-${accounts}`, password: 'right' });
  cookie = cookieOf(await signIn());
  clock.advanceSeconds(600);
});

async function signIn(): Promise<SessionCredentials> {
  const outcome = await signInWithPassword(
    {
      ...deps,
      secondFactors,
      keyRing: new KeyRing(Buffer.alloc(32)),
      log: silentLog,
      loginNames: { serverName: 'example.org', isEmailAllowed: false },
      sendsNotices: false,
      captcha: noCaptcha,
    },
    {
      captcha: { fields: [] },
      ...{ username: `person-${accounts}`, password: 'right', language: 'en' },
      ...{ address: undefined, userAgent: undefined, knownBrowsers: [] },
    },
  );
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.session;
}

function cookieOf(session: SessionCredentials): SessionCookie {
  const parsed = parseSessionCookie({ current: session.id, key: session.key });
  if (parsed === undefined) throw new Error('no session');
  return parsed;
}

function user(): Parameters<typeof reauthenticate>[1]['user'] {
  return {
    id: userId,
    username: `person-${accounts}`,
    displayName: undefined,
    locale: undefined,
    canRequestAdmin: false,
    isLocked: false,
    isDeactivated: false,
  };
}

function reauth(password: string, by = cookie): Promise<ReauthOutcome> {
  const caller = { address: '192.0.2.1', userAgent: 'Test/1.0', knownBrowsers: [] };
  return reauthenticate(deps, { cookie: by, user: user(), password, ...caller });
}

async function kindOf(by: SessionCookie): Promise<string> {
  const row = await findViewerRow(database, by.id);
  return resolveViewer(row, by, { idleSeconds: undefined }, clock.now()).viewer.kind;
}

const sessionState = statement<
  { authenticated_at: number; kinds: string[]; finish_reason: string | null; failed_reauths: number },
  { readonly id: string }
>(
  'test-session-state',
  `select (extract(epoch from authenticated_at) * 1000)::float8 as authenticated_at, finish_reason, failed_reauths,
    array(select a.kind from user_session_authentications a where a.user_session_id = s.id) as kinds
  from user_sessions s where id = :id::uuid`,
);
const audit = statement<{ kind: string; reason: string | null }, { readonly userId: string }>(
  'test-audit-reasons',
  `select kind, detail ->> 'reason' as reason from audit_events where user_id = :userId::uuid order by created_at, id`,
);
const lockUser = statement<never, { readonly id: string; readonly now: Date }>(
  'test-lock-user',
  'update users set locked_at = :now::timestamptz where id = :id::uuid',
);

async function state(): Promise<{ authenticated_at: number; kinds: string[]; failed_reauths: number }> {
  const row = await database.first(sessionState, { id: toUuid(cookie.id) });
  if (row === undefined) throw new Error('no session');
  return row;
}

describe('re-authentication (browser-flows 3.4)', () => {
  test('the correct password renews the authentication and rotates the key of the same session (S-61)', async () => {
    const { result, task } = await measured(() => reauth('right'));
    if (!result.ok || result.session === undefined) throw new Error('refused');
    expect(task.queries).toBe(2);
    expect(result.session.id).toBe(cookie.id);
    expect(sha256(result.session.key)).not.toEqual(cookie.keyHash);
    expect(await state()).toMatchObject({ authenticated_at: clock.now(), kinds: ['password', 'password'] });
    expect(await database.rows(audit, { userId: toUuid(userId) })).toContainEqual({
      kind: 'reauthenticated',
      reason: null,
    });
  });

  test('the previous key is valid for 30 more seconds', async () => {
    const outcome = await reauth('right');
    if (!outcome.ok || outcome.session === undefined) throw new Error('refused');
    expect(await kindOf(cookieOf(outcome.session))).toBe('active');
    expect(await kindOf(cookie)).toBe('active');
    clock.advanceSeconds(30);
    expect(await kindOf(cookie)).toBe('anonymous');
    expect(await kindOf(cookieOf(outcome.session))).toBe('active');
  });

  test('of two simultaneous ones, one sets the new key, and both are authenticated', async () => {
    const outcomes = await Promise.all([reauth('right'), reauth('right')]);
    const keys = outcomes.flatMap((outcome) => (outcome.ok && outcome.session !== undefined ? [outcome.session] : []));
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
    expect(keys).toHaveLength(1);
    clock.advanceSeconds(60);
    for (const session of keys) expect(await kindOf(cookieOf(session))).toBe('active');
    expect((await state()).kinds).toHaveLength(3);
  });

  test('the fifth consecutive wrong password ends the session', async () => {
    for (let count = 0; count < 4; count += 1) {
      expect(await reauth('wrong')).toEqual({ ok: false, reason: 'invalid-credentials' });
    }
    expect(await kindOf(cookie)).toBe('active');
    expect(await reauth('wrong')).toMatchObject({ ok: false, reason: 'ended', user: { id: userId } });
    expect(await kindOf(cookie)).toBe('ended');
    expect(await database.rows(audit, { userId: toUuid(userId) })).toContainEqual({
      kind: 'session_ended',
      reason: 'too_many_reauths',
    });
    expect(await reauth('right')).toMatchObject({ ok: false, reason: 'ended' });
  });

  test('a correct password in between resets the count', async () => {
    for (let count = 0; count < 4; count += 1) await reauth('wrong');
    expect((await state()).failed_reauths).toBe(4);
    const outcome = await reauth('right');
    expect(outcome.ok).toBe(true);
    expect(await reauth('wrong')).toMatchObject({ reason: 'invalid-credentials' });
  });

  test('an empty password is not checked', async () => {
    const { result, task } = await measured(() => reauth(''));
    expect(result).toEqual({ ok: false, reason: 'required' });
    expect(task.queries).toBe(0);
  });

  test('guesses share the limit of the sign-in form (S-87), and being limited does not end the session', async () => {
    const reasons = new Set<string>();
    // Each session stays below its limit of five wrong passwords.
    for (let round = 0; round < 20; round += 1) {
      const by = round === 0 ? cookie : cookieOf(await signIn().catch(() => cookie));
      for (let count = 0; count < 4; count += 1) {
        const outcome = await reauth('wrong', by);
        if (!outcome.ok) reasons.add(outcome.reason);
      }
    }
    expect([...reasons]).toContain('rate-limited');
    expect(await kindOf(cookie)).toBe('active');
  });

  test('an account locked in the meantime is reported as locked', async () => {
    await database.execute(lockUser, { id: toUuid(userId), now: new Date(clock.now()) });
    expect(await reauth('right')).toMatchObject({ ok: false, reason: 'locked' });
    expect((await state()).kinds).toHaveLength(1);
  });
});

describe('signing out', () => {
  const end = (which: SessionCookie['id'] | 'all'): Promise<number> =>
    finishBrowserSession(database, { userId, which, reason: 'logout', now: clock.now() });

  test('ends one session once and leaves the others', async () => {
    const other = cookieOf(await signIn());
    expect(await end(cookie.id)).toBe(1);
    expect(await end(cookie.id)).toBe(0);
    expect(await kindOf(cookie)).toBe('ended');
    expect(await kindOf(other)).toBe('active');
    expect(await database.rows(audit, { userId: toUuid(userId) })).toContainEqual({ kind: 'logout', reason: 'logout' });
  });

  test('everywhere ends all sessions of the user, with one audit event, and none of other users', async () => {
    const other = cookieOf(await signIn());
    const mine = userId;
    accounts += 1;
    await insertTestAccount(database, { username: `person-${accounts}`, password: 'right' });
    const stranger = cookieOf(await signIn());
    expect(await end('all')).toBe(2);
    expect(await kindOf(cookie)).toBe('ended');
    expect(await kindOf(other)).toBe('ended');
    expect(await kindOf(stranger)).toBe('active');
    const events = await database.rows(audit, { userId: toUuid(mine) });
    expect(events.filter((event) => event.kind === 'logout')).toHaveLength(1);
  });

  test('does not end the session of another user', async () => {
    const mine = cookie;
    accounts += 1;
    userId = await insertTestAccount(database, { username: `person-${accounts}`, password: 'right' });
    expect(await end(mine.id)).toBe(0);
    expect(await kindOf(mine)).toBe('active');
  });

  test('twenty times at once ends a session once', async () => {
    const ended = await Promise.all(Array.from({ length: 20 }, () => end(cookie.id)));
    expect(ended.reduce((sum, count) => sum + count, 0)).toBe(1);
  });
});
