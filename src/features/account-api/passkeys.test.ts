import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { type Deviations, PasskeyAuthenticator } from '#test/support/passkey-authenticator.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const BASE = 'https://auth.example.org/';

const clock = new FakeClock();
let service: TestService;
/** The same service with passwords disabled, and one with passkeys disabled. */
let passwordless: TestService;
let without: TestService;
let count = 0;
/** A new user for each test. */
let user: GraphqlClient;
let userId: string;

beforeAll(async () => {
  const settings = (passwords: boolean, passkeys: boolean) => ({
    http: { public_base: BASE },
    passwords: { enabled: passwords },
    account: { passkeys_enabled: passkeys },
    email: { transport: 'file' },
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
  });
  service = await startService(settings(true, true), { clock });
  passwordless = await startService(settings(false, true), { clock, like: service });
  without = await startService(settings(true, false), { clock, like: service });
});

afterAll(async () => {
  for (const each of [without, passwordless, service]) await each.stop();
});

beforeEach(async () => {
  count += 1;
  userId = await service.registerUser(`person${count}`, PASSWORD);
  user = await GraphqlClient.signedIn(service, `person${count}`, PASSWORD);
});

const START = `mutation StartPasskeyRegistration($input: StartPasskeyRegistrationInput!) {
  startPasskeyRegistration(input: $input) { status challengeId options }
}`;
const COMPLETE = `mutation CompletePasskeyRegistration($challengeId: ID!, $response: Json!, $name: String) {
  completePasskeyRegistration(input: { challengeId: $challengeId, response: $response, name: $name }) {
    status passkey { id name createdAt lastUsedAt transports backedUp aaguid providerName }
  }
}`;
const RENAME = `mutation SetPasskeyName($id: ID!, $name: String!) {
  setPasskeyName(input: { passkeyId: $id, name: $name }) { status passkey { name } }
}`;
const REMOVE = 'mutation RemovePasskey($id: ID!) { removePasskey(input: { passkeyId: $id }) { status } }';
const LIST = `{ viewer { ... on User { loginMethods passkeys(first: 20) { totalCount nodes { id name } } } } siteConfig { passkeysEnabled } }`;

function uuid(id: string): string {
  return toUuid(parseId(id.replace(/^.*:/, '')) ?? expect.fail(`no id: ${id}`));
}

async function run(caller: GraphqlClient, query: string, variables: object) {
  const { data, errors } = await caller.query(query, variables);
  expect(errors).toEqual([]);
  const [result] = Object.values(Object(data));
  return Object(result);
}

async function start(caller = user) {
  return await run(caller, START, { input: {} });
}

async function complete(
  authenticator: PasskeyAuthenticator,
  wrong: Deviations & { readonly name?: string } = {},
  started: { challengeId: string; options: { challenge: string; user: { id: string } } } | undefined = undefined,
  caller = user,
) {
  const { challengeId, options } = started ?? (await start(caller));
  const response = authenticator.create(options, wrong);
  return await run(caller, COMPLETE, { challengeId, response, name: wrong.name });
}

const authenticator = (): PasskeyAuthenticator => new PasskeyAuthenticator(BASE);

async function list(caller = user) {
  const { data } = await caller.query(LIST);
  return Object(data);
}

async function dropPassword(): Promise<void> {
  await sql(service.database, 'delete from user_passwords where user_id = $1::uuid', [uuid(userId)]);
}

/** Inserts passkeys directly, bypassing all rules. */
async function addPasskeys(many: number): Promise<string[]> {
  const ids = Array.from({ length: many }, () => newId(clock.now()));
  for (const id of ids) {
    await sql(
      service.database,
      `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
       values ($1::text::uuid, $2::uuid, decode(replace($1::text, '-', ''), 'hex'), ''::bytea, 0, '{}', false, 'Key', $3::timestamptz)`,
      [toUuid(id), uuid(userId), new Date(clock.now())],
    );
  }
  return ids.map((id) => `passkey:${id}`);
}

test('creates options as defined by WebAuthn Level 3', async () => {
  const [known] = await addPasskeys(1);
  const { status, challengeId, options } = await start();
  expect(status).toBe('STARTED');
  expect(challengeId).toMatch(/^passkey_challenge:/);
  const idOfUser = Buffer.from(uuid(userId).replaceAll('-', ''), 'hex').toString('base64url');
  expect(options).toEqual({
    rp: { id: 'auth.example.org', name: expect.any(String) },
    user: { id: idOfUser, name: `person${count}`, displayName: `person${count}` },
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
    timeout: 300_000,
    excludeCredentials: [
      {
        type: 'public-key',
        id: Buffer.from(uuid(known ?? '').replaceAll('-', ''), 'hex').toString('base64url'),
        transports: [],
      },
    ],
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  });
});

