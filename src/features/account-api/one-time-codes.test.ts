import { beforeEach, expect, test } from 'vitest';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { HeldChange } from '#test/attacks/held-change.ts';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { codeOfApp } from '#test/support/totp.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const RECOVERY_CODE = /^[23456789abcdefghjkmnpqrstuvwxyz]{5}-[23456789abcdefghjkmnpqrstuvwxyz]{5}$/;

const clock = new FakeClock();
let count = 0;
/** A new user for each test. */
let username: string;
let userId: string;
let user: GraphqlClient;

function settings(account: Record<string, unknown> = {}) {
  return {
    account,
    branding: { service_name: 'Harbour: the club' },
    email: { transport: 'file' },
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
  };
}

const service = await sharedByTests(startService(settings(), { clock }));

beforeEach(async () => {
  count += 1;
  username = `person${count}`;
  userId = toUuid(parseId(await service.registerUser(username, PASSWORD)) ?? expect.fail('no id'));
  user = await GraphqlClient.signedIn(service, username, PASSWORD);
});

const START = 'mutation StartTotpEnrolment { startTotpEnrolment { status enrolmentId secret otpauthUrl expiresAt } }';
const COMPLETE = `mutation CompleteTotpEnrolment($enrolmentId: ID!, $code: String!) {
  completeTotpEnrolment(input: { enrolmentId: $enrolmentId, code: $code }) { status recoveryCodes }
}`;
const REMOVE = 'mutation RemoveTotp { removeTotp { status } }';
const REGENERATE = 'mutation RegenerateRecoveryCodes { regenerateRecoveryCodes { status recoveryCodes } }';
const SHOWN = `{ viewer { ... on User {
  totp { createdAt lastUsedAt } recoveryCodes { createdAt total remaining } loginMethods
} } }`;

/** Returns the payload of a mutation, or its error codes. */
async function run(caller: GraphqlClient, document: string, variables = {}): Promise<Record<string, unknown>> {
  const response = await caller.query(document, variables);
  if (response.errors.length > 0) return { refused: codesOf(response) };
  return Object(Object.values(Object(response.data))[0]);
}

interface Started {
  readonly enrolmentId: string;
  readonly secret: string;
}

async function start(caller = user): Promise<Started> {
  const { status, enrolmentId, secret } = await run(caller, START);
  expect(status).toBe('STARTED');
  return { enrolmentId: String(enrolmentId), secret: String(secret) };
}

/** @param away offset from the current time step */
const complete = ({ enrolmentId, secret }: Started, away = 0, caller = user) =>
  run(caller, COMPLETE, { enrolmentId, code: codeOfApp(secret, clock.now(), away) });

async function enrol(): Promise<readonly string[]> {
  const { status, recoveryCodes } = await complete(await start());
  expect(status).toBe('ENROLLED');
  return Array.isArray(recoveryCodes) ? recoveryCodes : [];
}

async function shown(): Promise<unknown> {
  const { data } = await user.query(SHOWN);
  return Object(data).viewer;
}

async function events(): Promise<unknown> {
  return await sql(
    service.database,
    `select kind, host(ip) as ip from audit_events
      where user_id = $1::uuid and (kind like 'totp%' or kind like 'recovery_code%') order by created_at, kind desc`,
    [userId],
  );
}

test('sets up an authenticator app with a code, and shows the recovery codes once (account-graphql 7.2)', async () => {
  expect(await shown()).toMatchObject({ totp: null, recoveryCodes: null });
  const started = await run(user, START);
  const secret = String(started['secret']);
  expect(started).toMatchObject({
    status: 'STARTED',
    enrolmentId: expect.stringMatching(/^totp_enrolment:[0-9A-Z]{26}$/),
    secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
    otpauthUrl:
      `otpauth://totp/Harbour%20%20the%20club:${username}?secret=${secret}` +
      '&issuer=Harbour%20%20the%20club&algorithm=SHA1&digits=6&period=30',
    expiresAt: new Date(clock.now() + 600_000).toISOString(),
  });
  // Until setup is complete, sign-in does not require a code.
  expect(await shown()).toMatchObject({ totp: null, recoveryCodes: null });
  clock.advanceSeconds(599);
  const ended = await complete({ enrolmentId: String(started['enrolmentId']), secret }, -1);
  expect(ended).toEqual({ status: 'ENROLLED', recoveryCodes: Array(10).fill(expect.stringMatching(RECOVERY_CODE)) });
  expect(await shown()).toEqual({
    totp: { createdAt: new Date(clock.now()).toISOString(), lastUsedAt: null },
    recoveryCodes: { createdAt: new Date(clock.now()).toISOString(), total: 10, remaining: 10 },
    loginMethods: ['PASSWORD'],
  });
  expect(await run(user, START)).toMatchObject({ status: 'ALREADY_ENROLLED', secret: null, enrolmentId: null });
  expect(await events()).toEqual([{ kind: 'totp_added', ip: '127.0.0.1' }]);
});

