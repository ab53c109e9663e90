import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import { PasswordChecks, recordLoginFailure } from '#domain/accounts/passwords/check-password.ts';

import { newAuditEventId } from '#domain/audit/audit-event.ts';
import { Counters } from '#domain/statistics/counters.ts';
import { systemClock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import { PasswordHasher, type Verification } from '#platform/password-hash/password-hasher.ts';
import type { PasswordScheme } from '#platform/password-hash/schemes.ts';
import type { Database } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { CHEAP_SCHEME, insertTestAccount } from '#test/support/accounts.ts';
import { noCaptcha } from '#test/support/captcha.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { measured } from '#test/support/measured.ts';
import { type RecordedLine, RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type SignInAttempt, type SignInDeps, type SignInOutcome, signInWithPassword } from './sign-in.ts';

const HOUR = 3_600_000;
const OUTDATED: PasswordScheme = { ...CHEAP_SCHEME, version: 0, memoryKib: 16 };
const ample = { burst: 100_000, perSecond: 1000 };
const NO_LIMITS: RateLimitingConfig['login'] = { perIp: ample, perAccount: ample, perKnownBrowser: ample };
const DEFAULT_LIMITS: RateLimitingConfig['login'] = {
  perIp: { burst: 3, perSecond: 3 / 60 },
  perAccount: { burst: 100, perSecond: 100 / 3600 },
  perKnownBrowser: { burst: 10, perSecond: 10 / 3600 },
};

/** Counts verifications before running them. */
class CountingHasher extends PasswordHasher {
  verifications = 0;

  override verify(...args: Parameters<PasswordHasher['verify']>): Promise<Verification> {
    this.verifications += 1;
    return super.verify(...args);
  }
}
let database: Database;
let now = Date.UTC(2026, 5, 1);
let log: RecordingLog;
let hasher: CountingHasher;
const clock = { now: () => now };

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
});

beforeEach(() => {
  // Refills every bucket that earlier tests used.
  now += 48 * HOUR;
  log = new RecordingLog();
  hasher = new CountingHasher({ schemes: [CHEAP_SCHEME, OUTDATED], concurrency: 2, queueLength: 1000, log });
});

function linesOf(event: string): RecordedLine[] {
  return log.lines.filter((line) => line.event === event);
}

function depsOn(on: Database, limits = NO_LIMITS): SignInDeps {
  const keyRing = new KeyRing(Buffer.alloc(32, 7));
  const sendsNotices = false;
  const counters = new Counters();
  const checks = { database: on, hasher, counters, clock, log, keyRing, limits, maximumBytes: 1024, sendsNotices };
  const passwordChecks = new PasswordChecks(checks);
  const loginNames = { serverName: 'example.org', isEmailAllowed: true };
  const secondFactors = {
    policy: 'optional',
    arePasskeysUsed: false,
    isRequiredAfterUpstream: false,
    isRequiredOnReauth: true,
    trustDays: 0,
  } as const;
  return {
    database: on,
    clock,
    log,
    keyRing,
    secondFactors,
    passwordChecks,
    loginNames,
    sendsNotices,
    captcha: noCaptcha,
  };
}

function signIn(
  username: string,
  password: string,
  options: Partial<SignInAttempt> & { limits?: RateLimitingConfig['login'] } = {},
): Promise<SignInOutcome> {
  const { limits, ...attempt } = options;
  return signInWithPassword(depsOn(database, limits), {
    username,
    password,
    captcha: { fields: [] },
    address: '192.0.2.1',
    userAgent: 'Test/1.0',
    knownBrowsers: [],
    language: 'en',
    ...attempt,
  });
}

const sessionRow = statement<
  { user_id: string; key_hash: Buffer; acr: string; amr: string[]; user_agent: string; ip: string; kinds: string[] },
  { readonly id: string }
