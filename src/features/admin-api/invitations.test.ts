import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { startMails } from '#test/support/mails.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { ABSENT, CLIENT, startAdministeredService } from './administered-service.test-support.ts';

const codes = ({ body }: { readonly body: { readonly errors?: readonly { readonly code: string }[] } }) =>
  body.errors?.map(({ code }) => code) ?? [];
const PATH = 'user-registration-tokens';
const GUEST = 'Guest.Of@mail.example';

let admin: AdminClient;

const administered = await sharedByTests(
  startAdministeredService({
    policy: { data: { admin_clients: [CLIENT], banned_domains: ['spam.example'] } },
  }),
);

const mails = await sharedByTests(startMails());
const sending = await sharedByTests(startAdministeredService({ email: mails.settings }));

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
    const response = await admin.post(PATH, body);
    expect(response.status).toBe(400);
    expect(response.body.errors).toMatchObject([{ code: 'invalid_request', source: { pointer } }]);
  });

  test('for an address keep their limit of one account', async () => {
    const made = await admin.post(PATH, { email: 'two@mail.example' });
    for (const usage_limit of [2, null]) {
      const response = await admin.send('PUT', `${PATH}/${made.body.data?.id}`, { usage_limit });
      expect(response.status).toBe(400);
    }
  });
});

describe('sending an invitation (administration A-17)', () => {
  let sender: AdminClient;

  beforeAll(async () => {
    sender = await sending.adminOf(CLIENT);
  });

  const invited = async (body: object) => (await sender.post(PATH, body)).body.data?.id ?? expect.fail('not created');

  test('mails a link with a proof in the requested language, which replaces that of an earlier email', async () => {
    const { clock, service } = sending;
    const expires_at = new Date(clock.now() + 86_400_000).toISOString();
    const made = await sender.post(PATH, { email: GUEST, expires_at, send: true });
    const { id } = made.body.data ?? expect.fail('not created');
    const { token, url, mail_queued_at, mail_sent_at } = made.body.data?.attributes ?? {};
    expect([mail_queued_at, mail_sent_at]).toEqual([expect.any(String), null]);
    const [jobs] = await sql<{ payload: string }>(service.database, 'select payload::text from queue_jobs', []);
    expect(jobs?.payload).not.toContain(token);
    const [first] = await mails.deliver(service.core);
    expect(first).toMatchObject({ to: GUEST, subject: expect.stringMatching(/^Your invitation to /) });
    const proofOf = (text = '') => new RegExp(`token=${token}&proof=([A-Za-z0-9_-]{43})\\s`).exec(text)?.[1];
    expect(proofOf(first?.text)).toBeDefined();
    expect(url).not.toContain('proof');
    const shown = (await sender.get(`${PATH}/${id}`)).body.data?.attributes;
    expect(shown).toMatchObject({ mail_sent_at: mail_queued_at });
    expect(JSON.stringify(shown)).not.toContain(proofOf(first?.text));
    clock.advanceSeconds(5);
    await sender.post(`${PATH}/${id}/send`, { language: 'de' });
    clock.advanceSeconds(1);
    expect((await sender.post(`${PATH}/${id}/send`, { language: 'fr' })).status).toBe(200);
    const later = await mails.deliver(service.core);
    expect(later.map(({ subject }) => subject)).toEqual([expect.stringMatching(/^Votre invitation à /)]);
    expect(proofOf(later[0]?.text)).not.toBe(proofOf(first?.text));
    await sender.post(`${PATH}/${id}/send`);
    await sender.post(`${PATH}/${id}/revoke`);
    expect(await mails.deliver(service.core), 'revoked in the meantime').toEqual([]);
  });

  test('is refused without an address, a mail transport, or a valid token, and after 50 emails in an hour', async () => {
    const send = async (id: string, body?: object) => codes(await sender.post(`${PATH}/${id}/send`, body));
    expect(codes(await sender.post(PATH, { send: true }))).toEqual(['no_email']);
    expect(await send(await invited({}))).toEqual(['no_email']);
    const revoked = await invited({ email: GUEST });
    await sender.post(`${PATH}/${revoked}/revoke`);
    expect(await send(revoked)).toEqual(['token_not_valid']);
    const id = await invited({ email: GUEST });
    expect(await send(id, { language: 'Klingon!' })).toEqual(['invalid_request']);
    sending.clock.advanceSeconds(2 * 3600);
    for (let number = 0; number < 50; number += 1) expect(await send(id)).toEqual([]);
    expect(await send(id)).toEqual(['rate_limited']);
    const silent = await admin.post(PATH, { email: GUEST });
    expect(codes(await admin.post(`${PATH}/${silent.body.data?.id}/send`))).toEqual(['mail_not_configured']);
    expect(codes(await admin.post(PATH, { email: GUEST, send: true }))).toEqual(['mail_not_configured']);
  });
});
