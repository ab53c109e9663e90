import { beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { type CleanUpDeps, sweepQueue } from '#domain/clean-up/clean-up.ts';
import type { Sweep } from '#domain/clean-up/sweep.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { JobWorker } from '#platform/jobs/worker.ts';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertBrowserSession, insertClient, insertUser, randomRoot, sql } from '#test/support/fixtures.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import { sweeps } from './sweeps.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const { retention } = loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;
const rules = { ...retention, syncsDevices: false };
let clock: FakeClock;
let userId: UserId;
let clientId: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());
const second = await sharedByTests(
  openDatabase({
    connection: parseConnectionUri(testDatabase.connectionString),
    log: silentLog,
    clock: { now: () => Date.now() },
  }),
);

beforeEach(async () => {
  const tables = ['users', 'oauth2_clients', 'audit_events', 'rate_limits', 'login_failures', 'user_registrations'];
  tables.push('user_registration_tokens', 'user_email_authentications');
  await sql(
    testDatabase.database,
    `truncate ${[...tables, 'replayed_values', 'queue_jobs', 'user_recovery_sessions', 'upstream_providers'].join(', ')} cascade`,
  );
  clock = new FakeClock();
  userId = await insertUser(testDatabase.database, clock.now());
  clientId = await insertClient(testDatabase.database, new KeyRing(randomRoot()), clock.now());
});

interface TestDeps extends Partial<CleanUpDeps> {
  readonly sweeps?: readonly Sweep[];
}

/** A cleanup worker; `work` runs what is due. */
function cleanUp({ sweeps: some = sweeps, ...deps }: TestDeps = {}) {
  const { database } = testDatabase;
  const all = {
    ...{ database, clock, log: silentLog, rules, instance: new InstanceState() },
    ...{ isBusy: () => false, pause: async () => {}, ...deps },
  };
  const worker = new JobWorker({
    ...{ database: all.database, clock, log: all.log, tracing: new ReceivedTraces(true) },
    ...{ concurrency: 1, pollIntervalSeconds: 1, maxRetries: 10 },
    queues: some.map((sweep) => sweepQueue(sweep, all)),
  });
  const work = async (): Promise<void> => {
    while ((await worker.poll()) > 0) await worker.idle();
  };
  return { worker, work };
}

/** Runs everything that becomes due within the next hour. */
async function cleanUpAfterAnHour(deps: TestDeps = {}): Promise<void> {
  const { work } = cleanUp(deps);
  await work();
  clock.advanceSeconds(HOUR);
  await work();
}

/** Returns the time `seconds` before the cleanup of `cleanUpAfterAnHour`. */
function ago(seconds: number): Date {
  return new Date(clock.now() + (HOUR - seconds) * 1000);
}

async function insertSession(options: { finishedAt?: Date; browserSessionId?: string; ip?: string; activeAt?: Date }) {
  const id = toUuid(newId(clock.now()));
  await sql(
    testDatabase.database,
    `insert into oauth2_sessions (id, user_id, user_session_id, client_id, scope, created_at, finished_at,
       last_active_ip, last_active_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, '{openid}', $5::timestamptz, $6::timestamptz, $7::inet,
       $8::timestamptz)`,
    [
      id,
      toUuid(userId),
      options.browserSessionId ?? null,
      toUuid(clientId),
      new Date(0),
      options.finishedAt ?? null,
      options.ip ?? null,
      options.activeAt ?? null,
    ],
  );
  return id;
}

let counter = 0;
async function insertAccessToken(sessionId: string, name: string, times: { expiresAt: Date; revokedAt?: Date }) {
  counter += 1;
  const id = toUuid(newId(clock.now()));
  await sql(
    testDatabase.database,
    `insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at, revoked_at)
     values ($1::uuid, $2::uuid, $3::bytea, array[$4::text], $5::timestamptz, $6::timestamptz, $7::timestamptz)`,
    [id, sessionId, Buffer.from(`access ${counter}`), name, new Date(0), times.expiresAt, times.revokedAt ?? null],
  );
  return id;
}

interface RefreshTokenFixture {
  readonly predecessorId?: string | undefined;
  readonly successorId?: string | undefined;
  readonly accessTokenId?: string | undefined;
  readonly consumedAt?: Date;
}

async function insertRefreshToken(sessionId: string, token: RefreshTokenFixture, id = toUuid(newId(clock.now()))) {
  await sql(
    testDatabase.database,
    `insert into oauth2_refresh_tokens
       (id, session_id, token_hash, access_token_id, predecessor_id, successor_id, created_at, consumed_at)
     values ($1::uuid, $2::uuid, sha256($1::text::bytea), $3::uuid, $4::uuid, $5::uuid, $6::timestamptz,
       $7::timestamptz)`,
    [
      id,
      sessionId,
      token.accessTokenId ?? null,
      token.predecessorId ?? null,
      token.successorId ?? null,
      new Date(0),
      token.consumedAt ?? null,
    ],
  );
  return id;
}

async function texts(query: string): Promise<string[]> {
  return (await sql<{ text: string }>(testDatabase.database, query)).map(({ text }) => text);
}

const ids = (table: string): Promise<string[]> => texts(`select id::text as text from ${table} order by id`);
const accessTokens = (): Promise<string[]> => texts('select scope[1] as text from oauth2_access_tokens order by 1');