>(
  'test-session-row',
  `select s.user_id, s.key_hash, s.acr, s.amr, s.user_agent, host(s.last_active_ip) as ip,
    array(select kind from user_session_authentications a where a.user_session_id = s.id) as kinds
  from user_sessions s where s.id = :id::uuid`,
);
const passwordRow = statement<{ hash: string; scheme_version: number; id: string }, { readonly userId: string }>(
  'test-password-row',
  'select hash, scheme_version, id from user_passwords where user_id = :userId::uuid',
);
const auditKinds = statement<{ kind: string }, { readonly userId: string }>(
  'test-audit-kinds',
  'select kind from audit_events where user_id = :userId::uuid order by id',
);
const changePassword = statement<never, { readonly userId: string; readonly id: string }>(
  'test-change-password',
  'update user_passwords set id = :id::uuid where user_id = :userId::uuid',
);
const liveSessions = statement<{ id: string }, { readonly userId: string }>(
  'test-live-sessions',
  'select id from user_sessions where user_id = :userId::uuid and finished_at is null order by id',
);
const fillSessions = statement<never, { readonly userId: string; readonly count: number; readonly at: Date }>(
  'test-fill-sessions',
  `insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, last_active_at)
  select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, :userId::uuid, '', :at::timestamptz, :at::timestamptz,
    :at::timestamptz + make_interval(secs => n)
  from generate_series(1, :count::integer) n`,
);

describe('outcomes of a password sign-in (browser-flows 3.2.4)', () => {
  let ada: UserId;

  beforeAll(async () => {
    ada = await insertTestAccount(database, { username: 'ada', password: 'right', email: 'Ada@Example.net' });
    await insertTestAccount(database, { username: 'locked', password: 'right', isLocked: true });
    await insertTestAccount(database, { username: 'gone', password: 'right', isDeactivated: true });
    await insertTestAccount(database, { username: 'upstream-only' });
  });

  test('the correct password opens a session with its authentication and audit event', async () => {
    const outcome = await signIn('ada', 'right');
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.user).toMatchObject({ id: ada, username: 'ada' });
    expect(await database.first(sessionRow, { id: toUuid(outcome.session.id) })).toEqual({
      user_id: toUuid(ada),
      key_hash: sha256(outcome.session.key),
      acr: 'urn:latchkey:acr:1',
      amr: ['pwd'],
      user_agent: 'Test/1.0',
      ip: '192.0.2.1',
      kinds: ['password'],
    });
    expect(await database.rows(auditKinds, { userId: toUuid(ada) })).toContainEqual({ kind: 'login' });
  });

  test('the session key has 256 bits and is stored as SHA-256 only (R-02)', async () => {
    const outcome = await signIn('ada', 'right');
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(Buffer.from(outcome.session.key, 'base64url')).toHaveLength(32);
    const row = await database.first(sessionRow, { id: toUuid(outcome.session.id) });
    expect(row?.key_hash).toEqual(sha256(outcome.session.key));
  });

  test('each sign-in creates a session of its own (S-61)', async () => {
    const first = await signIn('ada', 'right');
    const second = await signIn('ada', 'right');
    if (!first.ok || !second.ok) throw new Error('refused');
    expect(second.session.id).not.toBe(first.session.id);
    expect(second.session.key).not.toBe(first.session.key);
  });

  test('empty fields are reported and no limit is charged', async () => {
    const { result, task } = await measured(() => signIn('  ', ''));
    expect(result).toEqual({ ok: false, reason: 'required', fields: ['username', 'password'] });
    expect(task.queries).toBe(0);
    expect(await signIn('ada', '')).toEqual({ ok: false, reason: 'required', fields: ['password'] });
  });

  test.each([
    ['a wrong password', 'ada', 'wrong'],
    ['an unknown name', 'nobody', 'right'],
    ['an account without password', 'upstream-only', 'right'],
    ['the wrong password of a locked account', 'locked', 'wrong'],
    ['the wrong password of a deactivated account', 'gone', 'wrong'],
  ])('%s gets the same response for the same work (S-79)', async (_, username, password) => {
    const { result, task } = await measured(() => signIn(username, password));
    expect(result).toEqual({ ok: false, reason: 'invalid-credentials' });
    expect(task.queries).toBe(2);
    expect(hasher.verifications).toBe(1);
  });

  test('locked and deactivated accounts are reported only after the correct password (S-80)', async () => {
    expect(await signIn('locked', 'right')).toMatchObject({
      ok: false,
      reason: 'locked',
      user: { username: 'locked' },
    });
    expect(await signIn('gone', 'right')).toMatchObject({ ok: false, reason: 'deactivated' });
    expect(linesOf('auth.refused').map((line) => line.fields['code'])).toEqual(['locked', 'deactivated']);
  });

  test('a password over 1,024 bytes is wrong and is not hashed', async () => {
    expect(await signIn('ada', 'ß'.repeat(513))).toEqual({ ok: false, reason: 'invalid-credentials' });
    expect(hasher.verifications).toBe(0);
  });

  test('success takes two statements besides the hash (performance 1)', async () => {
    const { result, task } = await measured(() => signIn('ada', 'right'));
    expect(result.ok).toBe(true);
    expect(task.queries).toBe(2);
  });

  test('an outdated hash is replaced at the next correct password, and the password stays valid', async () => {
    const old = new PasswordHasher({ schemes: [OUTDATED], concurrency: 1, queueLength: 1, log });
    const id = await insertTestAccount(database, { username: 'old-hash', password: 'right' }, { hasher: old });
    const before = await database.first(passwordRow, { userId: toUuid(id) });
    expect(before?.scheme_version).toBe(0);
    expect(await signIn('old-hash', 'wrong')).toMatchObject({ reason: 'invalid-credentials' });
    expect(await database.first(passwordRow, { userId: toUuid(id) })).toEqual(before);
    expect(await signIn('old-hash', 'right')).toMatchObject({ ok: true });
    const after = await database.first(passwordRow, { userId: toUuid(id) });
    expect(after).toMatchObject({ id: before?.id, scheme_version: 1 });
    expect(after?.hash).toContain('m=8,t=1,p=1');
    expect(await signIn('old-hash', 'right')).toMatchObject({ ok: true });
  });

  test('a password that changed during the check does not sign in', async () => {
    const id = await insertTestAccount(database, { username: 'changing', password: 'right' });
    const deps = depsOn(database);
    const check = deps.passwordChecks.check.bind(deps.passwordChecks);
    deps.passwordChecks.check = async (attempt) => {
      const result = await check(attempt);
      await database.execute(changePassword, { userId: toUuid(id), id: toUuid(newId(now)) });
      return result;
    };
    const attempt = { username: 'changing', password: 'right', address: undefined, userAgent: undefined };
    expect(
      await signInWithPassword(deps, { ...attempt, captcha: { fields: [] }, knownBrowsers: [], language: 'en' }),
    ).toMatchObject({
      reason: 'invalid-credentials',
    });
    expect(await database.rows(liveSessions, { userId: toUuid(id) })).toEqual([]);
  });

  test('the least recently active of more than 1,000 sessions ends', async () => {
    const id = await insertTestAccount(database, { username: 'busy', password: 'right' });
    await database.execute(fillSessions, { userId: toUuid(id), count: 1000, at: new Date(now - HOUR) });
    const { result, task } = await measured(() => signIn('busy', 'right'));
    if (!result.ok) throw new Error(result.reason);
    expect(task.queries).toBe(3);
    const live = (await database.rows(liveSessions, { userId: toUuid(id) })).map((row) => row.id);
    expect(live).toHaveLength(1000);
    expect(live).toContain(toUuid(result.session.id));
    expect(live).not.toContain('00000000-0000-0000-0000-000000000001');
    expect(live).toContain('00000000-0000-0000-0000-000000000002');
  });
});

