import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSecretKeys, type SecretKeys } from '#domain/keys/secret-keys.ts';
import { newTotpSecret, showTotpSecret } from '#domain/records/totp-secret.ts';
import { toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { Database } from '#platform/postgres/database.ts';
import { totpCode, totpStep } from '#protocol/one-time-codes/totp.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertBrowserSession, insertUser, randomRoot, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { consumeTotpCode } from './consume-totp-code.ts';
import { spendRecoveryCode } from './spend-recovery-code.ts';
import { storeTotp } from './store-totp.ts';

const clock = new FakeClock();
const keyRing = new KeyRing(randomRoot());
const from = { address: '203.0.113.7', userAgent: 'Mozilla/5.0 (test browser)', language: 'de' };
const sendsNotices = true;
let database: Database;
let secretKeys: SecretKeys;
let user: UserId;
let secret: Buffer;

const testDatabase = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  database = testDatabase.database;
  secretKeys = await openSecretKeys({ database, keyRing, clock });
});
beforeEach(async () => {
  clock.advanceSeconds(3600);
  user = await insertUser(database, clock.now());
  secret = newTotpSecret();
});

/** Stores a secret as if the app had been set up with the code from two steps ago. */
function store(of: { user?: UserId; secret?: Buffer } = {}) {
  const verified = { user, secret, ...of, step: totpStep(clock.now()) - 2, ...from, now: clock.now() };
  return database.transaction((transaction) => storeTotp({ keyRing, secretKeys, sendsNotices }, transaction, verified));
}

async function stored(): Promise<readonly string[]> {
  const outcome = await store();
  if (!outcome.ok) throw new Error(outcome.reason);
  return outcome.recoveryCodes;
}

const consume = (code: string, whose = user) =>
  consumeTotpCode({ database, keyRing }, { user: whose, code, now: clock.now() });
const codeAway = (steps: number) => totpCode(secret, totpStep(clock.now()) + steps);
const spend = (code: string, whose = user) =>
  spendRecoveryCode({ database, secretKeys, sendsNotices }, { user: whose, code, ...from, now: clock.now() });
const events = () =>
  sql<{ kind: string }>(
    database,
    `select kind, host(ip) as ip, detail from audit_events where user_id = $1::uuid
      order by kind desc, detail ->> 'remaining' desc`,
    [toUuid(user)],
  );

describe('codes of an authenticator app (browser-flows 4.2, security S-90)', () => {
  test('are accepted one step early and late, in order, and each once', async () => {
    await stored();
    expect(await consume(codeAway(-2))).toEqual({ ok: false, reason: 'wrong' });
    expect(await consume(codeAway(2))).toEqual({ ok: false, reason: 'wrong' });
    expect(await consume(codeAway(-1))).toEqual({ ok: true });
    expect(await consume(codeAway(-1))).toEqual({ ok: false, reason: 'used' });
    expect(await consume(codeAway(1))).toEqual({ ok: true });
    // An unused code that is older than the newest used one.
    expect(await consume(codeAway(0))).toEqual({ ok: false, reason: 'used' });
    clock.advanceSeconds(60);
    expect(await consume(` ${codeAway(0).slice(0, 3)}-${codeAway(0).slice(3)} `)).toEqual({ ok: true });
    const [row] = await sql(database, 'select last_used_at from user_totp_secrets where user_id = $1::uuid', [
      toUuid(user),
    ]);
    expect(row).toEqual({ last_used_at: new Date(clock.now()) });
  });

  test('sent twenty times at once are accepted once: an observed code is worthless', async () => {
    await stored();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => consume(codeAway(0))));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test('F-14: from before the clock was set back do not block current ones, each of which works once', async () => {
    await stored();
    expect(await consume(codeAway(0))).toEqual({ ok: true });
    const before = codeAway(0);
    clock.advanceSeconds(3600);
    expect(await consume(codeAway(0))).toEqual({ ok: true });
    clock.advanceSeconds(-3600);
    expect(await consume(before)).toEqual({ ok: false, reason: 'used' });
    expect(await consume(codeAway(1))).toEqual({ ok: true });
    expect(await consume(codeAway(0))).toEqual({ ok: false, reason: 'used' });
    clock.advanceSeconds(30);
    expect(await consume(codeAway(1))).toEqual({ ok: true });
  });

  test('used for setup cannot be used to sign in', async () => {
    const verified = { user, secret, step: totpStep(clock.now()), ...from, now: clock.now() };
    await database.transaction((transaction) =>
      storeTotp({ keyRing, secretKeys, sendsNotices }, transaction, verified),
    );
    expect(await consume(codeAway(0))).toEqual({ ok: false, reason: 'used' });
    expect(await consume(codeAway(1))).toEqual({ ok: true });
  });

  test('of another user, or without an app, are wrong', async () => {
    const other = await insertUser(database, clock.now());
    await stored();
    expect(await consume(codeAway(0), other)).toEqual({ ok: false, reason: 'not-enrolled' });
    await store({ user: other, secret: newTotpSecret() });
    expect(await consume(codeAway(0), other)).toEqual({ ok: false, reason: 'wrong' });
    expect(await consume('12345')).toEqual({ ok: false, reason: 'malformed' });
  });

  test('are not checked with a secret that was moved from another account (R-06)', async () => {
    const attacker = await insertUser(database, clock.now());
    await stored();
    await store({ user: attacker, secret: newTotpSecret() });
    const secretOf = '(select secret_sealed from user_totp_secrets where user_id = $1::uuid)';
    await sql(database, `update user_totp_secrets set secret_sealed = ${secretOf} where user_id = $2::uuid`, [
      toUuid(user),
      toUuid(attacker),
    ]);
    await expect(consume(codeAway(0), attacker)).rejects.toThrow(/cannot be decrypted with any configured key/);
  });
});

