/** Recovery links, data exports and bulk changes of accounts (operations 4.4, 4.6). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { queryTicket, recoverPassword } from '#test/support/account-operations.ts';
import { AdminClient } from '#test/support/admin-client.ts';
import { Browser } from '#test/support/browser.ts';
import { insertBrowserSession, insertClient, sql } from '#test/support/fixtures.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { type Mails, startMails } from '#test/support/mails.ts';
import { readZip } from '#test/support/read-zip.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  PASSWORD,
  startAdministeredService,
} from './administered-service.test-support.ts';

const STRENGTH_WORKER = new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url);
const NEW_PASSWORD = 'seven purple walruses sing quietly';

let administered: AdministeredService;
/** Where users set passwords. They cannot request recovery. */
let pages: TestService;
let mails: Mails;
let admin: AdminClient;
/** Acts as an administrator with an account. */
let nadia: { readonly id: string; readonly client: AdminClient };

beforeAll(async () => {
  mails = await startMails();
  administered = await startAdministeredService({ email: mails.settings });
  const strengthWorker = await bundleWorker(STRENGTH_WORKER);
  const { clock, service: like } = administered;
  pages = await startService(
    { limits: { handler_timeout: '10m' }, graphql: { timeout: '5m' } },
    { like, clock, strengthWorker },
  );
  admin = await administered.adminOf(CLIENT);
  const { id, uuid } = await administered.person();
  await sql(administered.service.database, 'update users set can_request_admin = true where id = $1::uuid', [uuid]);
  const body = { actor_user_id: id, human_name: 'console', scope: 'urn:mas:admin' };
  const token = (await admin.post('personal-sessions', body)).body.data?.attributes['access_token'];
  nadia = { id, client: new AdminClient(administered.service, String(token)) };
});
afterAll(async () => {
  await pages.stop();
  await administered.stop();
  await mails.stop();
});

const codeOf = ({ status, body }: Awaited<ReturnType<AdminClient['get']>>) => [status, body.errors?.[0]?.code];

function visitor(): Browser {
  return new Browser({ listener: pages.address, publicBase: pages.publicBase });
}

async function link(user: string, client = admin): Promise<{ url: string; ticket: string; expiresAt: string }> {
  const { status, body } = await client.post(`users/${user}/recovery-link`, { delivery: 'link' });
  expect(status).toBe(201);
  const { url, expires_at: expiresAt } = Object(body.meta);
  return { url, expiresAt, ticket: new URL(url).searchParams.get('ticket') ?? expect.fail('no ticket') };
}

async function statusOf(ticket: string): Promise<unknown> {
  return JSON.parse((await queryTicket(visitor(), ticket)).body).data.userRecoveryTicket?.status;
}