describe('finding the account (browser-flows 3.2.3)', () => {
  beforeAll(async () => {
    await insertTestAccount(database, { username: 'grace', password: 'right', email: 'Grace.H@example.net' });
    await insertTestAccount(database, { username: 'Mixed', password: 'right' });
    await insertTestAccount(database, { username: 'twin', password: 'lower' });
    await insertTestAccount(database, { username: 'Twin', usernameKey: 'Twin', password: 'upper' });
  });

  test.each([
    ['grace'],
    ['GRACE'],
    ['  grace '],
    ['@grace:example.org'],
    ['@Grace:Example.org'],
    ['grace.h@example.net'],
    ['GRACE.H@EXAMPLE.NET'],
    ['mixed'],
  ])('%j is found', async (typed) => {
    expect(await signIn(typed, 'right')).toMatchObject({ ok: true });
  });

  test.each([
    ['@grace:other.org'],
    ['grace:example.org'],
    ['@:example.org'],
    ['grace@example.org'],
    ['ｇｒａｃｅ'],
    ['x'.repeat(5000)],
    ["' or true --"],
  ])('%j is not', async (typed) => {
    expect(await signIn(typed, 'right')).toMatchObject({ reason: 'invalid-credentials' });
  });

  test('names that differ only in case match by exact spelling', async () => {
    expect(await signIn('twin', 'lower')).toMatchObject({ ok: true, user: { username: 'twin' } });
    expect(await signIn('Twin', 'upper')).toMatchObject({ ok: true, user: { username: 'Twin' } });
    expect(await signIn('TWIN', 'lower')).toMatchObject({ reason: 'invalid-credentials' });
    expect(await signIn('Twin', 'lower')).toMatchObject({ reason: 'invalid-credentials' });
  });

  test('an email address does not sign in where that is not allowed', async () => {
    const deps = { ...depsOn(database), loginNames: { serverName: 'example.org', isEmailAllowed: false } };
    const attempt = { username: 'grace.h@example.net', password: 'right', address: undefined, userAgent: undefined };
    expect(
      await signInWithPassword(deps, { ...attempt, captcha: { fields: [] }, knownBrowsers: [], language: 'en' }),
    ).toMatchObject({
      reason: 'invalid-credentials',
    });
  });
});