test('five wrong codes end the setup, even when concurrent, and the right one is then too late', async () => {
  const started = await start();
  const { enrolmentId, secret } = started;
  const wrong = codeOfApp(secret, clock.now(), 5);
  const tries = await Promise.all(Array.from({ length: 12 }, () => run(user, COMPLETE, { enrolmentId, code: wrong })));
  const statuses = tries.map(({ status }) => status);
  expect(statuses.filter((status) => status === 'INVALID_CODE')).toHaveLength(5);
  expect(statuses.filter((status) => status === 'RATE_LIMITED')).toHaveLength(7);
  expect(await complete(started)).toEqual({ status: 'RATE_LIMITED', recoveryCodes: null });
  // Malformed codes do not count as attempts, and a new enrollment starts with a new counter.
  const again = await start();
  for (const code of ['', '12345', 'abcdef'])
    expect(await run(user, COMPLETE, { enrolmentId: again.enrolmentId, code })).toMatchObject({
      status: 'INVALID_CODE',
    });
  expect(await complete(again)).toMatchObject({ status: 'ENROLLED' });
});

test('a setup expires after ten minutes, and replaces an earlier one of the same browser', async () => {
  const late = await start();
  clock.advanceSeconds(600);
  expect(await complete(late)).toEqual({ status: 'EXPIRED', recoveryCodes: null });
  const node = 'query ($id: ID!) { node(id: $id) { id } }';
  expect((await user.query(node, { id: late.enrolmentId })).data).toEqual({ node: null });
  const former = await start();
  const newer = await start();
  expect(await complete(former)).toMatchObject({ status: 'EXPIRED' });
  expect((await user.query(node, { id: newer.enrolmentId })).data).toEqual({ node: { id: newer.enrolmentId } });
  expect(await complete(newer)).toMatchObject({ status: 'ENROLLED' });
});

test('rejects other browsers of the same user, and other users, who could add their own app (S-90)', async () => {
  const started = await start();
  const second = await GraphqlClient.signedIn(service, username, PASSWORD);
  await service.registerUser(`other${count}`, PASSWORD);
  const other = await GraphqlClient.signedIn(service, `other${count}`, PASSWORD);
  for (const caller of [second, other])
    expect(await complete(started, 0, caller)).toEqual({ status: 'EXPIRED', recoveryCodes: null });
  expect(await complete(started)).toMatchObject({ status: 'ENROLLED' });
});

test('of two browsers setting up an app concurrently one succeeds, and the other setup ends', async () => {
  const second = await GraphqlClient.signedIn(service, username, PASSWORD);
  const [mine, theirs] = [await start(), await start(second)];
  const ended = await Promise.all([complete(mine), complete(mine), complete(theirs, 0, second)]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['ENROLLED', 'EXPIRED', 'EXPIRED']);
  await run(user, REMOVE);
  expect(await complete(mine, 1)).toMatchObject({ status: 'EXPIRED' });
  expect(await complete(theirs, 1, second)).toMatchObject({ status: 'EXPIRED' });
});

test('a code sent while the setup ends is too late, and does not count as a wrong attempt', async () => {
  const started = await start();
  const end = await HeldChange.make(
    service.connectionString,
    'delete from user_totp_enrolments e using users u where u.id = e.user_id and u.username = $1::text',
    [username],
  );
  expect(await end.commitDuring(complete(started))).toEqual({ status: 'EXPIRED', recoveryCodes: null });
});

test('removing the app cancels a pending setup, so that it cannot be restored', async () => {
  const second = await GraphqlClient.signedIn(service, username, PASSWORD);
  await enrol();
  // Simulates an enrollment that started just before.
  await sql(
    service.database,
    `insert into user_totp_enrolments (id, user_id, user_session_id, secret_sealed, created_at)
     select s.id, s.user_id, s.id, '', $2::timestamptz from user_sessions s where s.user_id = $1::uuid`,
    [userId, new Date(clock.now())],
  );
  expect(await run(second, REMOVE)).toEqual({ status: 'REMOVED' });
  expect(await sql(service.database, 'select id from user_totp_enrolments where user_id = $1::uuid', [userId])).toEqual(
    [],
  );
});

test('removes the app with its recovery codes, and records it', async () => {
  expect(await run(user, REMOVE)).toEqual({ status: 'NOT_ENROLLED' });
  await enrol();
  clock.advanceSeconds(60);
  expect(await run(user, REMOVE)).toEqual({ status: 'REMOVED' });
  expect(await shown()).toMatchObject({ totp: null, recoveryCodes: null });
  expect(await sql(service.database, 'select id from user_recovery_codes where user_id = $1::uuid', [userId])).toEqual(
    [],
  );
  expect(await run(user, REMOVE)).toEqual({ status: 'NOT_ENROLLED' });
  expect(await events()).toEqual([
    { kind: 'totp_added', ip: '127.0.0.1' },
    { kind: 'totp_removed', ip: '127.0.0.1' },
  ]);
});