describe('a recovery link', () => {
  test('is handed over once, sets a password while recovery is disabled, and works once', async () => {
    const { service, clock } = administered;
    const { id, uuid, username } = await administered.person();
    const { url, ticket, expiresAt } = await link(id);
    expect(url).toBe(`${service.publicBase}account/password/recovery?ticket=${ticket}`);
    expect(Date.parse(expiresAt)).toBe(clock.now() + 600_000);
    expect(JSON.stringify(await sql(service.database, 'select t::text from user_recovery_tickets t'))).not.toContain(
      ticket,
    );
    const other = await link(id);
    expect(await statusOf(ticket)).toBe('VALID');
    expect(await recoverPassword(visitor(), { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    await expect(GraphqlClient.signedIn(service, username, NEW_PASSWORD)).resolves.toBeDefined();
    for (const used of [ticket, other.ticket]) {
      expect(await statusOf(used)).toBe('CONSUMED');
      expect(await recoverPassword(visitor(), { ticket: used, newPassword: PASSWORD })).not.toBe('ALLOWED');
    }
    const events = await sql<{ kind: string; actor: string | null }>(
      service.database,
      `select kind, detail ->> 'actor' as actor from audit_events
        where user_id = $1::uuid and kind in ('recovery_started', 'password_recovered') order by kind, id`,
      [uuid],
    );
    expect(events).toEqual([
      { kind: 'password_recovered', actor: null },
      { kind: 'recovery_started', actor: 'admin' },
      { kind: 'recovery_started', actor: 'admin' },
    ]);
  });

  test('ends by time and by another password, and cannot be renewed by the user', async () => {
    const { clock } = administered;
    const { id } = await administered.person();
    const [late, outdated] = [await link(id), await link(id)];
    await admin.post(`users/${id}/set-password`, { password: NEW_PASSWORD, skip_password_check: true });
    expect(await statusOf(outdated.ticket)).toBe('CONSUMED');
    const { ticket } = await link(id);
    clock.advanceSeconds(600);
    expect(await statusOf(ticket)).toBeUndefined();
    expect(await recoverPassword(visitor(), { ticket, newPassword: PASSWORD })).not.toBe('ALLOWED');
    expect(await statusOf(late.ticket)).toBe('CONSUMED');
  });

  test('is sent to the primary address, and sets a first password', async () => {
    const { service } = administered;
    const { id, uuid, username } = await administered.person();
    const send = () => admin.post(`users/${id}/recovery-link`, { delivery: 'email' });
    expect(codeOf(await send())).toEqual([409, 'no_email']);
    await admin.post('user-emails', { user_id: id, email: `${username}@mail.example` });
    await sql(service.database, 'delete from user_passwords where user_id = $1::uuid', [uuid]);
    await mails.deliver(service.core);
    const { status, body } = await send();
    expect([status, body.meta]).toEqual([201, { url: null, expires_at: null }]);
    const [mail] = await mails.deliver(service.core);
    expect(mail?.to).toBe(`${username}@mail.example`);
    const ticket = /ticket=(\w{32})/.exec(mail?.text ?? '')?.[1] ?? expect.fail('no ticket');
    expect(await recoverPassword(visitor(), { ticket, newPassword: NEW_PASSWORD })).toBe('ALLOWED');
    await expect(GraphqlClient.signedIn(service, username, NEW_PASSWORD)).resolves.toBeDefined();
  });

  test('is refused for locked and deactivated accounts, and without passwords or mail', async () => {
    const { id } = await administered.person();
    const ask = (client: AdminClient, delivery: string) => client.post(`users/${id}/recovery-link`, { delivery });
    for (const [settings, delivery, refused] of [
      [{}, 'email', [409, 'mail_not_configured']],
      [{ passwords: { enabled: false } }, 'link', [403, 'password_auth_disabled']],
    ] as const) {
      const { clock, service: like } = administered;
      const policy = { data: { admin_clients: [CLIENT] } };
      const closed = await startService({ ...settings, policy }, { like, clock });
      expect(codeOf(await ask(new AdminClient(closed, nadia.client.token), delivery))).toEqual(refused);
      await closed.stop();
    }
    await admin.post(`users/${id}/lock`);
    expect(codeOf(await ask(admin, 'link'))).toEqual([409, 'account_not_usable']);
    await admin.post(`users/${id}/deactivate`);
    expect(codeOf(await ask(admin, 'email'))).toEqual([409, 'account_not_usable']);
    expect(codeOf(await admin.post(`users/${ABSENT}/recovery-link`, { delivery: 'link' }))).toEqual([404, 'not_found']);
    expect(codeOf(await ask(admin, 'post'))).toEqual([400, 'invalid_request']);
  });
});

test('the data of a user is exported as the archive that the user can download, and recorded', async () => {
  const { service } = administered;
  const { id, uuid, username } = await administered.person();
  await link(id, nadia.client);
  administered.clock.advanceSeconds(1);
  const response = await nadia.client.download(`users/${id}/data-export`, { accept: '*/*', method: 'POST' });
  expect(response.headers.get('content-type')).toBe('application/zip');
  expect(response.headers.get('content-disposition')).toMatch(
    new RegExp(`^attachment; filename="${id}-[0-9-]+\\.zip"$`),
  );
  const files = readZip(Buffer.from(await response.arrayBuffer()));
  expect(JSON.parse(files.get('profile.json') ?? '')).toMatchObject({ username, has_password: true });
  const activity = files.get('activity.json') ?? '';
  expect(JSON.parse(activity)).toMatchObject([{ kind: 'recovery_started', by: 'admin' }]);
  expect(activity).not.toContain('exportUserData');
  const recorded = await sql<{ operation: string; admin: string }>(
    service.database,
    `select detail ->> 'operation' as operation, detail ->> 'admin' as admin from audit_events
      where user_id = $1::uuid and kind = 'admin_action' order by id`,
    [uuid],
  );
  expect(recorded.at(-1)).toEqual({ operation: 'exportUserData', admin: nadia.id });
});

describe('bulk changes', () => {
  const isLocked = async (id: string) => (await admin.get(`users/${id}`)).body.data?.attributes['locked_at'] !== null;

  test('lock and unlock all accounts, and record each', async () => {
    const [one, two] = [await administered.person(), await administered.person()];
    await admin.post(`users/${two.id}/lock`);
    const ids = [one.id, two.id, one.id.toLowerCase()];
    expect((await nadia.client.post('users/bulk/status', { action: 'lock', ids })).body.meta).toEqual({ changed: 1 });
    expect([await isLocked(one.id), await isLocked(two.id)]).toEqual([true, true]);
    expect((await nadia.client.post('users/bulk/status', { action: 'unlock', ids })).body.meta).toEqual({ changed: 2 });
    const events = await sql<{ user_id: string }>(
      administered.service.database,
      `select user_id from audit_events where detail ->> 'operation' = 'bulkUsers' order by user_id`,
    );
    expect(events.map(({ user_id }) => user_id)).toEqual([one.uuid, one.uuid, two.uuid]);
  });

  test('change nothing if one account does not exist or is their own', async () => {
    const { id } = await administered.person();
    const absent = await admin.post('users/bulk/status', { action: 'lock', ids: [id, ABSENT] });
    expect([absent.status, absent.body.errors?.[0]?.source]).toEqual([404, { pointer: '/ids/1' }]);
    const own = await nadia.client.post('users/bulk/status', { action: 'lock', ids: [id, nadia.id] });
    expect(codeOf(own)).toEqual([409, 'not_your_own_account']);
    expect(await isLocked(id)).toBe(false);
    const many = Array.from({ length: 101 }, () => newId(0));
    for (const ids of [[], many, ['x'], undefined]) {
      expect(codeOf(await admin.post('users/bulk/status', { action: 'lock', ids }))).toEqual([400, 'invalid_request']);
    }
  });

  test('end sessions of one kind, all or none', async () => {
    const { service, clock } = administered;
    const { id, uuid } = await administered.person();
    const browsers = [
      await insertBrowserSession(service.database, parseId(id) ?? expect.fail('no id'), clock.now()),
      await insertBrowserSession(service.database, parseId(id) ?? expect.fail('no id'), clock.now()),
    ];
    const client = await insertClient(service.database, service.core.keyRing, clock.now());
    const session = newId(clock.now());
    await sql(
      service.database,
      `insert into oauth2_sessions (id, user_id, client_id, scope, created_at)
       values ($1::uuid, $2::uuid, $3::uuid, '{openid}', now())`,
      [toUuid(session), uuid, toUuid(client)],
    );
    const end = (kind: string, ids: readonly string[]) => admin.post('sessions/bulk-finish', { kind, ids });
    expect((await end('browser', [...browsers, session])).body.errors?.[0]?.source).toEqual({ pointer: '/ids/2' });
    const live = async () => Object((await admin.get(`users/${id}/details`)).body.data?.attributes['sessions']);
    expect(await live()).toMatchObject({ browser: 2, oauth2: 1 });
    expect((await end('browser', browsers)).body.meta).toEqual({ changed: 2 });
    expect((await end('browser', browsers)).body.meta).toEqual({ changed: 0 });
    expect((await end('oauth2', [session])).body.meta).toEqual({ changed: 1 });
    expect(codeOf(await end('compat', [session]))).toEqual([404, 'not_found']);
    const personal = await admin.post('personal-sessions', { actor_user_id: id, human_name: 'bot', scope: 'openid' });
    expect((await end('personal', [personal.body.data?.id ?? ''])).body.meta).toEqual({ changed: 1 });
    expect(await live()).toEqual({ browser: 0, oauth2: 0, compat: 0, personal: 0 });
  });
});

test('administrators keep their own access', async () => {
  const path = `users/${nadia.id}`;
  const own = [409, 'not_your_own_account'];
  expect(codeOf(await nadia.client.post(`${path}/lock`))).toEqual(own);
  expect(codeOf(await nadia.client.post(`${path}/deactivate`, { skip_erase: true }))).toEqual(own);
  expect(codeOf(await nadia.client.post(`${path}/set-admin`, { admin: false }))).toEqual(own);
  expect((await nadia.client.post(`${path}/set-admin`, { admin: true })).status).toBe(200);
  expect((await admin.get(path)).body.data?.attributes).toMatchObject({ admin: true, locked_at: null });
});