describe('limits (browser-flows 3.2.5)', () => {
  const many = (count: number, attempt: (index: number) => Promise<SignInOutcome>): Promise<SignInOutcome[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => attempt(index)));
  const limited = (outcomes: readonly SignInOutcome[]): number =>
    outcomes.filter((outcome) => !outcome.ok && outcome.reason === 'rate-limited').length;
  const perAccountOnly = (burst: number): RateLimitingConfig['login'] => ({
    ...NO_LIMITS,
    perAccount: { burst, perSecond: burst / 3600 },
  });

  test('after three wrong passwords an address waits 20 seconds per attempt, and no hash is computed', async () => {
    await insertTestAccount(database, { username: 'limited', password: 'right' });
    const attempt = (): Promise<SignInOutcome> => signIn('limited', 'wrong', { limits: DEFAULT_LIMITS });
    for (let count = 0; count < 3; count += 1) expect(await attempt()).toMatchObject({ reason: 'invalid-credentials' });
    expect(await attempt()).toEqual({ ok: false, reason: 'rate-limited', retryAfterSeconds: 20 });
    expect(await signIn('limited', 'right', { limits: DEFAULT_LIMITS })).toMatchObject({ reason: 'rate-limited' });
    expect(hasher.verifications).toBe(3);
    now += 20_000;
    expect(await attempt()).toMatchObject({ reason: 'invalid-credentials' });
    expect(await attempt()).toMatchObject({ reason: 'rate-limited' });
  });

  test('a limited response is the same for a nonexistent name (R-42)', async () => {
    const attempt = (): Promise<SignInOutcome> => signIn('no-such-name', 'wrong', { limits: DEFAULT_LIMITS });
    for (let count = 0; count < 3; count += 1) expect(await attempt()).toMatchObject({ reason: 'invalid-credentials' });
    expect(await attempt()).toEqual({ ok: false, reason: 'rate-limited', retryAfterSeconds: 20 });
  });

  test('correct passwords return their tokens: only failures count', async () => {
    await insertTestAccount(database, { username: 'refunded', password: 'right' });
    for (let count = 0; count < 8; count += 1) {
      expect(await signIn('refunded', 'right', { limits: DEFAULT_LIMITS })).toMatchObject({ ok: true });
    }
    const attempt = (): Promise<SignInOutcome> => signIn('refunded', 'wrong', { limits: DEFAULT_LIMITS });
    for (let count = 0; count < 3; count += 1) expect(await attempt()).toMatchObject({ reason: 'invalid-credentials' });
    expect(await attempt()).toMatchObject({ reason: 'rate-limited' });
  });

  test('a rejection by one bucket takes no token from the other', async () => {
    await insertTestAccount(database, { username: 'owner', password: 'right' });
    const limits = { ...DEFAULT_LIMITS, perAccount: { burst: 4, perSecond: 4 / 3600 } };
    // An attacker at one IP address exceeds that address's limit. The account has fewer tokens than there are attempts.
    for (let count = 0; count < 9; count += 1) await signIn('owner', 'wrong', { limits, address: '198.51.100.1' });
    expect(await signIn('owner', 'right', { limits, address: '203.0.113.1' })).toMatchObject({ ok: true });
  });

  test('all spellings of one account share its bucket (S-87)', async () => {
    await insertTestAccount(database, { username: 'target', password: 'right', email: 'target@example.net' });
    const spellings = [
      'target',
      'TARGET',
      '@target:example.org',
      'target@example.net',
      ' target',
      '@Target:example.org',
    ];
    const limits = perAccountOnly(4);
    const outcomes = await many(12, (index) =>
      signIn(spellings[index % 6] ?? '', 'wrong', { limits, address: `198.51.100.${index}` }),
    );
    expect(limited(outcomes)).toBe(8);
    expect(hasher.verifications).toBe(4);
  });

  test('addresses of one IPv6 /64 share a bucket, separate from other networks', async () => {
    const limits = DEFAULT_LIMITS;
    const within = await many(12, (index) =>
      signIn(`six-${index}`, 'wrong', { limits, address: `2001:db8:1:2:${index}::${index}` }),
    );
    expect(limited(within)).toBe(9);
    expect(await signIn('six', 'wrong', { limits, address: '2001:db8:1:3::1' })).toMatchObject({
      reason: 'invalid-credentials',
    });
  });

  test('callers without a known address share one bucket, and the log warns', async () => {
    const outcomes = await many(5, (index) =>
      signIn(`unknown-${index}`, 'wrong', { limits: DEFAULT_LIMITS, address: undefined }),
    );
    expect(limited(outcomes)).toBe(2);
    expect(linesOf('rate_limit.shared')).toHaveLength(5);
  });

  test('60 parallel guesses over two instances get no more checks than the burst (S-89)', async () => {
    await insertTestAccount(database, { username: 'guessed', password: 'right' });
    const other = await openDatabase({
      connection: parseConnectionUri(testDatabase.connectionString),
      log: silentLog,
      clock: systemClock,
    });
    try {
      const instances = [depsOn(database, perAccountOnly(20)), depsOn(other, perAccountOnly(20))];
      const outcomes = await many(60, (index) => {
        const deps = instances[index % 2];
        if (deps === undefined) throw new Error('two instances');
        const address = `203.0.113.${index}`;
        const attempt = {
          username: 'guessed',
          password: `guess ${index}`,
          captcha: { fields: [] },
          userAgent: undefined,
          knownBrowsers: [],
          language: 'en',
        };
        return signInWithPassword(deps, { ...attempt, address });
      });
      expect(limited(outcomes)).toBe(40);
      expect(hasher.verifications).toBe(20);
    } finally {
      await other.close();
    }
  });

  test("from a known browser the owner can sign in while strangers have exhausted the account's limit (S-88)", async () => {
    const owner = await insertTestAccount(database, { username: 'besieged', password: 'right' });
    const limits = perAccountOnly(5);
    await many(10, (index) => signIn('besieged', 'wrong', { limits, address: `198.51.100.${index}` }));
    expect(await signIn('besieged', 'right', { limits })).toMatchObject({ reason: 'rate-limited' });
    const knownBrowsers = [{ user: owner, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }];
    expect(await signIn('besieged', 'right', { limits, knownBrowsers })).toMatchObject({ ok: true });
  });

  test('a known browser has ten attempts of its own, only for its own account', async () => {
    const owner = await insertTestAccount(database, { username: 'familiar', password: 'right' });
    const limits = { ...DEFAULT_LIMITS, perIp: ample };
    const knownBrowsers = [{ user: owner, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }];
    const outcomes = await many(12, () => signIn('familiar', 'wrong', { limits, knownBrowsers }));
    expect(limited(outcomes)).toBe(2);
    const stranger = await many(12, () => signIn('someone-else', 'wrong', { limits, knownBrowsers }));
    expect(limited(stranger)).toBe(0);
  });
});

