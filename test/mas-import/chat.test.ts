/** Sessions of chat clients and personal tokens after an import from Matrix Authentication Service. */
import { beforeEach, describe, expect, test } from 'vitest';
import { ChatClient } from '#test/support/chat-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { type MigratedService, Migration } from './migration.test-support.ts';
import {
  API,
  ago,
  ahead,
  C2,
  device,
  ENCRYPTED_SECRET,
  MACAROON,
  newUuid,
  SYNAPSE_TOKEN,
  T12,
  T13,
  T14,
  T15,
  T16,
  T17,
  T18,
  T19,
  T20,
  USERS,
  ulid,
} from './vectors.test-support.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const migration = await sharedByTests(Migration.create());

beforeEach(async () => {
  await migration.restart();
  await add('users', { user_id: USERS.caro, username: 'caro' });
});

const add = async (table: string, row: Readonly<Record<string, unknown>>) => await migration.mas.add(table, row);
const stored = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  await sql<Row>(migration.target.database, text, [...values]);

async function addSession(deviceId: string | null, row: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const id = newUuid();
  await add('compat_sessions', { compat_session_id: id, user_id: USERS.caro, device_id: deviceId, ...row });
  return id;
}

async function addAccess(sessionId: string, token: string, expiresAt: Date | null = null): Promise<string> {
  const id = newUuid();
  await add('compat_access_tokens', {
    ...{ compat_access_token_id: id, compat_session_id: sessionId, access_token: token, expires_at: expiresAt },
  });
  return id;
}

async function addRefresh(sessionId: string, accessId: string, token: string, consumedAt: Date | null = null) {
  await add('compat_refresh_tokens', {
    ...{ compat_refresh_token_id: newUuid(), compat_session_id: sessionId, compat_access_token_id: accessId },
    ...{ refresh_token: token, consumed_at: consumedAt },
  });
}

const chatOf = ({ service }: MigratedService): ChatClient => new ChatClient(service, '/_matrix/client/v3');
const logOut = async (migrated: MigratedService, token: string) =>
  await chatOf(migrated).post('/logout', undefined, { authorization: `Bearer ${token}` });

describe('chat clients', () => {
  test('case 32: two sessions of one device become one with the tokens of both', async () => {
    await addAccess(await addSession('BOTDEVICE1', { created_at: '2025-01-01T00:00:00Z' }), T12);
    const newer = await addSession('BOTDEVICE1', { created_at: '2025-02-01T00:00:00Z' });
    await addAccess(newer, T13);
    expect((await migration.check()).warnings.map(({ code }) => code)).toContain('shared_devices');
    const migrated = await migration.serve();
    expect(await stored('select id, device_id from compat_sessions')).toEqual([{ id: newer, device_id: 'BOTDEVICE1' }]);
    for (const token of [T12, T13]) {
      expect(await migrated.introspect(token)).toMatchObject({
        active: true,
        device_id: 'BOTDEVICE1',
        username: 'caro',
      });
    }
    expect((await logOut(migrated, T12)).status).toBe(200);
    expect([await migrated.isActive(T12), await migrated.isActive(T13)]).toEqual([false, false]);
  });

  test('the refresh tokens of two sessions of one device both work, until one is used', async () => {
    const older = await addSession('BOTDEVICE1', { created_at: '2025-01-01T00:00:00Z' });
    await addRefresh(older, await addAccess(older, T12), T15);
    const newer = await addSession('BOTDEVICE1', { created_at: '2025-02-01T00:00:00Z' });
    await addRefresh(newer, await addAccess(newer, T13), T16);
    const chat = chatOf(await migration.serve());
    const { status, body } = await chat.post('/refresh', { refresh_token: T15 });
    expect(status).toBe(200);
    expect((await chat.post('/refresh', { refresh_token: T16 })).status).toBe(401);
    expect((await chat.post('/refresh', { refresh_token: body['refresh_token'] })).status).toBe(200);
  });

  test('case 33: a session keeps a device with blanks, and only the current refresh token works', async () => {
    const session = await addSession("Caro's phone");
    const access = await addAccess(session, T14, ahead(3 * MINUTE_MS));
    await addRefresh(session, access, T16, ago(MINUTE_MS));
    await addRefresh(session, access, T15);
    const migrated = await migration.serve();
    expect(await migrated.introspect(T14)).toMatchObject({ active: true, device_id: "Caro's phone" });
    const chat = chatOf(migrated);
    expect((await chat.post('/refresh', { refresh_token: T16 })).status).toBe(401);
    const { status, body } = await chat.post('/refresh', { refresh_token: T15 });
    expect(status).toBe(200);
    expect([body['access_token'], body['refresh_token']]).toEqual([
      expect.stringMatching(/^mct_/),
      expect.stringMatching(/^mcr_jVizwJeAKNi8/),
    ]);
    expect(await migrated.isActive(T14)).toBe(false);
  });

  test('case 34: tokens that an earlier Synapse issued stay active', async () => {
    await addAccess(await addSession('OLDPHONE'), SYNAPSE_TOKEN);
    await addAccess(await addSession(null), MACAROON);
    const migrated = await migration.serve();
    expect([await migrated.isActive(SYNAPSE_TOKEN), await migrated.isActive(MACAROON)]).toEqual([true, true]);
  });

  test('case 35: a session of a homeserver administrator keeps that scope', async () => {
    await addAccess(await addSession('ADMINPHONE', { is_synapse_admin: true }), T17);
    const migrated = await migration.serve();
    expect(String((await migrated.introspect(T17))['scope']).split(' ')).toContain('urn:synapse:admin:*');
  });

  test('case 36: the token of a finished session is inactive', async () => {
    await addAccess(await addSession('OLDPHONE', { finished_at: ago(3 * DAY_MS) }), T18);
    const migrated = await migration.serve();
    expect(await migrated.isActive(T18)).toBe(false);
    expect(await stored('select id from compat_sessions')).toEqual([]);
  });

  test('tokens in a form that is never looked up are an error, unless they are left out', async () => {
    await addAccess(await addSession('ODDPHONE'), 'syt_odd');
    const { exitCode, errors } = await migration.check();
    expect([exitCode, errors.map(({ code }) => code)]).toEqual([10, ['token_forms']]);
    expect(errors[0]?.message).toContain('1 tokens have a form that is not accepted here (caro)');
    expect((await migration.migrate(['--skip', 'token-forms']))['compat sessions']).toBe(1);
    expect(await stored('select id from compat_access_tokens')).toEqual([]);
  });
});

