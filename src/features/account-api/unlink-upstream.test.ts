import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1T4A';
const OTHER = '01JD3Q5Z8W2N4K6M7P9R0S1T4B';
const MANAGED = '01JD3Q5Z8W2N4K6M7P9R0S1T4C';
const OFF = '01JD3Q5Z8W2N4K6M7P9R0S1T4D';

const clock = new FakeClock();
let service: TestService;
/** The same service with passwords disabled. */
let passwordless: TestService;
let count = 0;
/** A new user for each test. */
let user: GraphqlClient;
let userId: string;

beforeAll(async () => {
  const shared = { issuer: 'https://accounts.example', client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const settings = (enabled: boolean) => ({
    passwords: { enabled },
    email: { transport: 'file' },
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
    upstream_oauth2: {
      providers: [
        { id: PROVIDER, human_name: 'Harbour', ...shared },
        { id: OTHER, ...shared },
        { id: MANAGED, allow_unlink: false, ...shared },
        { id: OFF, enabled: false, ...shared },
      ],
    },
  });
  service = await startService(settings(true), { clock });
  passwordless = await startService(settings(false), { clock, like: service });
});

afterAll(async () => {
  await passwordless.stop();
  await service.stop();
});

beforeEach(async () => {
  count += 1;
  userId = await service.registerUser(`person${count}`, PASSWORD);
  user = await GraphqlClient.signedIn(service, `person${count}`, PASSWORD);
});

function uuid(id: string): string {
  return toUuid(parseId(id) ?? expect.fail(`no id: ${id}`));
}

/** Links the user to an account at a provider. */
async function link(provider: string): Promise<string> {
  const id = newId(clock.now());
  await sql(
    service.database,
    `insert into upstream_links (id, provider_id, user_id, subject, created_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::timestamptz)`,
    [toUuid(id), uuid(provider), uuid(userId), `subject ${count}`, new Date(clock.now())],
  );
  return `upstream_oauth2_link:${id}`;
}

async function dropPassword(): Promise<void> {
  await sql(service.database, 'delete from user_passwords where user_id = $1::uuid', [uuid(userId)]);
}

const UNLINK = `mutation UnlinkUpstreamAccount($id: ID!) {
  unlinkUpstreamAccount(input: { linkId: $id }) { status user { id upstreamOauth2Links { totalCount } } }
}`;

async function unlink(id: string): Promise<unknown> {
  const { data, errors } = await user.query(UNLINK, { id });
  expect(errors).toEqual([]);
  return Object(data).unlinkUpstreamAccount;
}

async function loginMethods(caller = user): Promise<unknown> {
  const { data } = await caller.query('{ viewer { ... on User { loginMethods } } }');
  return Object(data).viewer.loginMethods;
}

async function events(): Promise<readonly { kind: string; detail: unknown }[]> {
  return await sql(
    service.database,
    `select kind, detail from audit_events where user_id = $1::uuid and kind like 'upstream%'`,
    [uuid(userId)],
  );
}

const body = ({ status, text }: GraphqlResponse): string => `${status} ${text.replaceAll(/POST-\d+/g, 'POST')}`;

test('removes a linked account, records an event and sends an email', async () => {
  await sql(
    service.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     values (gen_random_uuid(), $1::uuid, $2::text, $2::text, now())`,
    [uuid(userId), `person${count}@mail.example`],
  );
  const id = await link(PROVIDER);
  expect(await unlink(id)).toEqual({
    status: 'UNLINKED',
    user: { id: `user:${userId}`, upstreamOauth2Links: { totalCount: 0 } },
  });
  expect(service.requestLines().at(-1)).toMatchObject({ status: 200 });
  expect(service.logLines().at(-1)).toMatch(/graphql\.operation\.name=UnlinkUpstreamAccount$/);
  expect(await events()).toEqual([
    { kind: 'upstream_unlinked', detail: expect.objectContaining({ provider: 'Harbour' }) },
  ]);
  const mails = await sql<{ notice: string }>(
    service.database,
    `select payload ->> 'notice' as notice from queue_jobs where payload ->> 'to' = $1::text`,
    [`person${count}@mail.example`],
  );
  expect(mails).toEqual([{ notice: 'upstream_unlinked' }]);
  // The link no longer exists, so the result is the same as for an unknown identifier.
  expect(await unlink(id)).toEqual({ status: 'NOT_FOUND', user: null });
});

test('keeps links of providers that manage them', async () => {
  const id = await link(MANAGED);
  expect(await unlink(id)).toEqual({
    status: 'MANAGED_BY_PROVIDER',
    user: { id: `user:${userId}`, upstreamOauth2Links: { totalCount: 1 } },
  });
  expect(await events()).toEqual([]);
});

test('refuses to remove the last sign-in method; disabled providers and passwords do not count', async () => {
  const id = await link(PROVIDER);
  await link(OFF);
  expect(await loginMethods()).toEqual(['PASSWORD', 'UPSTREAM']);
  const there = new GraphqlClient(passwordless, {}, user.browser);
  expect(await loginMethods(there)).toEqual(['UPSTREAM']);
  expect(Object((await there.query(UNLINK, { id })).data).unlinkUpstreamAccount).toMatchObject({
    status: 'LAST_LOGIN_METHOD',
  });
  await dropPassword();
  expect(await loginMethods()).toEqual(['UPSTREAM']);
  expect(await unlink(id)).toEqual({
    status: 'LAST_LOGIN_METHOD',
    user: { id: `user:${userId}`, upstreamOauth2Links: { totalCount: 1 } },
  });
  expect(await events()).toEqual([]);
  await link(OTHER);
  expect(await unlink(id)).toMatchObject({ status: 'UNLINKED' });
  expect(await loginMethods()).toEqual(['UPSTREAM']);
});

test('refuses one of two concurrent removals of the last two sign-in methods', async () => {
  const ids = [await link(PROVIDER), await link(OTHER)];
  await dropPassword();
  const outcomes = await Promise.all(ids.map(async (id) => Object(await unlink(id)).status));
  expect(outcomes.toSorted()).toEqual(['LAST_LOGIN_METHOD', 'UNLINKED']);
  expect(await loginMethods()).toEqual(['UPSTREAM']);
});

test('requires a recent authentication, but not for unknown links (account-graphql 2.5, 7.3)', async () => {
  const id = await link(PROVIDER);
  clock.advanceSeconds(601);
  const refused = await user.query(UNLINK, { id });
  expect(codesOf(refused)).toEqual(['REAUTH_REQUIRED']);
  expect(refused.errors[0]?.extensions).toMatchObject({ maxAge: 600, reauthUrl: '/reauth?kind=manage_account' });
  expect(await loginMethods()).toEqual(['PASSWORD', 'UPSTREAM']);
  expect(await unlink(`upstream_oauth2_link:${ABSENT}`)).toEqual({ status: 'NOT_FOUND', user: null });
});

test('treats links of other users as unknown (S-84, S-128)', async () => {
  const id = await link(PROVIDER);
  const stranger = await GraphqlClient.signedIn(service, 'person1', PASSWORD);
  const foreign = await stranger.query(UNLINK, { id });
  expect(body(foreign)).toBe(body(await stranger.query(UNLINK, { id: `upstream_oauth2_link:${ABSENT}` })));
  expect(foreign.data).toEqual({ unlinkUpstreamAccount: { status: 'NOT_FOUND', user: null } });
  const nobody = await new GraphqlClient(service).query(UNLINK, { id });
  expect([codesOf(nobody), nobody.data]).toEqual([['UNAUTHENTICATED'], null]);
  expect(codesOf(await user.query(UNLINK, { id: `user:${userId}` }))).toEqual(['BAD_USER_INPUT']);
  expect(await loginMethods()).toEqual(['PASSWORD', 'UPSTREAM']);
});