describe('a wrong password as a security event of its account', () => {
  const failures = statement<
    { ip: string; user_agent: string; at: number; count: number | null },
    { readonly userId: string }
  >(
    'test-login-failed',
    `select host(ip) as ip, user_agent, (extract(epoch from created_at) * 1000)::float8 as at,
            (detail ->> 'count')::integer as count
    from audit_events where user_id = :userId::uuid and kind = 'login_failed' order by created_at, id`,
  );
  const allFailures = statement<{ count: number }, NoParameters>(
    'test-all-login-failed',
    `select count(*)::integer as count from audit_events where kind = 'login_failed'`,
  );

  test('records when, from where and with which user agent', async () => {
    const id = await insertTestAccount(database, { username: 'watched', password: 'right' });
    await signIn('watched', 'wrong', { address: '198.51.100.7', userAgent: 'Guesser/1' });
    await signIn('watched', 'right');
    expect(await database.rows(failures, { userId: toUuid(id) })).toEqual([
      { ip: '198.51.100.7', user_agent: 'Guesser/1', at: now, count: null },
    ]);
  });

  test('is written ten times per hour, the newest counting the others, and again the hour after', async () => {
    const id = await insertTestAccount(database, { username: 'flooded', password: 'right' });
    const counts = async () => (await database.rows(failures, { userId: toUuid(id) })).map(({ count }) => count);
    for (let count = 0; count < 15; count += 1) {
      now += 1;
      await signIn('flooded', 'wrong');
    }
    expect(await counts()).toEqual([...new Array<null>(9).fill(null), 6]);
    now += HOUR;
    for (let count = 0; count < 12; count += 1) {
      now += 1;
      await signIn('flooded', 'wrong');
    }
    expect(await counts()).toEqual([...new Array<null>(9).fill(null), 6, ...new Array<null>(9).fill(null), 3]);
  });

  test('is not written for unknown names', async () => {
    const before = await database.first(allFailures, {});
    await signIn('no-such-name', 'wrong');
    expect(await database.first(allFailures, {})).toEqual(before);
  });

  test('does not delay the response by disk writes, which would reveal existing accounts (S-79)', async () => {
    const setting = statement<{ setting: string }, NoParameters>(
      'test-synchronous-commit',
      `select current_setting('synchronous_commit') as setting`,
    );
    const failure = {
      now: new Date(now),
      subject: 'test:nobody',
      userId: null,
      auditEventId: newAuditEventId(now),
      ip: null,
      userAgent: null,
      maxEvents: 10,
    };
    await database.transaction(async (transaction) => {
      await transaction.first(recordLoginFailure, failure);
      expect(await transaction.first(setting, {})).toEqual({ setting: 'off' });
    });
    await database.first(recordLoginFailure, failure);
    expect(await database.first(setting, {})).toEqual({ setting: 'on' });
  });
});

