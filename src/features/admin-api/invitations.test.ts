import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { ABSENT, CLIENT, startAdministeredService } from './administered-service.test-support.ts';

const PATH = 'user-registration-tokens';
const GUEST = 'Guest.Of@mail.example';
let admin: AdminClient;

const administered = await sharedByTests(
  startAdministeredService({
    policy: { data: { admin_clients: [CLIENT], banned_domains: ['spam.example'] } },
  }),
);

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
});

describe('invitations (administration A-16)', () => {
  test('are registration tokens with an address, groups and a note, which can be found and changed', async () => {
    const { service } = administered;
    const note = 'For the Harbour crew, 50% off_season';
    const made = await admin.post(PATH, { token: 'aboard', email: GUEST, groups: ['crew', 'all hands', 'crew'], note });
    expect(made.status).toBe(201);
    expect(made.body.data?.attributes).toMatchObject({
      email: GUEST,
      groups: ['all hands', 'crew'],
      note,
      usage_limit: 1,
      url: `${service.publicBase}register?token=aboard`,
      created_by: null,
      mail_queued_at: null,
      mail_sent_at: null,
    });
    const path = `${PATH}/${made.body.data?.id}`;
    const plain = await admin.post(PATH, {});
    expect(plain.body.data?.attributes).toMatchObject({ email: null, groups: [], note: null, usage_limit: null });
    const found = async (query: string) => {
      const { body } = await admin.get(`${PATH}?${query}`);
      return body.data?.map(({ id }) => id);
    };
    expect(await found('filter[search]=hARBOUR')).toEqual([made.body.data?.id]);
    expect(await found('filter[search]=guest.of@')).toEqual([made.body.data?.id]);
    expect(await found(`filter[search]=${encodeURIComponent('0%25 off%')}`)).toEqual([]);
    expect(await found(`filter[created-by]=${ABSENT}`)).toEqual([]);
    const changed = await admin.send('PUT', path, { groups: ['crew', 'deck'], note: null, usage_limit: 1 });
    expect(changed.body.data?.attributes).toMatchObject({ groups: ['crew', 'deck'], note: null, email: GUEST });
    expect((await admin.send('PUT', path, { expires_at: null })).body.data?.attributes).toMatchObject({
      groups: ['crew', 'deck'],
    });
    expect((await admin.send('PUT', path, { groups: [] })).body.data?.attributes).toMatchObject({ groups: [] });
    expect(await sql(service.database, 'select name from user_groups order by name', [])).toEqual([
      { name: 'all hands' },
      { name: 'crew' },
      { name: 'deck' },
    ]);
  });

  test.each([
    [{ email: 'nobody' }, '/email'],
    [{ email: 'one@spam.example' }, '/email'],
    [{ email: GUEST, usage_limit: 2 }, '/usage_limit'],
    [{ groups: ['fine', ' crew'] }, '/groups/1'],
    [{ groups: Array.from({ length: 51 }, (_, number) => `group ${number}`) }, '/groups'],
    [{ note: '' }, '/note'],
    [{ note: 'x'.repeat(501) }, '/note'],
    [{ created_by: ABSENT }, '/created_by'],
  ])('refuse %j', async (body, pointer) => {
    const answer = await admin.post(PATH, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer } }]);
  });

  test('for an address keep their limit of one account', async () => {
    const made = await admin.post(PATH, { email: 'two@mail.example' });
    for (const usage_limit of [2, null]) {
      const answer = await admin.send('PUT', `${PATH}/${made.body.data?.id}`, { usage_limit });
      expect(answer.status).toBe(400);
    }
  });
});