describe('recovery codes (browser-flows 4.3)', () => {
  test('are accepted once each in any notation, and their use is recorded', async () => {
    const codes = await stored();
    expect(codes).toHaveLength(10);
    expect(await spend(codes[0] ?? '')).toEqual({ ok: true, remaining: 9 });
    expect(await spend(codes[0] ?? '')).toEqual({ ok: false, reason: 'wrong' });
    expect(await spend((codes[1] ?? '').replace('-', '').toUpperCase())).toEqual({ ok: true, remaining: 8 });
    expect(await spend('22222-22222')).toEqual({ ok: false, reason: 'wrong' });
    expect(await spend('no code')).toEqual({ ok: false, reason: 'malformed' });
    expect(await events()).toEqual([
      { kind: 'totp_added', ip: from.address, detail: null },
      { kind: 'recovery_code_used', ip: from.address, detail: { remaining: 9 } },
      { kind: 'recovery_code_used', ip: from.address, detail: { remaining: 8 } },
    ]);
  });

  test('sent twenty times at once are accepted once (S-90)', async () => {
    const [code = ''] = await stored();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => spend(code)));
    expect(outcomes.filter(({ ok }) => ok)).toEqual([{ ok: true, remaining: 9 }]);
  });

  test('are valid for one account and not found in stored data', async () => {
    const other = await insertUser(database, clock.now());
    const codes = await stored();
    expect(await spend(codes[0] ?? '', other)).toEqual({ ok: false, reason: 'wrong' });
    const [dump] = await sql<{ text: string }>(
      database,
      `select string_agg(encode(code_hmac, 'escape'), ' ') as text from user_recovery_codes`,
    );
    for (const code of codes) expect(dump?.text).not.toContain(code.slice(0, 5));
  });

  test('notify the owner by email about their use and how many are left (R-33)', async () => {
    await sql(
      database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values ($1::uuid, $1::uuid, 'amira@mail.example', $1::text, now())`,
      [toUuid(user)],
    );
    const [first = '', second = ''] = await stored();
    await spend(first);
    await spend('22222-22222');
    await spendRecoveryCode(
      { database, secretKeys, sendsNotices: false },
      { user, code: second, ...from, now: clock.now() },
    );
    const mails = await sql(
      database,
      `select payload ->> 'notice' as notice, payload -> 'detail' as detail, payload ->> 'language' as language
         from queue_jobs where payload ->> 'user_id' = $1 order by payload ->> 'notice'`,
      [toUuid(user)],
    );
    expect(mails).toEqual([
      { notice: 'factor_changed', detail: { change: 'totp_added' }, language: 'de' },
      { notice: 'recovery_code_used', detail: { remaining: 9 }, language: 'de' },
    ]);
  });

  test('work under another root key', async () => {
    const [code = ''] = await stored();
    const next = new KeyRing(randomRoot());
    const { recoveryCodes } = secretKeys;
    expect(
      await spendRecoveryCode(
        { database, secretKeys: { recoveryCodes }, sendsNotices },
        { user, code, ...from, now: clock.now() },
      ),
    ).toEqual({ ok: true, remaining: 9 });
    await expect(openSecretKeys({ database, keyRing: next, clock })).rejects.toThrow(/secrets\.encryption_previous/);
  });
});

describe('setting up an app', () => {
  test('stores one secret and one set of codes per account, even when done twice at once', async () => {
    const outcomes = await Promise.all([store(), store({ secret: newTotpSecret() }), store()]);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array(2).fill({ ok: false, reason: 'already-enrolled' }));
    const codes = await sql(database, 'select id from user_recovery_codes where user_id = $1::uuid', [toUuid(user)]);
    expect(codes).toHaveLength(10);
    expect(await events()).toEqual([{ kind: 'totp_added', ip: from.address, detail: null }]);
  });

  test('ends pending setups in other browsers of the account, and stores nothing for a deleted account', async () => {
    const session = await insertBrowserSession(database, user, clock.now());
    await sql(
      database,
      `insert into user_totp_enrolments (id, user_id, user_session_id, secret_sealed, created_at)
       values ($1::uuid, $2::uuid, $1::uuid, '', $3::timestamptz)`,
      [toUuid(session), toUuid(user), new Date(clock.now())],
    );
    await stored();
    expect(await sql(database, 'select id from user_totp_enrolments where user_id = $1::uuid', [toUuid(user)])).toEqual(
      [],
    );
    const locked = await insertUser(database, clock.now());
    await sql(database, 'update users set locked_at = now() where id = $1::uuid', [toUuid(locked)]);
    expect(await store({ user: locked })).toEqual({ ok: false, reason: 'unusable' });
  });

  test('shows the secret to type, and a link that contains service and user', () => {
    const shown = showTotpSecret(Buffer.from('12345678901234567890'), { issuer: 'Harbour', account: 'dana' });
    expect(shown.secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    expect(shown.otpauthUrl).toMatch(/^otpauth:\/\/totp\/Harbour:dana\?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&/);
  });
});
