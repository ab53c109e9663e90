import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createExportWorker } from '#app/jobs.ts';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { HeldChange } from '#test/attacks/held-change.ts';
import { giveAuthenticatorApp } from '#test/support/authenticator-app.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { headerRecord } from '#test/support/header-record.ts';
import { startMails } from '#test/support/mails.ts';
import { readZip } from '#test/support/read-zip.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T5W';
const ABSENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const HOUR = 3600;
const DAY = 24 * HOUR;

const clock = new FakeClock();
let service: TestService;
let settings: Readonly<Record<string, unknown>>;
let count = 0;
/** A new user for each test. */
let user: GraphqlClient;
let username: string;
let userId: UserId;

const mails = await sharedByTests(startMails());

beforeAll(async () => {
  settings = {
    rate_limiting: { graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT }, login: { per_ip: HIGH_LIMIT } },
    clients: [chatClientSettings(CLIENT)],
    email: mails.settings,
    jobs: { max_attempts: 2 },
  };
  service = await startService(settings, { clock, expectedErrors: ['export-data'] });
});

afterAll(async () => {
  await service.stop();
});

beforeEach(async () => {
  await sql(service.database, 'delete from queue_jobs');
  count += 1;
  username = `person${count}`;
  userId = parseId<'user'>(await service.registerUser(username, PASSWORD)) ?? expect.fail('no identifier');
  user = await signIn(username);
});

async function signIn(name: string): Promise<GraphqlClient> {
  return await GraphqlClient.signedIn(service, name, PASSWORD);
}

const START = 'mutation StartDataExport { startDataExport { status export { id state } } }';
const LIST = `query DataExports { viewer { ... on User { dataExports(last: 5) {
  totalCount nodes { id createdAt state expiresAt sizeBytes downloadUrl }
} } } }`;

interface Started {
  readonly status: string;
  readonly export: { readonly id: string; readonly state: string } | null;
}

async function start(who = user): Promise<Started> {
  const { data, errors } = await who.query(START);
  expect(errors).toEqual([]);
  return Object(data).startDataExport;
}

async function list(who = user): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { data, errors } = await who.query(LIST);
  expect(errors).toEqual([]);
  const { nodes, totalCount } = Object(data).viewer.dataExports;
  expect(totalCount).toBe(nodes.length);
  return nodes;
}

/** Runs the due jobs. @returns how many */
async function work(core = service.core): Promise<number> {
  const worker = createExportWorker(core);
  let ran = 0;
  for (let taken = await worker.poll(); taken > 0; taken = await worker.poll()) {
    ran += taken;
    await worker.idle();
  }
  return ran;
}