describe('a hundred consecutive wrong passwords', () => {
  const fail = async (username: string, times: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) await signIn(username, 'wrong');
  };

  test('raise an alarm once, and again after a hundred more', async () => {
    const id = await insertTestAccount(database, { username: 'alarmed', password: 'right' });
    await fail('alarmed', 99);
    expect(linesOf('login.bruteforce')).toEqual([]);
    await fail('alarmed', 1);
    expect(linesOf('login.bruteforce')).toMatchObject([{ level: 'warn', fields: { user: id } }]);
    await fail('alarmed', 99);
    expect(linesOf('login.bruteforce')).toHaveLength(1);
    await fail('alarmed', 1);
    expect(linesOf('login.bruteforce')).toHaveLength(2);
  });

  test('are reset by a correct one', async () => {
    await insertTestAccount(database, { username: 'forgetful', password: 'right' });
    await fail('forgetful', 60);
    await signIn('forgetful', 'right');
    await fail('forgetful', 99);
    expect(linesOf('login.bruteforce')).toEqual([]);
  });

  test('count only within 24 hours', async () => {
    await insertTestAccount(database, { username: 'patient', password: 'right' });
    await fail('patient', 50);
    now += 13 * HOUR;
    await fail('patient', 49);
    now += 12 * HOUR;
    await fail('patient', 50);
    expect(linesOf('login.bruteforce')).toEqual([]);
    await fail('patient', 1);
    expect(linesOf('login.bruteforce')).toHaveLength(1);
  });
});

test('log lines about rejected sign-ins never contain the input', async () => {
  const id = await insertTestAccount(database, { username: 'discreet', password: 'right' });
  await signIn('discreet', 'typed-password');
  await signIn('typed-name', 'typed-password');
  expect(linesOf('auth.refused').map((line) => line.fields)).toEqual([
    { code: 'bad_password', user: id },
    { code: 'unknown_user', user: undefined },
  ]);
  expect(JSON.stringify(log.lines)).not.toContain('typed');
});