describe('data that cleanup deletes and keeps (operations 6.4)', () => {
  test('access tokens: an hour after they were revoked, a day after they expired', async () => {
    const session = await insertSession({});
    const soon = ago(-HOUR);
    await insertAccessToken(session, 'revoked long ago', { expiresAt: soon, revokedAt: ago(61 * MINUTE) });
    await insertAccessToken(session, 'revoked lately', { expiresAt: soon, revokedAt: ago(59 * MINUTE) });
    await insertAccessToken(session, 'expired long ago', { expiresAt: ago(DAY + MINUTE) });
    await insertAccessToken(session, 'expired lately', { expiresAt: ago(DAY - MINUTE) });
    await insertAccessToken(session, 'live', { expiresAt: soon });
    await cleanUpAfterAnHour();
    expect(await accessTokens()).toEqual(['expired lately', 'live', 'revoked lately']);
  });

  test('the pair needed to judge a returning refresh token stays with its live session (oauth 9.4 rows 8, 9)', async () => {
    const rows = async (finishedAt: Date | undefined) => {
      const session = await insertSession(finishedAt === undefined ? {} : { finishedAt });
      const name = finishedAt === undefined ? 'live' : 'finished';
      const old = { expiresAt: ago(9 * DAY) };
      await insertAccessToken(session, `${name}: before`, old);
      const accessTokenId = await insertAccessToken(session, `${name}: of the newest`, old);
      const [first, consumed, newest] = [1, 2, 3].map(() => toUuid(newId(clock.now())));
      await insertRefreshToken(session, { successorId: consumed, consumedAt: ago(9 * DAY) }, first);
      await insertRefreshToken(
        session,
        { predecessorId: first, successorId: newest, consumedAt: ago(8 * DAY) },
        consumed,
      );
      await insertRefreshToken(session, { predecessorId: consumed, accessTokenId }, newest);
      return { consumed, newest };
    };
    const live = await rows(undefined);
    const finished = await rows(ago(DAY));
    await cleanUpAfterAnHour();
    expect(await accessTokens()).toEqual(['live: of the newest']);
    expect(await ids('oauth2_refresh_tokens')).toEqual([live.consumed, live.newest, finished.newest].toSorted());
  });

  test('a refresh token that was consumed within the hour stays', async () => {
    const session = await insertSession({});
    const [former, newer, newest] = [1, 2, 3].map(() => toUuid(newId(clock.now())));
    await insertRefreshToken(session, { successorId: newer, consumedAt: ago(59 * MINUTE) }, former);
    await insertRefreshToken(session, { successorId: newest, consumedAt: ago(58 * MINUTE) }, newer);
    await insertRefreshToken(session, {}, newest);
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_refresh_tokens')).toEqual([former, newer, newest].toSorted());
  });

  test('client sessions: 30 days after they ended, with their tokens', async () => {
    const old = await insertSession({ finishedAt: ago(30 * DAY + MINUTE) });
    await insertRefreshToken(old, {});
    const recent = await insertSession({ finishedAt: ago(30 * DAY - MINUTE) });
    const live = await insertSession({});
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_sessions')).toEqual([recent, live].toSorted());
    expect(await ids('oauth2_refresh_tokens')).toEqual([]);
  });

  test('browser sessions: 30 days after they ended, unless a client session refers to them', async () => {
    const now = clock.now();
    const finish = async (finishedAt: Date | null): Promise<string> => {
      const id = toUuid(await insertBrowserSession(testDatabase.database, userId, now));
      await sql(testDatabase.database, 'update user_sessions set finished_at = $2::timestamptz where id = $1::uuid', [
        id,
        finishedAt,
      ]);
      return id;
    };
    await finish(ago(31 * DAY));
    const referred = await finish(ago(31 * DAY));
    await insertSession({ browserSessionId: referred });
    const recent = await finish(ago(29 * DAY));
    const live = await finish(null);
    await cleanUpAfterAnHour();
    expect(await ids('user_sessions')).toEqual([referred, recent, live].toSorted());
  });

  test("a client's session on its own behalf ends with its access token, and is deleted like others", async () => {
    const [expired, valid, ofUser] = [await insertSession({}), await insertSession({}), await insertSession({})];
    await sql(testDatabase.database, 'update oauth2_sessions set user_id = null where id = any ($1::uuid[])', [
      [expired, valid],
    ]);
    await insertAccessToken(expired, 'expired', { expiresAt: ago(MINUTE) });
    await insertAccessToken(valid, 'valid', { expiresAt: ago(-MINUTE) });
    await insertAccessToken(ofUser, 'expired', { expiresAt: ago(MINUTE) });
    await cleanUpAfterAnHour();
    expect(await texts('select id::text as text from oauth2_sessions where finished_at is not null')).toEqual([
      expired,
    ]);
    clock.advanceSeconds(30 * DAY);
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_sessions')).toEqual([valid, ofUser].toSorted());
  });

  test('the IP address of a session inactive for 30 days; the session stays', async () => {
    const quiet = await insertSession({ ip: '192.0.2.1', activeAt: ago(31 * DAY) });
    const active = await insertSession({ ip: '192.0.2.2', activeAt: ago(29 * DAY) });
    const browser = toUuid(await insertBrowserSession(testDatabase.database, userId, clock.now()));
    await sql(
      testDatabase.database,
      `update user_sessions set last_active_ip = '192.0.2.3', created_at = $1::timestamptz`,
      [ago(31 * DAY)],
    );
    await cleanUpAfterAnHour();
    const kept = await texts(
      `select concat_ws(' ', id, host(last_active_ip)) as text from oauth2_sessions
       union select concat_ws(' ', id, host(last_active_ip)) from user_sessions order by text`,
    );
    expect(kept).toEqual([quiet, `${active} 192.0.2.2`, browser].toSorted());
  });

  test('authorization requests: seven days after creation', async () => {
    for (const createdAt of [ago(7 * DAY + MINUTE), ago(7 * DAY - MINUTE)]) {
      await sql(
        testDatabase.database,
        `insert into oauth2_authorization_grants
           (id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, created_at, expires_at)
         values ($1::uuid, $2::uuid, 'https://app.example/', true, '{openid}', 'query', $3::timestamptz,
           $3::timestamptz)`,
        [toUuid(newId(clock.now())), toUuid(clientId), createdAt],
      );
    }
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_authorization_grants')).toHaveLength(1);
  });

  test('device codes: seven days after creation, whatever their outcome', async () => {
    const made = async (name: string, createdAt: Date, responded: string) =>
      await sql(
        testDatabase.database,
        `insert into oauth2_device_code_grants (id, client_id, scope, device_code_hash, user_code_hmac, user_code_sealed,
           requester_ip, interval_seconds, created_at, expires_at, rejected_at)
         values ($1::uuid, $2::uuid, '{}', $3::bytea, $3::bytea, '', '192.0.2.1', 5, $4::timestamptz, $4::timestamptz,
           case $5::text when 'rejected' then $4::timestamptz end)`,
        [toUuid(newId(clock.now())), toUuid(clientId), Buffer.from(name), createdAt, responded],
      );
    for (const responded of ['rejected', 'waiting']) {
      await made(`${responded} old`, ago(7 * DAY + MINUTE), responded);
      await made(`${responded} recent`, ago(7 * DAY - MINUTE), responded);
    }
    await cleanUpAfterAnHour();
    const kept = `select encode(device_code_hash, 'escape') as text from oauth2_device_code_grants order by text`;
    expect(await texts(kept)).toEqual(['rejected recent', 'waiting recent']);
  });

  test('permanently failed jobs: 90 days later; a waiting one stays, whatever its age', async () => {
    for (const [queue, failedAt] of [
      ['failed long ago', ago(90 * DAY + MINUTE)],
      ['failed lately', ago(90 * DAY - MINUTE)],
      ['waiting', null],
    ] as const) {
      await sql(
        testDatabase.database,
        `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at)
         values ($1::uuid, $2::text, '{}', $3::timestamptz, $4::timestamptz, $5::timestamptz)`,
        [toUuid(newId(clock.now())), queue, new Date(0), new Date(clock.now() + 9 * DAY * 1000), failedAt],
      );
    }
    await cleanUpAfterAnHour();
    const kept = `select queue as text from queue_jobs where queue not like 'cleanup-%' and queue not like 'expire-%' order by text`;
    expect(await texts(kept)).toEqual(['failed lately', 'waiting']);
  });

  test('account recoveries: seven days after they started, with their tickets', async () => {
    const emailId = toUuid(newId(clock.now()));
    await sql(
      testDatabase.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values ($1::uuid, $2::uuid, 'amira@mail.example', 'amira@mail.example', $3::timestamptz)`,
      [emailId, toUuid(userId), ago(8 * DAY)],
    );
    for (const [name, createdAt] of [
      ['old', ago(7 * DAY + MINUTE)],
      ['recent', ago(7 * DAY - MINUTE)],
    ] as const) {
      await sql(
        testDatabase.database,
        `with session as (
           insert into user_recovery_sessions (id, email, email_key, locale, created_at)
           values ($1::uuid, 'amira@mail.example', 'amira@mail.example', 'en', $2::timestamptz) returning id
         )
         insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, created_at)
         select $3::text::bytea, session.id, $4::uuid, $5::uuid, $2::timestamptz from session`,
        [toUuid(newId(clock.now())), createdAt, name, toUuid(userId), emailId],
      );
    }
    await cleanUpAfterAnHour();
    expect(await ids('user_recovery_sessions')).toHaveLength(1);
    expect(await texts(`select encode(ticket_hash, 'escape') as text from user_recovery_tickets`)).toEqual(['recent']);
  });

  test('authenticator apps with unfinished setup: after their ten minutes', async () => {
    for (const seconds of [9 * MINUTE, 11 * MINUTE]) {
      const session = toUuid(await insertBrowserSession(testDatabase.database, userId, clock.now() - seconds));
      await sql(
        testDatabase.database,
        `insert into user_totp_enrolments (id, user_id, user_session_id, secret_sealed, created_at)
         values ($1::uuid, $2::uuid, $1::uuid, '', $3::timestamptz)`,
        [session, toUuid(userId), ago(seconds)],
      );
    }
    await cleanUpAfterAnHour();
    expect(await ids('user_totp_enrolments')).toHaveLength(1);
  });

  test('sign-ins waiting for a second factor: a day after their expiry, completed or not', async () => {
    for (const [expiredAt, completedAt] of [
      [ago(DAY + MINUTE), null],
      [ago(DAY + MINUTE), ago(DAY + 2 * MINUTE)],
      [ago(DAY - 61 * MINUTE), null],
    ] as const) {
      await sql(
        testDatabase.database,
        `insert into user_pending_logins (id, user_id, first_factor, created_at, expires_at, completed_at)
         values ($1::uuid, $2::uuid, 'password', $3::timestamptz, $4::timestamptz, $5::timestamptz)`,
        [toUuid(newId(clock.now())), toUuid(userId), ago(2 * DAY), expiredAt, completedAt],
      );
    }
    await cleanUpAfterAnHour();
    expect(await ids('user_pending_logins')).toHaveLength(1);
  });

  test('trusted browsers and passkey challenges: when they expire', async () => {
    for (const [name, expiresAt] of [
      ['old', ago(1)],
      ['recent', ago(-2 * HOUR)],
    ] as const) {
      await sql(
        testDatabase.database,
        `insert into user_trusted_browsers (nonce_hash, user_id, created_at, expires_at)
         values ($1::bytea, $2::uuid, $3::timestamptz, $4::timestamptz)`,
        [Buffer.from(name), toUuid(userId), ago(DAY), expiresAt],
      );
      await sql(
        testDatabase.database,
        `insert into webauthn_challenges (id, challenge_hash, purpose, login_id, expires_at)
         values ($1::uuid, $2::bytea, 'login', $1::uuid, $3::timestamptz)`,
        [toUuid(newId(clock.now())), Buffer.from(name), expiresAt],
      );
    }
    await cleanUpAfterAnHour();
    for (const [table, column] of [
      ['user_trusted_browsers', 'nonce_hash'],
      ['webauthn_challenges', 'challenge_hash'],
    ]) {
      expect(await texts(`select encode(${column}, 'escape') as text from ${table}`)).toEqual(['recent']);
    }
  });

  test('email codes: seven days after they were requested', async () => {
    for (const [name, createdAt] of [
      ['old', ago(7 * DAY + MINUTE)],
      ['recent', ago(7 * DAY - MINUTE)],
    ] as const) {
      await sql(
        testDatabase.database,
        `with authentication as (
           insert into user_email_authentications (id, email, email_key, locale, created_at, mails)
           values ($1::uuid, $2::text, $2::text, 'en', $3::timestamptz, 1) returning id
         )
         insert into user_registrations (id, username, created_at, completed_at, email_authentication_id)
         select $1::uuid, $2::text, $3::timestamptz, $3::timestamptz, authentication.id from authentication`,
        [toUuid(newId(clock.now())), name, createdAt],
      );
    }
    await cleanUpAfterAnHour();
    expect(await texts('select email as text from user_email_authentications')).toEqual(['recent']);
    expect(await texts('select username as text from user_registrations order by 1')).toEqual(['old', 'recent']);
  });

  test('pushed requests: five minutes after they expired, used or not', async () => {
    for (const [name, expiredAt] of [
      ['old', ago(5 * MINUTE + 1)],
      ['recent', ago(5 * MINUTE - 1)],
    ] as const) {
      await sql(
        testDatabase.database,
        `insert into oauth2_pushed_requests (request_uri_hash, client_id, parameters, created_at, expires_at)
         values ($1::bytea, $2::uuid, '{}', $3::timestamptz, $4::timestamptz)`,
        [Buffer.from(name), toUuid(clientId), new Date(0), expiredAt],
      );
    }
    await cleanUpAfterAnHour();
    expect(await texts(`select encode(request_uri_hash, 'escape') as text from oauth2_pushed_requests`)).toEqual([
      'recent',
    ]);
  });

  test('dynamically registered clients: 30 days after their last use', async () => {
    const { database } = testDatabase;
    const dynamic = async (registered: number, used?: number): Promise<ClientId> => {
      const id = await insertClient(database, new KeyRing(randomRoot()), clock.now(), { isStatic: false });
      await sql(
        database,
        'update oauth2_clients set created_at = $2::timestamptz, last_used_at = $3::timestamptz where id = $1::uuid',
        [toUuid(id), ago(registered), used === undefined ? null : ago(used)],
      );
      return id;
    };
    const unused = await dynamic(30 * DAY + HOUR);
    const young = await dynamic(29 * DAY);
    const registeredAgain = await dynamic(400 * DAY, 29 * DAY);
    const withSession = await dynamic(400 * DAY);
    const session = await insertSession({ finishedAt: ago(DAY) });
    await sql(database, 'update oauth2_sessions set client_id = $2::uuid where id = $1::uuid', [
      session,
      toUuid(withSession),
    ]);
    const withPushedRequest = await dynamic(400 * DAY);
    await sql(
      database,
      `insert into oauth2_pushed_requests (request_uri_hash, client_id, parameters, created_at, expires_at)
       values ('pushed', $1::uuid, '{}', $2::timestamptz, $2::timestamptz)`,
      [toUuid(withPushedRequest), ago(-HOUR)],
    );
    await cleanUpAfterAnHour();
    const kept = [clientId, young, registeredAgain, withSession, withPushedRequest].map((id) => toUuid(id)).toSorted();
    expect(await ids('oauth2_clients')).toEqual(kept);
    expect(kept).not.toContain(toUuid(unused));

    // The session is deleted after 30 days; client use counts from when the session was last active.
    clock.advanceSeconds(29 * DAY);
    await cleanUpAfterAnHour();
    clock.advanceSeconds(2 * DAY);
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_sessions')).toEqual([]);
    expect(await ids('oauth2_clients')).toEqual([clientId, withSession].map((id) => toUuid(id)).toSorted());
    clock.advanceSeconds(31 * DAY);
    await cleanUpAfterAnHour();
    expect(await ids('oauth2_clients')).toEqual([toUuid(clientId)]);
  });

  test('registrations: a day after they started, 30 days when completed', async () => {
    const began: [name: string, createdAt: Date, isComplete: boolean][] = [
      ['open old', ago(DAY + MINUTE), false],
      ['open', ago(DAY - MINUTE), false],
      ['completed old', ago(30 * DAY + MINUTE), true],
      ['completed', ago(30 * DAY - MINUTE), true],
    ];
    for (const [name, createdAt, isComplete] of began) {
      await sql(
        testDatabase.database,
        `insert into user_registrations (id, username, created_at, completed_at)
         values ($1::uuid, $2::text, $3::timestamptz, case when $4::boolean then $3::timestamptz end)`,
        [toUuid(newId(clock.now())), name, createdAt, isComplete],
      );
    }
    await cleanUpAfterAnHour();
    expect(await texts('select username as text from user_registrations order by 1')).toEqual(['completed', 'open']);
  });

  test('registration tokens used up, expired or revoked 90 days ago', async () => {
    const [long, lately] = [ago(90 * DAY + 1), ago(90 * DAY - 1)];
    for (const [name, limit, usedAt, expiresAt, revokedAt] of [
      ['used-up', 1, long, null, null],
      ['used-up-lately', 1, lately, null, null],
      ['good-for-more', 2, long, null, null],
      ['unlimited', null, long, null, null],
      ['expired', null, null, long, null],
      ['expired-lately', null, null, lately, null],
      ['revoked', null, null, null, long],
      ['revoked-lately', null, null, null, lately],
      ['unused', 1, null, null, null],
    ] as const) {
      await sql(
        testDatabase.database,
        `insert into user_registration_tokens
           (id, token_hmac, token_sealed, usage_limit, times_used, created_at, last_used_at, expires_at, revoked_at)
         values ($1::uuid, convert_to($2::text, 'UTF8'), '', $3::integer, $4::integer, $5::timestamptz,
           $6::timestamptz, $7::timestamptz, $8::timestamptz)`,
        [
          toUuid(newId(clock.now())),
          name,
          limit,
          usedAt === null ? 0 : 1,
          ago(100 * DAY),
          usedAt,
          expiresAt,
          revokedAt,
        ],
      );
    }
    await cleanUpAfterAnHour();
    const left = ['expired-lately', 'good-for-more', 'revoked-lately', 'unlimited', 'unused', 'used-up-lately'];
    const names = `select convert_from(token_hmac, 'UTF8') as text from user_registration_tokens order by 1`;
    expect(await texts(names)).toEqual(left);
  });

  test('upstream sign-ins: 30 days after they started, unless a browser session resulted', async () => {
    const { database } = testDatabase;
    const provider = toUuid(newId(clock.now()));
    await sql(
      database,
      `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'x', 0, now())`,
      [provider],
    );
    const session = toUuid(await insertBrowserSession(database, userId, clock.now()));
    const insert = async (state: string, at: Date, sessionId: string | null): Promise<void> => {
      await sql(
        database,
        `insert into upstream_authorizations (id, provider_id, state_hash, secrets_sealed, created_at, user_session_id)
         values ($1::uuid, $2::uuid, $3::bytea, '', $4::timestamptz, $5::uuid)`,
        [toUuid(newId(at.getTime())), provider, Buffer.from(state), at, sessionId],
      );
    };
    await insert('old', ago(30 * DAY + MINUTE), null);
    await insert('young', ago(30 * DAY - MINUTE), null);
    await insert('of a session', ago(60 * DAY), session);
    await cleanUpAfterAnHour();
    const left = `select convert_from(state_hash, 'UTF8') as text from upstream_authorizations order by 1`;
    expect(await texts(left)).toEqual(['of a session', 'young']);
    // Deleted with that session.
    await sql(database, 'delete from user_sessions where id = $1::uuid', [session]);
    expect(await texts(left)).toEqual(['young']);
  });

  test('upstream users who never got an account here: seven days after they arrived', async () => {
    const { database } = testDatabase;
    const provider = toUuid(newId(clock.now()));
    await sql(
      database,
      `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'x', 0, now())`,
      [provider],
    );
    const insert = async (subject: string, at: Date, user: string | null): Promise<void> => {
      await sql(
        database,
        `insert into upstream_links (id, provider_id, subject, created_at, user_id)
         values ($1::uuid, $2::uuid, $3::text, $4::timestamptz, $5::uuid)`,
        [toUuid(newId(at.getTime())), provider, subject, at, user],
      );
    };
    await insert('old', ago(7 * DAY + MINUTE), null);
    await insert('young', ago(7 * DAY - MINUTE), null);
    await insert('owned', ago(60 * DAY), toUuid(userId));
    await cleanUpAfterAnHour();
    expect(await texts('select subject as text from upstream_links order by 1')).toEqual(['owned', 'young']);
  });

  test('one-time values: five minutes after they expired', async () => {
    await sql(
      testDatabase.database,
      `insert into replayed_values values ('old', $1::timestamptz), ('expired', $2::timestamptz)`,
      [ago(5 * MINUTE + 1), ago(5 * MINUTE - 1)],
    );
    await cleanUpAfterAnHour();
    expect(await texts(`select encode(value_hash, 'escape') as text from replayed_values`)).toEqual(['expired']);
  });

  test('full buckets of rate limits, failed sign-ins after a day, audit events after a year', async () => {
    await sql(
      testDatabase.database,
      `insert into rate_limits values ('full', $1::timestamptz), ('in use', $2::timestamptz)`,
      [ago(1), ago(-1)],
    );
    await sql(
      testDatabase.database,
      `insert into login_failures values ('old', '{}', $1::timestamptz), ('recent', '{}', $2::timestamptz)`,
      [ago(DAY + 1), ago(DAY - 1)],
    );
    await sql(
      testDatabase.database,
      `insert into audit_events (id, kind, created_at)
       values ($1::uuid, 'old', $2::timestamptz), ($3::uuid, 'recent', $4::timestamptz)`,
      [toUuid(newId(0)), ago(365 * DAY + 1), toUuid(newId(0)), ago(365 * DAY - 1)],
    );
    await cleanUpAfterAnHour();
    expect(await texts('select key as text from rate_limits')).toEqual(['in use']);
    expect(await texts('select key as text from login_failures')).toEqual(['recent']);
    expect(await texts('select kind as text from audit_events')).toEqual(['recent']);
  });
});

describe('sessions beyond oauth.session_max_lifetime', () => {
  const limited = { ...rules, sessionMaxLifetimeSeconds: DAY };

  async function startedAt(id: string, createdAt: Date): Promise<string> {
    await sql(testDatabase.database, 'update oauth2_sessions set created_at = $2::timestamptz where id = $1::uuid', [
      id,
      createdAt,
    ]);
    return id;
  }
  const ended = () => texts('select id::text as text from oauth2_sessions where finished_at is not null order by 1');

  test('are ended within the hour, with their refresh tokens and one event each; without the setting none is', async () => {
    const old = [
      await startedAt(await insertSession({}), ago(DAY)),
      await startedAt(await insertSession({ activeAt: ago(0) }), ago(2 * DAY)),
    ].toSorted();
    const young = await startedAt(await insertSession({}), ago(DAY - MINUTE));
    for (const session of [...old, young]) await insertRefreshToken(session, {});
    await cleanUp().work();
    expect(await ended()).toEqual([]);
    await cleanUpAfterAnHour({ rules: limited });
    expect(await ended()).toEqual(old);
    expect(await texts('select session_id::text as text from oauth2_refresh_tokens where revoked_at is null')).toEqual([
      young,
    ]);
    expect(
      await texts(
        `select concat_ws(' ', kind, session_id, detail ->> 'reason', user_id is not null) as text
           from audit_events order by session_id`,
      ),
    ).toEqual(old.map((id) => `session_ended ${id} expired t`));
  });

  test('are processed in batches of at most 100, even behind locked rows', async () => {
    const template = await startedAt(await insertSession({}), ago(2 * DAY));
    await sql(
      testDatabase.database,
      `insert into oauth2_sessions (id, user_id, client_id, scope, created_at)
       select md5(g::text)::uuid, user_id, client_id, scope, created_at + g * interval '1 millisecond'
         from oauth2_sessions, generate_series(1, 1249) g where id = $1::uuid`,
      [template],
    );
    const batches: number[] = [];
    const some = sweeps.flatMap((one) =>
      one.name !== 'expire-oauth2-sessions'
        ? []
        : {
            ...one,
            sweep: async (...args: Parameters<typeof one.sweep>) => {
              const batch = await one.sweep(...args);
              batches.push(batch.rows);
              return batch;
            },
          },
    );
    const log = new RecordingLog();
    await cleanUp({ sweeps: some, rules: limited }).work();
    await second.transaction(async (holder) => {
      await sql(holder, 'select id from oauth2_sessions where id = $1::uuid for share', [template]);
      clock.advanceSeconds(HOUR);
      await cleanUp({ sweeps: some, rules: limited, log }).work();
    });
    expect(Math.max(...batches)).toBe(100);
    expect(await ended()).toHaveLength(1249);
    expect(log.lines.filter(({ level }) => level === 'info')).toMatchObject([
      { event: 'cleanup', message: 'expire-oauth2-sessions ended sessions', fields: { rows: 1249 } },
    ]);
    clock.advanceSeconds(HOUR);
    await cleanUp({ sweeps: some, rules: limited }).work();
    expect(await ended()).toHaveLength(1250);
  });
});

describe('inactive sessions, with experimental.inactive_session_expiration', () => {
  const TTL = HOUR;
  // Two more minutes because activity is written with a delay.
  const LONG_AGO = TTL + 3 * MINUTE;
  const limited = { ...rules, unusedOAuth2SessionsSeconds: TTL, unusedBrowserSessionsSeconds: TTL };

  async function browserSession(activeAt: Date | null): Promise<string> {
    const id = toUuid(await insertBrowserSession(testDatabase.database, userId, ago(2 * DAY).getTime()));
    await sql(testDatabase.database, 'update user_sessions set last_active_at = $2::timestamptz where id = $1::uuid', [
      id,
      activeAt,
    ]);
    return id;
  }
  const ended = (table: string) =>
    texts(`select concat_ws(' ', id, finish_reason) as text from ${table} where finished_at is not null order by 1`);

  beforeEach(async () => {
    await sql(testDatabase.database, 'update oauth2_clients set is_static = false');
  });

  test('end with their refresh tokens and one event each; active ones, and without the setting all, continue', async () => {
    const never = await insertSession({});
    const unused = [never, await insertSession({ activeAt: ago(LONG_AGO) })].toSorted();
    const used = [await insertSession({ activeAt: ago(TTL + MINUTE) }), await insertSession({ activeAt: ago(0) })];
    for (const session of [...unused, ...used]) await insertRefreshToken(session, {});
    const browsers = [await browserSession(null), await browserSession(ago(LONG_AGO))].toSorted();
    await browserSession(ago(TTL + MINUTE));
    await cleanUp().work();
    clock.advanceSeconds(HOUR);
    await cleanUp().work();
    expect([await ended('oauth2_sessions'), await ended('user_sessions')]).toEqual([[], []]);
    clock.advanceSeconds(-HOUR);
    await sql(testDatabase.database, 'delete from queue_jobs');

    await cleanUpAfterAnHour({ rules: limited });
    expect(await ended('oauth2_sessions')).toEqual(unused.map((id) => `${id} inactive`));
    expect(await ended('user_sessions')).toEqual(browsers.map((id) => `${id} inactive`));
    const live = await texts(
      'select session_id::text as text from oauth2_refresh_tokens where revoked_at is null order by 1',
    );
    expect(live).toEqual(used.toSorted());
    expect(
      await texts(
        `select concat_ws(' ', kind, session_id, detail ->> 'reason', user_id is not null) as text
           from audit_events order by session_id`,
      ),
    ).toEqual([...unused, ...browsers].toSorted().map((id) => `session_ended ${id} inactive t`));
  });

  test('continue after a recent refresh, even if its activity is not written yet', async () => {
    const session = await insertSession({ activeAt: ago(LONG_AGO) });
    const token = await insertAccessToken(session, 'fresh', { expiresAt: ago(-HOUR) });
    await sql(
      testDatabase.database,
      'update oauth2_access_tokens set created_at = $2::timestamptz where id = $1::uuid',
      [token, ago(MINUTE)],
    );
    await cleanUpAfterAnHour({ rules: limited });
    expect(await ended('oauth2_sessions')).toEqual([]);
  });

  test('of configured clients continue, and those of clients on their own behalf until their token expires', async () => {
    const onItsOwn = await insertSession({ activeAt: ago(LONG_AGO) });
    await sql(testDatabase.database, 'update oauth2_sessions set user_id = null where id = $1::uuid', [onItsOwn]);
    await cleanUpAfterAnHour({ rules: limited });
    // Ended like every client session whose access token has expired.
    const others = [`${onItsOwn} expired`];
    expect(await ended('oauth2_sessions')).toEqual(others);
    await sql(testDatabase.database, 'update oauth2_clients set is_static = true');
    await insertSession({ activeAt: ago(LONG_AGO) });
    await cleanUpAfterAnHour({ rules: limited });
    expect(await ended('oauth2_sessions')).toEqual(others);
  });

  test('that are being refreshed are left for the next run, within a quarter of an hour', async () => {
    const session = await insertSession({ activeAt: ago(LONG_AGO) });
    const { work } = cleanUp({ rules: limited });
    await work();
    clock.advanceSeconds(HOUR);
    await second.transaction(async (holder) => {
      await sql(holder, 'select id from oauth2_sessions where id = $1::uuid for share', [session]);
      await work();
    });
    expect(await ended('oauth2_sessions')).toEqual([]);
    clock.advanceSeconds(15 * MINUTE);
    await work();
    expect(await ended('oauth2_sessions')).toEqual([`${session} inactive`]);
  });
});

describe('the cleanup process', () => {
  async function insertEvents(count: number): Promise<void> {
    await sql(
      testDatabase.database,
      `insert into audit_events (id, kind, created_at)
       select gen_random_uuid(), 'old', $1::timestamptz + g * interval '1 millisecond'
       from generate_series(1, $2::integer) g`,
      [ago(400 * DAY), count],
    );
  }

  test('deletes 100,000 rows in batches of at most 1,000, each its own transaction, and logs one line with the count', async () => {
    await insertEvents(100_000);
    const log = new RecordingLog();
    const batches: number[] = [];
    const counted = sweeps.map((one) => ({
      ...one,
      sweep: async (...args: Parameters<typeof one.sweep>) => {
        expect(args[0]).toMatchObject({ isTransaction: true });
        const batch = await one.sweep(...args);
        if (one.name === 'cleanup-audit-events') batches.push(batch.rows);
        return batch;
      },
    }));
    await cleanUpAfterAnHour({ log, sweeps: counted });
    expect(batches.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 1000));
    expect(batches.slice(100)).toEqual([0]);
    expect(await texts('select kind as text from audit_events')).toEqual([]);
    expect(log.lines.filter(({ level }) => level === 'info')).toMatchObject([
      { event: 'cleanup', message: 'cleanup-audit-events deleted expired rows', fields: { rows: 100_000 } },
    ]);
  });

  test('gets past whole batches of live rows to the rows behind them', async () => {
    const session = await insertSession({});
    await sql(
      testDatabase.database,
      `insert into oauth2_refresh_tokens (id, session_id, token_hash, created_at, consumed_at)
       select md5('live ' || g)::uuid, $1::uuid, sha256(('live ' || g)::bytea), now(), null from generate_series(1, 2500) g`,
      [session],
    );
    await insertRefreshToken(session, { consumedAt: ago(2 * HOUR) }, 'ffffffff-0000-0000-0000-000000000000');
    await cleanUpAfterAnHour();
    expect(await texts('select count(*)::text as text from oauth2_refresh_tokens')).toEqual(['2500']);
  });

  test('runs on one of two instances; when it dies the other continues once its lease has expired', async () => {
    await insertEvents(5_000);
    const auditEvents = { sweeps: sweeps.filter(({ name }) => name === 'cleanup-audit-events') };
    await cleanUp(auditEvents).work();
    clock.advanceSeconds(HOUR);
    let hasPaused = (): void => {};
    const paused = new Promise<void>((resolve) => {
      hasPaused = resolve;
    });
    // Simulates a process killed after its first batch: it neither continues nor releases its job.
    const killed = cleanUp({
      ...auditEvents,
      pause: () => {
        hasPaused();
        return new Promise(() => {});
      },
    });
    await killed.worker.poll();
    await paused;
    const count = () => texts('select count(*)::text as text from audit_events');
    expect(await count()).toEqual(['4000']);
    const other = cleanUp({ ...auditEvents, database: second });
    await other.work();
    expect(await count()).toEqual(['4000']);
    clock.advanceSeconds(60);
    await other.work();
    expect(await count()).toEqual(['0']);
    await killed.worker.stop(0);
  });

  test('deletes every row once when two instances run simultaneously', async () => {
    await insertEvents(5_000);
    const log = new RecordingLog();
    const [one, other] = [cleanUp({ log }), cleanUp({ log, database: second })];
    await one.work();
    clock.advanceSeconds(HOUR);
    await Promise.all([one.work(), other.work()]);
    const rows = log.lines.map(({ fields }) => Number(fields['rows'] ?? 0));
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(5_000);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('runs once an hour, however often processes start', async () => {
    const log = new RecordingLog();
    await cleanUpAfterAnHour({ log });
    const done = () => log.lines.filter(({ event }) => event === 'cleanup').length;
    expect(done()).toBe(sweeps.length);
    await cleanUp({ log }).work();
    expect(done()).toBe(sweeps.length);
    clock.advanceSeconds(HOUR);
    await cleanUp({ log }).work();
    expect(done()).toBe(2 * sweeps.length);
  });

  test('pauses while requests wait, and still makes progress', async () => {
    await insertEvents(2_000);
    const pauses: number[] = [];
    await cleanUpAfterAnHour({
      isBusy: () => true,
      pause: async (milliseconds) => {
        pauses.push(milliseconds);
      },
    });
    expect(pauses.slice(1, 11)).toEqual(Array.from({ length: 10 }, () => 1_000));
    for (const afterBatch of [pauses[0], pauses[11]]) expect(afterBatch).toBeGreaterThanOrEqual(100);
    expect(await texts('select kind as text from audit_events')).toEqual([]);
  });

  test('takes a tenth of the time of a busy database', async () => {
    const pauses: number[] = [];
    const slow: Sweep = {
      name: 'cleanup-slow',
      minute: 0,
      sweep: async (database) => {
        await database.rows(statement<unknown, Record<string, never>>('test.slow-batch', 'select pg_sleep(0.1)'), {});
        return { rows: 1, next: undefined };
      },
    };
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
    };
    await cleanUpAfterAnHour({ sweeps: [slow], pause });
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThan(850);
    expect(pauses[0]).toBeLessThanOrEqual(5_000);
  });

  test('yields after nine minutes on a large table, and resumes that table immediately afterwards', async () => {
    await insertEvents(3_000);
    await sql(testDatabase.database, `insert into rate_limits values ('full', $1::timestamptz)`, [ago(1)]);
    const log = new RecordingLog();
    const order = ['cleanup-audit-events', 'cleanup-rate-limits'];
    await cleanUpAfterAnHour({
      log,
      sweeps: order.flatMap((name) => sweeps.filter((one) => one.name === name)),
      pause: async () => clock.advanceSeconds(5 * MINUTE),
    });
    const done = log.lines.filter(({ event }) => event === 'cleanup');
    const sweptOf = (name: string) =>
      done.filter(({ message }) => message.startsWith(name)).map(({ fields }) => fields['rows']);
    expect(sweptOf('cleanup-audit-events')).toEqual([2_000, 1_000]);
    expect(sweptOf('cleanup-rate-limits')).toEqual([1]);
  });

  test('logs and retries a failed sweep without delaying others', async () => {
    await insertEvents(1);
    const log = new RecordingLog();
    const failing: Sweep = {
      name: 'cleanup-nothing',
      minute: 0,
      sweep: () => Promise.reject(new Error('no such table')),
    };
    await cleanUpAfterAnHour({ log, sweeps: [failing, ...sweeps] });
    expect(await texts('select kind as text from audit_events')).toEqual([]);
    clock.advanceSeconds(7);
    await cleanUp({ log, sweeps: [failing] }).work();
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject(
      [1, 2].map((attempt) => ({ event: 'job.retry', fields: { attempt, reason: 'no such table' } })),
    );
  });

  test('stops after the current batch, and another process continues immediately', async () => {
    await insertEvents(5_000);
    let stopped: Promise<void> | undefined;
    const { work, worker } = cleanUp({
      pause: async () => {
        stopped ??= worker.stop(0);
      },
    });
    await work();
    clock.advanceSeconds(HOUR);
    await work();
    await stopped;
    expect(await texts('select queue as text from queue_jobs where worker is not null')).toEqual([]);
    await cleanUp().work();
    expect(await texts('select kind as text from audit_events')).toEqual([]);
  });
});