/** @param id node identifier, or the part of it in the URL */
async function download(id: string, who: GraphqlClient | undefined = user, method = 'GET') {
  const cookie = [...(who?.browser?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${service.address}/data-export/${id.replace('data_export:', '')}`, {
    method,
    redirect: 'manual',
    headers: { ...(cookie !== '' && { cookie }), 'user-agent': 'The Downloader' },
  });
  const { status, headers } = response;
  return { status, headers, body: Buffer.from(await response.arrayBuffer()) };
}

async function made(): Promise<string> {
  const { export: started } = await start();
  await work();
  return started?.id ?? expect.fail('nothing was begun');
}

async function downloads(): Promise<readonly { ip: string | null; user_agent: string | null }[]> {
  return await sql(
    service.database,
    `select host(e.ip) as ip, e.user_agent from audit_events e
      where e.user_id = $1::uuid and e.kind = 'data_exported'`,
    [toUuid(userId)],
  );
}

describe('an export', () => {
  test('is created by a job, announced by email and downloaded', async () => {
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), $1::uuid, at, at, now() from unnest($2::text[]) at`,
      [toUuid(userId), [`${username}@example.org`, `${username}@mail.example`]],
    );
    expect(await list()).toEqual([]);
    const started = await start(user.with({ 'accept-language': 'de' }));
    expect(started).toEqual({
      status: 'STARTED',
      export: { id: expect.stringMatching(/^data_export:/), state: 'PENDING' },
    });
    const id = started.export?.id ?? '';
    const pending = { id, createdAt: new Date(clock.now()).toISOString(), state: 'PENDING' };
    const nothing = { expiresAt: null, sizeBytes: null, downloadUrl: null };
    expect(await list()).toEqual([{ ...pending, ...nothing }]);
    expect((await download(id)).status).toBe(404);

    expect(await work()).toBe(1);
    const [ready] = await list();
    const downloadUrl = `${service.publicBase}data-export/${id.replace('data_export:', '')}`;
    const expiresAt = new Date(clock.now() + 7 * DAY * 1000).toISOString();
    expect(ready).toEqual({ ...pending, state: 'READY', expiresAt, sizeBytes: expect.any(Number), downloadUrl });
    const notices = await mails.deliver(service.core);
    // The order is undefined, because the addresses have generated identifiers.
    expect(notices.map(({ to, subject }) => [to, subject]).toSorted()).toEqual([
      [`${username}@example.org`, 'Ihre Daten sind bereit'],
      [`${username}@mail.example`, 'Ihre Daten sind bereit'],
    ]);
    expect(notices[0]?.text).toContain(`${service.publicBase}account/`);
    expect(notices[0]?.text).not.toContain('data-export');
    expect(service.logLines().findLast((line) => line.includes('data_export.ready'))).toContain(userId);

    const { status, headers, body } = await download(id);
    expect(status).toBe(200);
    expect(body.length).toBe(ready?.['sizeBytes']);
    expect(headerRecord(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="account-export-${new Date(clock.now()).toISOString().slice(0, 10)}.zip"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect([...readZip(body).keys()]).toEqual([
      'README.txt',
      'profile.json',
      'emails.json',
      'browser-sessions.json',
      'application-sessions.json',
      'chat-sessions.json',
      'personal-sessions.json',
      'consents.json',
      'linked-accounts.json',
      'passkeys.json',
      'activity.json',
    ]);
    expect(service.requestLines().at(-1)?.queries).toBe(3);
  });

  test('is readable only by its user (S-128)', async () => {
    const id = await made();
    const NODE = 'query Find($id: ID!) { node(id: $id) { __typename ... on DataExport { state downloadUrl } } }';
    expect((await user.query(NODE, { id })).data).toMatchObject({
      node: { __typename: 'DataExport', state: 'READY' },
    });
    await service.registerUser(`stranger${count}`, PASSWORD);
    const stranger = await signIn(`stranger${count}`);
    const response = async (of: string) => (await stranger.query(NODE, { id: of })).text;
    expect(await response(id)).toBe(await response(`data_export:${ABSENT}`));
    expect(await response(id)).toContain('"node":null');
  });

  test('is listed in two extra statements, and started with a constant number of them', async () => {
    await list();
    expect(service.requestLines().at(-1)?.queries).toBe(4);
    await start();
    const first = service.requestLines().at(-1)?.queries;
    await start();
    expect(service.requestLines().at(-1)?.queries).toBe(first);
  });
});

