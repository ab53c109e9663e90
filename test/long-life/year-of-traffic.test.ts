/**
 * Simulates a year of traffic with a fake clock: everything that users and clients leave behind is deleted eventually
 * (operations 6.4, 10.10).
 */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { issueRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { setGroups } from '#domain/accounts/set-groups.ts';
import { issuePersonalToken } from '#domain/personal-sessions/issue-personal-token.ts';
import { regeneratePersonalToken } from '#domain/personal-sessions/regenerate-personal-token.ts';
import { revokePersonalSession } from '#domain/personal-sessions/revoke-personal-session.ts';
import { storePolicyData } from '#domain/policy/store-policy-data.ts';
import { rollUp } from '#domain/statistics/roll-up.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { assertionFields } from '#test/support/client-assertions.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startMails } from '#test/support/mails.ts';
import { beginRegistration, codeSentTo } from '#test/support/registering.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import type { UserId } from '#vocabulary/ids.ts';

const STEP_DAYS = 20;
const STEPS = Math.ceil(365 / STEP_DAYS);
/** One step after the longest retention, which is for account activity and, as configured here, audit events. */
const FIRST_FLAT_STEP = 180 / STEP_DAYS + 1;

/** Rows that do not expire, with the reason. */
const KEPT: Readonly<Record<string, string>> = {
  users: 'accounts',
  user_passwords: 'one of each account',
  user_passkeys: 'of accounts',
  user_passkey_offers: 'one of each account',
  user_emails: 'of accounts',
  user_terms: 'what an account has agreed to',
  user_unsupported_threepids: 'of accounts that were imported',
  user_totp_secrets: 'one of each account that has an authenticator app',
  user_recovery_codes: 'ten of each such account',
  user_groups: 'one for each name',
  user_registration_token_uses: 'of accounts',
  statistics_buckets: 'kept for 13 months, which is longer than this test',
};
/** Tables that traffic does not add rows to. */
const FIXED = new Set(['schema_migrations', 'secret_keys', 'server_state', 'upstream_providers']);

const CALLBACK = 'https://app.example/callback';
const WEB = { id: '01JD3Q5Z8W2N4K6M7P9R0S1T2V', secret: 'a-secret-of-at-least-16-characters' };
const SERVER = { id: '01JD3Q5Z8W2N4K6M7P9R0S1T2W', secret: 'another-secret-of-at-least-32-characters' };
const USER = { username: 'amira', password: 'correct horse battery staple', email: 'amira@mail.example' };
const PROVIDER = toUuid(newId(0));
const PLENTY = { burst: 100_000, per_second: 1000 };

const tables = [...readFileSync('migrations/schema.sql', 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(
  ([, name = '']) => name,
);

const clock = new FakeClock();
let userId: UserId;

const mails = await sharedByTests(startMails());
const service = await sharedByTests(
  startService(
    {
      clients: [
        {
          ...{ client_id: WEB.id, client_secret: WEB.secret, client_auth_method: 'client_secret_basic' },
          ...{ redirect_uris: [CALLBACK], first_party: true },
        },
        { client_id: SERVER.id, client_secret: SERVER.secret, client_auth_method: 'client_secret_jwt' },
      ],
      email: mails.settings,
      // The shortest: audit events are then kept as long as account activity.
      retention: { audit_events: '1d' },
      account: { password_registration_enabled: true, password_recovery_enabled: true },
      experimental: { inactive_session_expiration: { ttl: '30d' } },
      rate_limiting: {
        login: { per_ip: PLENTY, per_account: PLENTY, per_known_browser: PLENTY },
        registration: PLENTY,
        account_recovery: { per_ip: PLENTY, per_address: PLENTY },
        client_registration: { per_ip: PLENTY },
      },
    },
    {
      clock,
      strengthWorker: await bundleWorker(
        new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
      ),
    },
  ),
);

beforeAll(async () => {
  userId = await insertTestAccount(service.database, USER, { hasher: service.core.hasher, now: clock.now() });
  await sql(
    service.database,
    `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'latchkey', 0, $2::timestamptz)`,
    [PROVIDER, new Date(clock.now())],
  );
}, 60_000);

test('no table grows after the longest retention period, whatever the traffic', async () => {
  const history = new Map<string, number[]>(tables.map((table) => [table, []]));
  const hadRows = new Set<string>();
  for (let step = 0; step < STEPS; step += 1) {
    await traffic(step);
    await service.core.activity.flush();
    const { auditEventsSeconds } = service.core.config.retention;
    while (!(await rollUp({ database: service.database, clock, auditEventsSeconds })));
    for (const [table, count] of await countRows()) if (count > 0) hadRows.add(table);
    clock.advanceSeconds(STEP_DAYS * 86_400);
    await cleanUpAll({ database: service.database, clock }, service.core.config.retention);
    for (const [table, count] of await countRows()) history.get(table)?.push(count);
  }

  const untouched = tables.filter((table) => !hadRows.has(table) && !FIXED.has(table) && !(table in KEPT));
  expect(untouched, 'tables without traffic: let `traffic` make rows in them').toEqual([]);
  const growing = tables.filter((table) => {
    const counts = history.get(table) ?? [];
    const middle = Math.ceil((FIRST_FLAT_STEP + STEPS) / 2);
    return !(table in KEPT) && Math.max(...counts.slice(middle)) > Math.max(...counts.slice(FIRST_FLAT_STEP, middle));
  });
  expect(Object.fromEntries(growing.map((table) => [table, history.get(table)]))).toEqual({});
}, 120_000);

async function countRows(): Promise<[string, number][]> {
  const counts = tables.map((table) => `select '${table}' as name, count(*)::integer as count from ${table}`);
  const rows = await sql<{ name: string; count: number }>(service.database, counts.join(' union all '));
  return rows.map(({ name, count }) => [name, count]);
}

/** Generates the traffic of one step. */
async function traffic(step: number): Promise<void> {
  await signInAndOut(step);
  await useStaticClient();
  await abandonDynamicClient(step);
  await post('/oauth2/par', { ...AUTHORIZATION_REQUEST, client_id: WEB.id }, WEB);
  await post('/oauth2/device', { client_id: WEB.id, scope: 'openid' }, WEB);
  await post('/oauth2/token', { grant_type: 'client_credentials' }, WEB);
  await post('/oauth2/token', {
    grant_type: 'client_credentials',
    ...(await assertionFields({ clientId: SERVER.id, audience: service.issuer, now: clock.now(), key: SERVER.secret })),
  });
  await chat();
  await register(`person-${step}`);
  await beginRegistration(browser(), { username: `visitor-${step}`, email: `visitor-${step}@mail.example` });
  await recover();
  await administer(step);
  await mails.deliver(service.core);
}

function browser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

async function signIn(user: Browser): Promise<void> {
  await user.submit({ username: USER.username, password: USER.password });
  expect(user.page.status).toBe(303);
}

async function signInAndOut(step: number): Promise<void> {
  const user = browser();
  await user.get('/login');
  await user.submit({ username: `nobody-${step}`, password: 'wrong' });
  await signIn(user);
  await user.get('/logout');
  await user.submit();
  // Another browser is closed without signing out.
  const forgotten = browser();
  await forgotten.get('/login');
  await signIn(forgotten);
}

const AUTHORIZATION_REQUEST = { redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' };

async function authorize(clientId: string): Promise<string> {
  const user = browser();
  await user.open(`/authorize?${new URLSearchParams({ ...AUTHORIZATION_REQUEST, ...PKCE, client_id: clientId })}`);
  await signIn(user);
  let page = await user.follow();
  if (page.location === undefined) page = await user.submit({ action: 'consent' }, { action: '/authorize' });
  return new URL(page.location ?? '').searchParams.get('code') ?? '';
}

const VERIFIER = 'a-verifier-that-is-long-enough-for-the-rules-of-it';
const PKCE = { code_challenge: sha256(VERIFIER).toString('base64url'), code_challenge_method: 'S256' };

/** Uses, refreshes and revokes tokens, and leaves a second authorization request pending. */
async function useStaticClient(): Promise<void> {
  const code = await authorize(WEB.id);
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const { refresh_token: first } = await post('/oauth2/token', grant, WEB);
  const { refresh_token: second } = await refresh(String(first), WEB);
  await post('/oauth2/revoke', { token: String(second) }, WEB);
  await browser().open(`/authorize?${new URLSearchParams({ ...AUTHORIZATION_REQUEST, ...PKCE, client_id: WEB.id })}`);
}

/** Registers a dynamic client that obtains tokens and then goes silent. */
async function abandonDynamicClient(step: number): Promise<void> {
  const response = await fetch(`${service.address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_name: `App ${step}`, client_uri: 'https://app.example/', redirect_uris: [CALLBACK] },
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  });
  const { client_id: id, client_secret: secret } = await response.json();
  const code = await authorize(id);
  const grant = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const { refresh_token: token } = await post('/oauth2/token', grant, { id, secret });
  await refresh(String(token), { id, secret });
}

async function refresh(token: string, client: typeof WEB): Promise<Readonly<Record<string, unknown>>> {
  return await post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: token }, client);
}

async function post(
  path: string,
  fields: Readonly<Record<string, string>>,
  client?: typeof WEB,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = client && { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    ...(headers !== undefined && { headers }),
    body: new URLSearchParams(fields),
  });
  const text = await response.text();
  expect(response.ok, `${path}: ${text}`).toBe(true);
  return text === '' ? {} : JSON.parse(text);
}

/** Signs one device out, abandons another, and leaves a single sign-on pending. */
async function chat(): Promise<void> {
  const client = new ChatClient(service);
  for (const isLast of [false, true]) {
    const login = await client.login(USER.username, USER.password, { refresh_token: true });
    const refreshed = await client.post('/refresh', { refresh_token: login.refreshToken });
    const authorization = `Bearer ${refreshed.body['access_token']}`;
    if (!isLast) await client.post('/logout', {}, { authorization });
  }
  const query = new URLSearchParams({ redirectUrl: 'https://chat.example/' });
  await client.request(`/login/sso/redirect?${query}`);
}

async function register(username: string, query = ''): Promise<void> {
  const user = browser();
  const email = `${username}@mail.example`;
  await beginRegistration(user, { username, email }, query);
  await user.follow();
  await user.submit({ code: codeSentTo(email, await mails.deliver(service.core)) });
  await user.follow();
  await user.submit({ action: 'skip' });
  await user.follow();
}

async function recover(): Promise<void> {
  const user = browser();
  await user.get('/recover');
  await user.submit({ email: USER.email }, { action: '/recover' });
}

/** Generates rows of administrators, other services and failing machines. */
async function administer(step: number): Promise<void> {
  const { core, database } = service;
  const now = new Date(clock.now());
  const expiresAt = new Date(clock.now() + 86_400_000);
  const id = () => toUuid(newId(clock.now()));
  await issueRegistrationToken(core, { token: `welcome-${step}`, usageLimit: 1, expiresAt });
  await register(`guest-${step}`, `?token=welcome-${step}`);
  await database.transaction((within) => setGroups(within, { user: userId, groups: ['crew'], now: clock.now() }));
  await storePolicyData(database, { step }, clock.now());
  const user = toUuid(userId);
  // It is killed before it can deregister.
  const killed = {
    name: `machine:${step}`,
    version: '1.0.0',
    works: true,
    configDigest: Buffer.alloc(32),
    rootKeys: () => [],
    untrustedProxies: () => [],
  };
  await new RegisteredProcess({ database, clock, log: core.log, ...killed }).beat();
  await sql(
    database,
    `insert into data_exports (id, user_id, created_at, expires_at) values ($1::uuid, $2::uuid, $3::timestamptz, $4::timestamptz)`,
    [id(), user, now, expiresAt],
  );
  await sql(
    database,
    `insert into user_totp_enrolments (id, user_id, user_session_id, secret_sealed, created_at)
     select $1::uuid, user_id, id, '', $2::timestamptz from user_sessions order by id desc limit 1`,
    [id(), now],
  );
  await sql(
    database,
    `insert into user_pending_logins (id, user_id, first_factor, created_at, expires_at)
     select $1::uuid, user_id, 'password', $2::timestamptz, $2::timestamptz + interval '10 minutes'
       from user_sessions order by id desc limit 1`,
    [id(), now],
  );
  await sql(
    database,
    `insert into user_trusted_browsers (nonce_hash, user_id, created_at, expires_at)
     select sha256($1::text::bytea), user_id, $2::timestamptz, $2::timestamptz + interval '30 days'
       from user_sessions order by id desc limit 1`,
    [id(), now],
  );
  // As an import leaves it.
  await sql(
    database,
    `insert into imported_browser_sessions (user_session_id, expires_at)
     select id, $1::timestamptz + interval '14 days' from user_sessions order by id desc limit 1
     on conflict do nothing`,
    [now],
  );
  const program = { kind: 'user', id: userId } as const;
  const issued = await issuePersonalToken(core, {
    ...{ owner: program, actor: { id: userId, username: USER.username }, name: `bridge ${step}`, scope: ['openid'] },
    ...{ deviceId: undefined, lifetimeSeconds: 86_400, by: {}, record: async () => undefined },
    waiting: { signal: new AbortController().signal, beginWrite: () => true },
  });
  if (!issued.ok) throw new Error(`no personal token was made: ${issued.reason}`);
  const renewal = { owner: program, lifetimeSeconds: undefined };
  await regeneratePersonalToken(core, issued.sessionId, renewal);
  await revokePersonalSession(database, issued.sessionId, { now: clock.now(), by: {}, syncsDevices: false });
  await sql(
    database,
    `insert into homeserver_leases (user_id, owner, expires_at) values ($1::uuid, $2::uuid, $3::timestamptz)
     on conflict (user_id) do nothing`,
    [user, id(), now],
  );
  await sql(
    database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at)
     values ($1::uuid, 'send-mail', '{}', $2::timestamptz, $2::timestamptz, $2::timestamptz)`,
    [id(), now],
  );
  await sql(
    database,
    `insert into webauthn_challenges (id, challenge_hash, purpose, login_id, expires_at)
     values ($1::uuid, sha256($1::text::bytea), 'login', $1::uuid, $2::timestamptz + interval '5 minutes')`,
    [id(), now],
  );
  await sql(
    database,
    `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
     values ($1::uuid, $2::uuid, sha256($1::text::bytea), '', 0, '{}', true, 'Phone', $3::timestamptz)`,
    [id(), user, now],
  );
  const link = id();
  await sql(
    database,
    `insert into upstream_links (id, provider_id, subject, created_at)
     values ($1::uuid, $2::uuid, $3::text, $4::timestamptz)`,
    [link, PROVIDER, `subject-${step}`, now],
  );
  await sql(
    database,
    `insert into upstream_authorizations (id, provider_id, state_hash, secrets_sealed, created_at, link_id)
     values ($1::uuid, $2::uuid, sha256($1::text::bytea), '', $3::timestamptz, $4::uuid)`,
    [id(), PROVIDER, now, link],
  );
}