test.each(['P-256', 'Ed25519', 'RSA'] as const)('adds a passkey with a key of the kind %s', async (kind) => {
  const response = await complete(new PasskeyAuthenticator(BASE, kind), { name: '  My key ', isBackedUp: false });
  expect(response).toMatchObject({
    status: 'ADDED',
    passkey: {
      name: 'My key',
      lastUsedAt: null,
      transports: ['internal', 'hybrid'],
      backedUp: false,
      aaguid: null,
      providerName: null,
    },
  });
  expect(await list()).toMatchObject({
    viewer: { loginMethods: ['PASSWORD', 'PASSKEY'], passkeys: { totalCount: 1, nodes: [{ name: 'My key' }] } },
    siteConfig: { passkeysEnabled: true },
  });
});

test('adding and removing a passkey records an event and sends an email', async () => {
  await sql(
    service.database,
    `insert into user_emails (id, user_id, email, email_key, created_at)
     values (gen_random_uuid(), $1::uuid, $2::text, $2::text, now())`,
    [uuid(userId), `person${count}@mail.example`],
  );
  const { passkey } = await complete(authenticator(), { name: 'My key' });
  expect(await run(user, REMOVE, { id: passkey.id })).toEqual({ status: 'REMOVED' });
  const events = await sql(
    service.database,
    `select kind, detail from audit_events where user_id = $1::uuid and kind like 'passkey%' order by kind`,
    [uuid(userId)],
  );
  expect(events).toEqual([
    { kind: 'passkey_added', detail: { passkey: 'My key' } },
    { kind: 'passkey_removed', detail: { passkey: 'My key' } },
  ]);
  const mails = await sql(
    service.database,
    `select payload ->> 'notice' as notice, payload -> 'detail' as detail from queue_jobs
      where payload ->> 'user_id' = $1 and payload ->> 'notice' = 'factor_changed' order by id`,
    [uuid(userId)],
  );
  expect(mails).toHaveLength(2);
  expect(mails).toContainEqual({ notice: 'factor_changed', detail: { change: 'passkey_added', passkey: 'My key' } });
  expect(mails).toContainEqual({ notice: 'factor_changed', detail: { change: 'passkey_removed', passkey: 'My key' } });
});

test('names an unnamed passkey after its authenticator, otherwise after the browser', async () => {
  const known = await complete(authenticator(), { aaguid: Buffer.from('bada5566a7aa401fbd9645619a55120d', 'hex') });
  expect(known.passkey).toMatchObject({
    name: '1Password',
    providerName: '1Password',
    aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d',
  });
  const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const unknown = await complete(authenticator(), { name: ' ' }, undefined, user.with({ 'user-agent': linux }));
  expect(unknown.passkey.name).toBe('Firefox, Linux');
});

test('a challenge is valid for one response of its own browser session, within five minutes', async () => {
  const started = await start();
  const other = await GraphqlClient.signedIn(service, `person${count}`, PASSWORD);
  expect(await complete(authenticator(), {}, started, other)).toMatchObject({ status: 'EXPIRED' });
  expect(await complete(authenticator(), {}, started)).toMatchObject({ status: 'ADDED' });
  expect(await complete(authenticator(), {}, started)).toMatchObject({ status: 'EXPIRED' });
  const late = await start();
  clock.advanceSeconds(5 * 60);
  expect(await complete(authenticator(), {}, late)).toMatchObject({ status: 'EXPIRED' });
});

test('an invalid response consumes its challenge, and the log gives the reason', async () => {
  const started = await start();
  expect(await complete(authenticator(), { origin: 'https://evil.example' }, started)).toEqual({
    status: 'INVALID_RESPONSE',
    passkey: null,
  });
  expect(service.logLines().at(-2)).toMatch(/ passkey\.refused .*code=wrong_origin/);
  expect(await complete(authenticator(), {}, started)).toMatchObject({ status: 'EXPIRED' });
});

test.each<[string, Deviations]>([
  ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
  ['another site', { rpId: 'example.org' }],
  ['no user verification', { isUserVerified: false }],
  ['a frame of another site', { crossOrigin: true }],
  ['another algorithm', { algorithm: -35 }],
  ['the response of a sign-in', { type: 'webauthn.get' }],
])('rejects a new passkey with %s', async (_, wrong) => {
  expect(await complete(authenticator(), wrong)).toMatchObject({ status: 'INVALID_RESPONSE' });
  expect(await list()).toMatchObject({ viewer: { passkeys: { totalCount: 0 } } });
});

