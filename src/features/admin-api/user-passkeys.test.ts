/** Passkeys that administrators remove (operations 4.4). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { givePasskey, passkeyIds } from '#test/support/passkeys.ts';
import {
  ABSENT,
  type AdministeredService,
  CLIENT,
  startAdministeredService,
  type TestUser,
} from './administered-service.test-support.ts';

let administered: AdministeredService;
let admin: AdminClient;

beforeAll(async () => {
  administered = await startAdministeredService({ email: { transport: 'file' } });
  admin = await administered.adminOf(CLIENT);
});
afterAll(() => administered.stop());

async function personWithPasskeys(count: number): Promise<TestUser> {
  const { service, clock } = administered;
  const person = await administered.person();
  await admin.post('user-emails', { user_id: person.id, email: `${person.username}@mail.example` });
  for (let made = 0; made < count; made += 1) {
    clock.advanceSeconds(1);
    await givePasskey(service.core, person.id);
  }
  return person;
}

const remove = async (user: string, passkey: string | undefined) =>
  await admin.delete(`users/${user}/passkeys/${passkey}`);

describe('removing a passkey', () => {
  test('removes this one, ends trust of browsers, keeps sessions, records who did it and tells the user', async () => {
    const { database } = administered.service;
    const { id, uuid } = await personWithPasskeys(2);
    const [first, second] = await passkeyIds(admin, id);
    await sql(
      database,
      `insert into user_trusted_browsers (user_id, nonce_hash, created_at, expires_at)
       values ($1::uuid, '\\x01', now(), now() + interval '1 day')`,
      [uuid],
    );
    expect((await remove(id, first)).status).toBe(204);
    expect(await passkeyIds(admin, id)).toEqual([second]);
    expect(await sql(database, 'select user_id from user_trusted_browsers where user_id = $1::uuid', [uuid])).toEqual(
      [],
    );
    const events = await sql<{ detail: object; ip: string | null }>(
      database,
      `select detail, ip from audit_events where user_id = $1::uuid and kind = 'passkey_removed'`,
      [uuid],
    );
    expect(events).toEqual([{ detail: { actor: 'admin', passkey: 'Phone' }, ip: null }]);
    const notices = (await administered.jobsOf(uuid, 'send-security-notice')).map(({ payload }) => payload);
    expect(notices).toContainEqual(
      expect.objectContaining({
        notice: 'factor_changed',
        detail: { change: 'passkey_removed', passkey: 'Phone' },
      }),
    );
  });

  test('also removes the only way to sign in, after which a recovery link sets a password', async () => {
    const { id, uuid } = await personWithPasskeys(1);
    await sql(administered.service.database, 'delete from user_passwords where user_id = $1::uuid', [uuid]);
    const [only] = await passkeyIds(admin, id);
    expect((await remove(id, only)).status).toBe(204);
    const { body } = await admin.get(`users/${id}/details`);
    expect(body.data?.attributes).toMatchObject({ has_password: false, passkeys: [], linked_accounts: 0 });
    expect((await admin.post(`users/${id}/recovery-link`, { delivery: 'link' })).status).toBe(201);
  });

  test('does not find the passkey of another account, or one that was removed', async () => {
    const [{ id, uuid }, other] = [await personWithPasskeys(1), await administered.person()];
    const [passkey] = await passkeyIds(admin, id);
    const codeOf = async (user: string, which: string | undefined) => {
      const { status, body } = await remove(user, which);
      return [status, body.errors?.[0]?.code];
    };
    expect(await codeOf(other.id, passkey)).toEqual([404, 'not_found']);
    expect(await codeOf(ABSENT, passkey)).toEqual([404, 'not_found']);
    expect(await codeOf(id, 'x')).toEqual([400, 'invalid_id']);
    expect(await passkeyIds(admin, id)).toEqual([passkey]);
    const responses = await Promise.all([1, 2, 3, 4].map(() => remove(id, passkey)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404]);
    const rows = await sql(
      administered.service.database,
      `select kind from audit_events where user_id = $1::uuid and kind = 'passkey_removed'`,
      [uuid],
    );
    expect(rows).toHaveLength(1);
  });
});