test('new recovery codes replace the previous ones', async () => {
  expect(await run(user, REGENERATE)).toEqual({ status: 'NOT_ENROLLED', recoveryCodes: null });
  const former = await enrol();
  clock.advanceSeconds(60);
  const { status, recoveryCodes } = await run(user, REGENERATE);
  expect(status).toBe('GENERATED');
  expect(recoveryCodes).toEqual(Array(10).fill(expect.stringMatching(RECOVERY_CODE)));
  expect(Array.isArray(recoveryCodes) && recoveryCodes.filter((code) => former.includes(code))).toEqual([]);
  expect(await shown()).toMatchObject({
    recoveryCodes: { createdAt: new Date(clock.now()).toISOString(), total: 10, remaining: 10 },
  });
  // Concurrent calls leave a single set of codes.
  await Promise.all(Array.from({ length: 5 }, () => run(user, REGENERATE)));
  expect(await shown()).toMatchObject({ recoveryCodes: { total: 10, remaining: 10 } });
  expect(await events()).toContainEqual({ kind: 'recovery_codes_generated', ip: '127.0.0.1' });
});

test('each change requires a recent sign-in (R-32), which protects an unattended browser', async () => {
  await enrol();
  clock.advanceSeconds(601);
  const before = await shown();
  for (const document of [START, REMOVE, REGENERATE])
    expect(await run(user, document)).toEqual({ refused: ['REAUTH_REQUIRED'] });
  expect(await shown()).toEqual(before);
});

test('requires a browser session, and changes one factor per request', async () => {
  const anonymous = new GraphqlClient(service);
  for (const document of [START, REMOVE, REGENERATE])
    expect(await run(anonymous, document)).toEqual({ refused: ['UNAUTHENTICATED'] });
  const twice = await user.query('mutation { a: startTotpEnrolment { status } b: removeTotp { status } }');
  expect(codesOf(twice)).toEqual(['QUERY_TOO_COMPLEX']);
});

test('notifies the user of each change by email, in the language of the page', async () => {
  await sql(
    service.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     values ($1::uuid, $1::uuid, $1::text || '@mail.example', $1::text, now())`,
    [userId],
  );
  await enrol();
  await run(user, REGENERATE);
  await run(user, REMOVE);
  const changes = await sql<{ change: string; language: string }>(
    service.database,
    `select payload -> 'detail' ->> 'change' as change, payload ->> 'language' as language
       from queue_jobs where payload ->> 'user_id' = $1 and payload ->> 'notice' = 'factor_changed'`,
    [userId],
  );
  expect(changes.map(({ change }) => change).sort()).toEqual([
    'recovery_codes_generated',
    'totp_added',
    'totp_removed',
  ]);
  expect(new Set(changes.map(({ language }) => language))).toEqual(new Set(['en']));
});

test('where a second factor is required, password users cannot remove the app', async () => {
  const strict = await startService(settings({ second_factor: 'required' }), { clock, like: service });
  const { enrolmentId, secret } = await start();
  await complete({ enrolmentId, secret });
  // Both services share the same sessions.
  const browser = new Browser({ listener: strict.address, publicBase: strict.publicBase });
  for (const [name, value] of user.browser?.cookies ?? []) browser.cookies.set(name, value);
  const there = new GraphqlClient(strict, {}, browser);
  expect(await run(there, REMOVE)).toEqual({ status: 'REQUIRED_BY_POLICY' });
  await sql(service.database, 'delete from user_passwords where user_id = $1::uuid', [userId]);
  expect(await run(there, REMOVE)).toEqual({ status: 'REMOVED' });
  await strict.stop();
});

test('deactivation deletes the app and the recovery codes (S-133)', async () => {
  await enrol();
  const gone = `mutation { deactivateUser(input: { hsErase: false, password: "${PASSWORD}" }) { status } }`;
  expect(await run(user, gone)).toMatchObject({ status: 'DEACTIVATED' });
  const left = `select id from user_totp_secrets where user_id = $1::uuid
    union all select id from user_recovery_codes where user_id = $1::uuid`;
  expect(await sql(service.database, left, [userId])).toEqual([]);
});

test('with account.totp_enabled off, apps cannot be set up but can be removed', async () => {
  const off = await startService(settings({ totp_enabled: false }), { clock, like: service });
  const there = await GraphqlClient.signedIn(off, username, PASSWORD);
  expect((await there.query('{ siteConfig { totpEnabled } }')).data).toEqual({ siteConfig: { totpEnabled: false } });
  expect(await run(there, START)).toMatchObject({ status: 'DISABLED', secret: null });
  await enrol();
  expect(await run(there, REGENERATE)).toMatchObject({ status: 'GENERATED' });
  expect(await run(there, REMOVE)).toEqual({ status: 'REMOVED' });
  await off.stop();
});