test.each([7, 'text', [], {}, { response: null }])('rejects %j in place of a passkey', async (response) => {
  const { challengeId } = await start();
  expect(await run(user, COMPLETE, { challengeId, response })).toEqual({ status: 'INVALID_RESPONSE', passkey: null });
});

test('a credential belongs to one account', async () => {
  const key = authenticator();
  await complete(key);
  const other = await service.registerUser(`other${count}`, PASSWORD);
  expect(other).toBeDefined();
  const stranger = await GraphqlClient.signedIn(service, `other${count}`, PASSWORD);
  expect(await complete(key, {}, undefined, stranger)).toEqual({ status: 'ALREADY_REGISTERED', passkey: null });
});

test('limits an account to twenty passkeys, even when two are added concurrently', async () => {
  await addPasskeys(19);
  const begun = [await start(), await start()];
  const responses = await Promise.all(begun.map((each) => complete(authenticator(), {}, each)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual(['ADDED', 'LIMIT_REACHED']);
  expect(await start()).toEqual({ status: 'LIMIT_REACHED', challengeId: null, options: null });
  expect(await list()).toMatchObject({ viewer: { passkeys: { totalCount: 20 } } });
});

test('adding and removing require a recent authentication, renaming does not', async () => {
  const [id] = await addPasskeys(1);
  clock.advanceSeconds(11 * 60);
  for (const [query, variables] of [
    [START, { input: {} }],
    [REMOVE, { id }],
  ] as const) {
    expect(codesOf(await user.query(query, variables))).toEqual(['REAUTH_REQUIRED']);
  }
  expect(await run(user, RENAME, { id, name: 'Blue key' })).toEqual({
    status: 'UPDATED',
    passkey: { name: 'Blue key' },
  });
});

test.each(['', '   ', 'x'.repeat(101), 'a\nb'])('rejects the name %j', async (name) => {
  const [id] = await addPasskeys(1);
  expect(codesOf(await user.query(RENAME, { id, name }))).toEqual(['BAD_USER_INPUT']);
});

test('does not find passkeys of other users', async () => {
  const [id] = await addPasskeys(1);
  await service.registerUser(`other${count}`, PASSWORD);
  const stranger = await GraphqlClient.signedIn(service, `other${count}`, PASSWORD);
  expect(await run(stranger, RENAME, { id, name: 'Mine' })).toEqual({ status: 'NOT_FOUND', passkey: null });
  expect(await run(stranger, REMOVE, { id })).toEqual({ status: 'NOT_FOUND' });
  expect(await stranger.query('query ($id: ID!) { node(id: $id) { id } }', { id })).toMatchObject({
    data: { node: null },
  });
  expect(await list()).toMatchObject({ viewer: { passkeys: { nodes: [{ name: 'Key' }] } } });
});

test('keeps the last sign-in method: a password counts, unless passwords are disabled', async () => {
  const [id] = await addPasskeys(1);
  const switched = new GraphqlClient(passwordless, {}, user.browser);
  expect(await list(switched)).toMatchObject({ viewer: { loginMethods: ['PASSKEY'] } });
  expect(await run(switched, REMOVE, { id })).toEqual({ status: 'LAST_LOGIN_METHOD' });
  expect(await run(user, REMOVE, { id })).toEqual({ status: 'REMOVED' });
});

test('of two passkeys that are the only sign-in methods, two concurrent removals take one (security S-101)', async () => {
  await dropPassword();
  const ids = await addPasskeys(2);
  const responses = await Promise.all(ids.map((id) => run(user, REMOVE, { id })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual(['LAST_LOGIN_METHOD', 'REMOVED']);
});

test('where passkeys are disabled, none can be added and none counts as a sign-in method', async () => {
  await addPasskeys(1);
  const switched = new GraphqlClient(without, {}, user.browser);
  expect(await start(switched)).toEqual({ status: 'DISABLED', challengeId: null, options: null });
  expect(await list(switched)).toMatchObject({
    viewer: { loginMethods: ['PASSWORD'] },
    siteConfig: { passkeysEnabled: false },
  });
});

test('deactivating the account deletes its passkeys', async () => {
  await addPasskeys(2);
  await run(
    user,
    'mutation ($password: String) { deactivateUser(input: { hsErase: false, password: $password }) { status } }',
    {
      password: PASSWORD,
    },
  );
  const left = await sql(service.database, 'select from user_passkeys where user_id = $1::uuid', [uuid(userId)]);
  expect(left).toEqual([]);
});