describe('personal sessions', () => {
  test('case 37: a personal token stays active, a revoked one inactive, and a lock of its user counts', async () => {
    await add('users', { user_id: USERS.dave, username: 'dave' });
    await add('oauth2_clients', {
      ...{ oauth2_client_id: C2, token_endpoint_auth_method: 'client_secret_basic' },
      encrypted_client_secret: ENCRYPTED_SECRET,
    });
    const own = {
      personal_session_id: newUuid(),
      owner_user_id: USERS.dave,
      actor_user_id: USERS.dave,
      human_name: 'Bot',
    };
    await add('personal_sessions', { ...own, scope_list: [API, device('DAVEBOT0001')] });
    const token = { personal_session_id: own.personal_session_id, expires_at: null };
    await add('personal_access_tokens', {
      ...{ ...token, personal_access_token_id: newUuid() },
      access_token_sha256: Buffer.from('f3a6f4ff1657284239f856060e22edecb6231b88348f7c51ad5b10a13294b87d', 'hex'),
    });
    const ofClient = { personal_session_id: newUuid(), owner_oauth2_client_id: C2, actor_user_id: USERS.caro };
    await add('personal_sessions', { ...ofClient, human_name: 'Job', scope_list: [API] });
    await add('personal_access_tokens', {
      ...{ personal_access_token_id: newUuid(), personal_session_id: ofClient.personal_session_id },
      access_token_sha256: Buffer.from('eeeaefbf1b6641c74c6219d7e6c072f2f40a702b3b87942428e1a7201df7e227', 'hex'),
      revoked_at: ago(DAY_MS),
    });
    const migrated = await migration.serve();
    const body = await migrated.introspect(T19);
    expect(body).toMatchObject({ active: true, username: 'dave', sub: ulid(USERS.dave) });
    expect(body).not.toHaveProperty('client_id');
    expect(await stored('select device_id from personal_sessions order by id')).toEqual([
      { device_id: 'DAVEBOT0001' },
      { device_id: null },
    ]);
    expect(await migrated.isActive(T20)).toBe(false);
    await stored('update users set locked_at = now() where username = $1', ['dave']);
    expect(await migrated.isActive(T19)).toBe(false);
  });
});