describe("an archive's content", () => {
  test('has everything stored about the user, but no secrets and no data of others (S-133)', async () => {
    const { browser = expect.fail('no browser') } = user;
    const { accessToken, refreshToken } = await new ChatOAuthClient(service, CLIENT).signIn(browser, 'openid email');
    const chat = await new ChatClient(service).login(username, PASSWORD, { device_id: 'PHONE', refresh_token: true });
    const neighbour = `neighbour${count}`;
    await service.registerUser(neighbour, PASSWORD);
    await signIn(neighbour);
    await sql(
      service.database,
      `insert into personal_sessions (id, owner_user_id, actor_user_id, human_name, scope, created_at)
       select gen_random_uuid(), o.id, a.id, 'acts as ' || a.username, '{openid}', now()
         from users o, users a where o.username = $1::text and a.username = any ($2::text[])`,
      [neighbour, [username, neighbour]],
    );
    await fillIn();
    const app = await giveAuthenticatorApp(service.core, userId);
    await sql(
      service.database,
      `update users set groups = '{ops}', claims = '{"role": "pilot"}', given_name = 'Pat', family_name = 'Pilot',
         time_zone = 'UTC'
        where username = $1::text`,
      [username],
    );
    await service.core.activity.flush();

    const files = readZip((await download(await made())).body);
    const whole = [...files.values()].join('\n');
    expect(app.recoveryCodes.filter((code) => whole.includes(code))).toEqual([]);
    const handedOut = [PASSWORD, accessToken, refreshToken, chat.accessToken, chat.refreshToken ?? 'none'];
    const secrets = [...handedOut, ...browser.cookies.values(), ...(await storedSecrets())];
    expect(secrets.length).toBeGreaterThan(20);
    expect(secrets.filter((secret) => whole.includes(secret))).toEqual([]);
    expect(whole).not.toContain('neighbour');

    const read = (name: string): unknown => JSON.parse(files.get(name) ?? '');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(read('profile.json')).toMatchObject({
      username,
      has_password: true,
      authenticator_app: { set_up_at: time },
      recovery_codes: { made_at: time, made: 10, unused: 10 },
      groups: ['ops'],
      further_claims: { role: 'pilot' },
      given_name: 'Pat',
      family_name: 'Pilot',
      time_zone: 'UTC',
      created_at: time,
      accepted_terms: [{ address: 'https://example.org/terms', accepted_at: time }],
      imported_addresses: [{ medium: 'msisdn', address: '491234' }],
    });
    expect(read('emails.json')).toEqual([{ address: `${username}@example.org`, is_primary: true, added_at: time }]);
    const here = { last_active_address: '127.0.0.1' };
    expect(read('browser-sessions.json')).toMatchObject([{ started_at: time, last_active_at: time, ...here }]);
    const application = { id: CLIENT, name: 'Harbour' };
    expect(read('application-sessions.json')).toMatchObject([
      { application, scope: ['openid', 'email'], started_at: time },
    ]);
    expect(read('chat-sessions.json')).toMatchObject([{ device_id: 'PHONE', started_at: time, ...here }]);
    expect(read('personal-sessions.json')).toEqual([
      { name: `acts as ${username}`, scope: ['openid'], created_at: time },
    ]);
    expect(read('consents.json')).toMatchObject([{ application, scope: ['openid', 'email'], given_at: time }]);
    expect(read('linked-accounts.json')).toEqual([
      { service: expect.any(String), subject: username, account_name: `${username} there`, linked_at: time },
    ]);
    expect(read('passkeys.json')).toEqual([{ name: 'Phone', added_at: time }]);
    const activity = read('activity.json');
    expect(Array.isArray(activity) && activity.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['login', 'session_started', 'consent_given']),
    );
    expect(activity).toContainEqual(
      expect.objectContaining({ at: time, by: 'self', address: '127.0.0.1', user_agent: 'Mozilla/5.0 of the person' }),
    );
    expect(files.get('README.txt')).toContain(service.publicBase);
    expect([...files.keys()].filter((name) => !files.get('README.txt')?.includes(name))).toEqual(['README.txt']);
  });

  test("has no actions of administrators, which contain the administrator's address (S-202)", async () => {
    await sql(
      service.database,
      `insert into audit_events (id, kind, user_id, ip, user_agent, detail, created_at)
       select gen_random_uuid(), 'admin_action', $1::uuid, '198.51.100.77', 'console', '{"actor": "admin"}', now()`,
      [toUuid(userId)],
    );
    const files = readZip((await download(await made())).body);
    const activity = files.get('activity.json') ?? '';
    expect(activity).toContain('registered');
    expect(activity).not.toMatch(/admin_action|198\.51\.100\.77|console/);
  });

  test('is complete for large numbers of records, as valid JSON', async () => {
    await sql(
      service.database,
      `insert into audit_events (id, kind, user_id, ip, user_agent, created_at)
       select gen_random_uuid(), 'reauthenticated', $1::uuid, '192.0.2.7', 'browser ' || n, now() - n * interval '1 second'
         from generate_series(1, 250) n`,
      [toUuid(userId)],
    );
    const files = readZip((await download(await made())).body);
    const activity: unknown = JSON.parse(files.get('activity.json') ?? '');
    const agents = Array.isArray(activity)
      ? activity.flatMap(({ kind, user_agent }) => (kind === 'reauthenticated' ? [user_agent] : []))
      : [];
    expect(new Set(agents).size).toBe(250);
    expect(JSON.parse(files.get('consents.json') ?? '')).toEqual([]);
  });

  /** Inserts data for both users, so that a mix-up would show. */
  async function fillIn(): Promise<void> {
    await sql(
      service.database,
      `insert into user_unsupported_threepids (user_id, medium, address, created_at)
     select id, 'msisdn', '491234', now() from users where username = $1::text`,
      [username],
    );
    const both = [username, `neighbour${count}`];
    await sql(
      service.database,
      `insert into upstream_providers (id, client_id, ui_order, created_at, disabled_at)
       values (gen_random_uuid(), 'latchkey', $1::integer, now(), now())`,
      [count],
    );
    for (const text of [
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), id, username || '@example.org', username || '@example.org', now() from users`,
      `insert into user_terms (user_id, terms_uri, accepted_at) select id, 'https://example.org/terms', now() from users`,
      `insert into upstream_links (id, provider_id, subject, user_id, human_account_name, created_at)
       select gen_random_uuid(), (select id from upstream_providers limit 1), username, id, username || ' there', now()
         from users`,
      `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
       select gen_random_uuid(), id, convert_to(username, 'UTF8'), convert_to('key of ' || username, 'UTF8'), 0, '{}', true, 'Phone', now()
         from users`,
      `insert into audit_events (id, kind, user_id, ip, user_agent, created_at)
       select gen_random_uuid(), 'reauthenticated', id, '127.0.0.1',
              case when username like 'person%' then 'Mozilla/5.0 of the person' else 'of the neighbour' end, now()
         from users`,
    ]) {
      await sql(service.database, `${text} where username = any($1::text[])`, [both]);
    }
  }

  /** Returns every stored hash in all its encodings. */
  async function storedSecrets(): Promise<string[]> {
    const passwords = await sql<{ hash: string }>(service.database, 'select hash from user_passwords');
    const digests = await sql<{ digest: Buffer }>(
      service.database,
      `select key_hash as digest from user_sessions
       union select token_hash from oauth2_access_tokens union select token_hash from oauth2_refresh_tokens
       union select token_hash from compat_access_tokens union select token_hash from compat_refresh_tokens
       union select secret_sealed from user_totp_secrets union select code_hmac from user_recovery_codes
       union select credential_id from user_passkeys union select public_key from user_passkeys`,
    );
    expect(digests.length).toBeGreaterThan(5);
    const written = digests.flatMap(({ digest }) => [
      digest.toString('hex'),
      digest.toString('base64url'),
      digest.toString('base64').replaceAll('=', ''),
    ]);
    return [...passwords.map(({ hash }) => hash), ...written];
  }
});

describe('starting an export', () => {
  test('F-14: works after one that was started while the clock was ahead', async () => {
    clock.advanceSeconds(DAY);
    user = await signIn(username);
    expect((await start()).status).toBe('STARTED');
    await work();
    clock.advanceSeconds(-DAY);
    user = await signIn(username);
    expect((await start()).status).toBe('STARTED');
    expect((await start()).status).toBe('IN_PROGRESS');
  });

  test('returns the running export, and refuses a second one for a day', async () => {
    const first = await start();
    expect(await start()).toEqual({ status: 'IN_PROGRESS', export: first.export });
    await work();
    const refused = { status: 'RATE_LIMITED', export: { id: first.export?.id, state: 'READY' } };
    expect(await start()).toEqual(refused);
    clock.advanceSeconds(DAY - 1);
    user = await signIn(username);
    expect(await start()).toEqual(refused);
    clock.advanceSeconds(1);
    expect((await start()).status).toBe('STARTED');
    expect((await list()).map(({ state }) => state)).toEqual(['READY', 'PENDING']);
  });

  test('creates one export for concurrent requests', async () => {
    const started = await Promise.all(Array.from({ length: 8 }, () => start()));
    expect(started.filter(({ status }) => status === 'STARTED')).toHaveLength(1);
    expect(started.filter(({ status }) => status === 'IN_PROGRESS')).toHaveLength(7);
    expect(new Set(started.map((one) => one.export?.id)).size).toBe(1);
    expect(await list()).toHaveLength(1);
    expect(await work()).toBe(1);
  });

  test('waits for a concurrent start in another process, and returns its export', async () => {
    const held = await HeldChange.make(
      service.connectionString,
      `with locked as (select id from users where id = $1::uuid for no key update)
       insert into data_exports (id, user_id, created_at, expires_at)
       select gen_random_uuid(), locked.id, $2::timestamptz, $2::timestamptz + interval '7 days' from locked`,
      [toUuid(userId), new Date(clock.now())],
    );
    expect((await held.commitDuring(start())).status).toBe('IN_PROGRESS');
    expect(await list()).toHaveLength(1);
  });

  test('requires reauthentication after a while', async () => {
    clock.advanceSeconds(601);
    const response = await user.query(START);
    expect(codesOf(response)).toEqual(['REAUTH_REQUIRED']);
    expect(response.errors[0]?.extensions['reauthUrl']).toBe('/reauth?kind=manage_account');
    expect(await list()).toEqual([]);
  });

  test('requires a browser session', async () => {
    expect(codesOf(await new GraphqlClient(service).query(START))).toEqual(['UNAUTHENTICATED']);
  });

  test('is refused where the operator disabled exports, while existing ones can be downloaded', async () => {
    const id = await made();
    const off = await startService({ ...settings, account: { data_export_enabled: false } }, { clock, like: service });
    try {
      const there = await GraphqlClient.signedIn(off, username, PASSWORD);
      expect(await start(there)).toEqual({ status: 'DISABLED', export: null });
      expect(Object((await there.query('{ siteConfig { dataExportEnabled } }')).data).siteConfig).toEqual({
        dataExportEnabled: false,
      });
      expect(await list(there)).toMatchObject([{ id, state: 'READY' }]);
    } finally {
      await off.stop();
    }
  });
});

describe('downloading', () => {
  test('returns 404 for exports of others, unknown ones, without a session, and for other methods (S-128)', async () => {
    const id = await made();
    await service.registerUser(`other${count}`, PASSWORD);
    const other = await signIn(`other${count}`);
    const response = async (of: string, who?: GraphqlClient) => {
      const { status, headers, body } = await download(of, who);
      const { date: _, 'x-request-id': __, ...others } = headerRecord(headers);
      return [status, others, body.toString().replaceAll(/GET-\d+/g, 'GET')];
    };
    const absent = await response(ABSENT, other);
    expect(absent[0]).toBe(404);
    expect(await response(id, other)).toEqual(absent);
    expect(await response(id, new GraphqlClient(service))).toEqual(await response(ABSENT, new GraphqlClient(service)));
    expect((await download('nonsense')).status).toBe(404);
    expect((await download(id, user, 'HEAD')).status).toBe(405);
    expect(await downloads()).toEqual([]);
    expect((await download(id.toLowerCase())).status).toBe(200);
  });

  test('requires reauthentication after an old sign-in', async () => {
    const id = await made();
    clock.advanceSeconds(601);
    const stale = await download(id);
    expect([stale.status, stale.headers.get('location')]).toEqual([303, '/reauth?kind=manage_account']);
    expect((await download(ABSENT)).status).toBe(404);
    expect(await downloads()).toEqual([]);
    expect((await download(id, await signIn(username))).status).toBe(200);
  });

  test('records an account event each time', async () => {
    const id = await made();
    await download(id);
    await download(id);
    const event = { ip: '127.0.0.1', user_agent: 'The Downloader' };
    expect(await downloads()).toEqual([event, event]);
    const { data } = await user.query(
      '{ viewer { ... on User { securityEvents(kind: [DATA_EXPORTED]) { nodes { kind actor ip } } } } }',
    );
    const shown = { kind: 'DATA_EXPORTED', actor: 'SELF', ip: '127.0.0.1' };
    expect(data).toEqual({ viewer: { securityEvents: { nodes: [shown, shown] } } });
  });
});

describe('an archive', () => {
  test('exists for seven days, then expires and is deleted', async () => {
    const id = await made();
    clock.advanceSeconds(7 * DAY - 1);
    user = await signIn(username);
    expect((await download(id)).status).toBe(200);
    await cleanUpAll({ clock, database: service.database });
    expect(await list()).toMatchObject([{ id, state: 'READY' }]);
    clock.advanceSeconds(1);
    expect(await list()).toMatchObject([{ id, state: 'EXPIRED', downloadUrl: null }]);
    expect((await download(id)).status).toBe(404);
    await cleanUpAll({ clock, database: service.database });
    expect(await list()).toEqual([]);
    expect(
      await sql(service.database, 'select id from data_exports where user_id = $1::uuid', [toUuid(userId)]),
    ).toEqual([]);
  });

  test('is deleted with its account, and not created for an account deactivated in the meantime (S-133)', async () => {
    const id = await made();
    const deactivate = `mutation { deactivateUser(input: { hsErase: true, password: "${PASSWORD}" }) { user { id } } }`;
    expect((await user.query(deactivate)).errors).toEqual([]);
    expect((await download(id)).status).toBe(404);
    const rows = () => sql(service.database, 'select id from data_exports where user_id = $1::uuid', [toUuid(userId)]);
    expect(await rows()).toEqual([]);

    count += 1;
    username = `person${count}-leaving`;
    userId = parseId<'user'>(await service.registerUser(username, PASSWORD)) ?? expect.fail('no identifier');
    user = await signIn(username);
    await start();
    await sql(service.database, 'update users set deactivated_at = now() where id = $1::uuid', [toUuid(userId)]);
    await work();
    const archives = 'select archive from data_exports where user_id = $1::uuid';
    expect(await sql(service.database, archives, [toUuid(userId)])).toEqual([{ archive: null }]);
  });
});

describe('an export job', () => {
  test('is retried, fails the export after the last attempt, and allows a new one an hour later', async () => {
    await start();
    const broken = { ...service.core, database: refusingFiles() };
    for (const state of ['PENDING', 'PENDING', 'FAILED']) {
      await work(broken);
      expect(await list()).toMatchObject([{ state, downloadUrl: null, sizeBytes: null, expiresAt: null }]);
      clock.advanceSeconds(60);
    }
    expect(await start()).toMatchObject({ status: 'RATE_LIMITED', export: { state: 'FAILED' } });
    clock.advanceSeconds(HOUR);
    user = await signIn(username);
    expect((await start()).status).toBe('STARTED');
  });

  test('creates one archive and one notification after a failure, even when it runs twice', async () => {
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       values (gen_random_uuid(), $1::uuid, $2::text, $2::text, now())`,
      [toUuid(userId), `${username}@example.org`],
    );
    await start();
    const [job] = await sql<{ payload: object }>(
      service.database,
      `select payload from queue_jobs where queue = 'export-data'`,
    );
    await work({ ...service.core, database: refusingFiles() });
    clock.advanceSeconds(60);
    await work();
    await sql(
      service.database,
      `insert into queue_jobs (id, queue, payload, created_at, due_at)
       values (gen_random_uuid(), 'export-data', $1::jsonb, now(), $2::timestamptz)`,
      [JSON.stringify(job?.payload), new Date(clock.now())],
    );
    expect(await work()).toBe(1);
    expect(await list()).toMatchObject([{ state: 'READY' }]);
    expect(await mails.deliver(service.core)).toHaveLength(1);
  });

  test('fails after a day without progress, and allows another one', async () => {
    await start();
    await sql(service.database, 'delete from queue_jobs');
    clock.advanceSeconds(DAY);
    user = await signIn(username);
    expect(await list()).toMatchObject([{ state: 'FAILED' }]);
    expect((await start()).status).toBe('STARTED');
  });

  test('fails at once if the archive would be too large', async () => {
    await sql(
      service.database,
      `insert into audit_events (id, kind, user_id, user_agent, created_at)
       select gen_random_uuid(), 'reauthenticated', $1::uuid,
              (select string_agg(md5(n::text || m::text), '') from generate_series(1, 16000) m), now()
         from generate_series(1, 40) n`,
      [toUuid(userId)],
    );
    await start();
    expect(await work()).toBe(1);
    expect(await list()).toMatchObject([{ state: 'FAILED', sizeBytes: null }]);
    expect(service.logLines().findLast((line) => line.includes('job.dead'))).toContain('the archive is too large');
  });

  /** A database that fails to read the contents of the files. */
  function refusingFiles(): typeof service.core.database {
    const { database } = service;
    const rows: typeof database.rows = async (statement, parameters) => {
      if (statement.label === 'emails-of-users-first') throw new Error('the disk of the database is full');
      return await database.rows(statement, parameters);
    };
    const execute: typeof database.execute = (statement, parameters) => database.execute(statement, parameters);
    const first: typeof database.first = (statement, parameters) => database.first(statement, parameters);
    const replaced = { rows, execute, first };
    return new Proxy(database, { get: (target, name) => Reflect.get(name in replaced ? replaced : target, name) });
  }
});
