/** Groups from upstream providers (`claims_imports.groups`, decision 0035). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';

const USUAL = newId(1);
const PREFIXED = newId(2);
const IGNORED = newId(3);
const MIXED = newId(4);
let service: TestService;
let subject: string;
let user: string;
let count = 0;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const groups = (template?: string) => ({ groups: { action: 'force', ...(template !== undefined && { template }) } });
  service = await startService({
    rate_limiting: { upstream: { per_ip: { burst: 100_000, per_second: 100_000 } } },
    upstream_oauth2: {
      providers: [
        { id: USUAL, ...shared, claims_imports: groups() },
        {
          id: PREFIXED,
          ...shared,
          claims_imports: groups('{% for group in user.roles %}corp/{{ group }}\n{% endfor %}'),
        },
        { id: IGNORED, ...shared },
        { id: MIXED, ...shared, claims_imports: groups('{{ [user.department, "everybody"] | tojson }}') },
      ],
    },
  });
});
afterAll(async () => {
  await service.stop();
});
beforeEach(async () => {
  count += 1;
  subject = `subject ${count}`;
  user = await insertTestAccount(service.database, { username: `maren${count}` });
});

const uuidOf = (id: string) => toUuid(parseId(id) ?? expect.fail('no id'));

/** Signs in at the provider. The sign-in must succeed. */
async function signIn(provider: string, claims: Readonly<Record<string, unknown>>): Promise<void> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get(`/upstream/authorize/${provider}`);
  await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: subject, ...claims } }));
  expect(browser.page.status).toBe(303);
  await browser.get(browser.page.location ?? '');
  await browser.submit();
  expect(browser.page.status).toBe(303);
  expect(service.requestLines().at(-1)?.requester).toContain(user);
}

async function groups(provider: string): Promise<readonly string[] | null | undefined> {
  const [row] = await sql<{ groups: readonly string[] | null }>(
    service.database,
    'select groups from upstream_links where provider_id = $1::uuid and user_id = $2::uuid',
    [uuidOf(provider), uuidOf(user)],
  );
  return row?.groups;
}

async function link(provider: string): Promise<void> {
  await linkAccount(service.database, { providerId: provider, userId: user, subject });
}

describe('groups from an upstream provider', () => {
  test("replace the provider's previous ones at each sign-in, and keep those of other sources", async () => {
    await link(USUAL);
    await sql(service.database, `update users set groups = '{ops}' where id = $1::uuid`, [uuidOf(user)]);
    await signIn(USUAL, { groups: ['staff', 'Domain Admins', 'staff'] });
    expect(await groups(USUAL)).toEqual(['Domain Admins', 'staff']);
    await signIn(USUAL, { groups: ['staff'] });
    expect(await groups(USUAL)).toEqual(['staff']);
    const [own] = await sql(service.database, 'select groups from users where id = $1::uuid', [uuidOf(user)]);
    expect(own).toEqual({ groups: ['ops'] });
    await signIn(USUAL, {});
    expect(await groups(USUAL), 'a claim that is not there any more').toBeNull();
  });

  test('take no further statement', async () => {
    await link(USUAL);
    await link(IGNORED);
    const statements = async (provider: string) => {
      await signIn(provider, { groups: ['staff'] });
      return service.requestLines().findLast(({ path }) => path.includes('/upstream/callback/'))?.queries;
    };
    expect(await statements(USUAL)).toBe(await statements(IGNORED));
  });

  test('are rendered by a template from any claim, and removed when it is empty', async () => {
    await link(PREFIXED);
    await signIn(PREFIXED, { roles: ['a', 'b'] });
    expect(await groups(PREFIXED)).toEqual(['corp/a', 'corp/b']);
    await signIn(PREFIXED, {});
    expect(await groups(PREFIXED)).toBeNull();
    await link(MIXED);
    await signIn(MIXED, { department: 'Harbour' });
    expect(await groups(MIXED)).toEqual(['Harbour', 'everybody']);
  });

  test('are imported only if configured', async () => {
    await link(IGNORED);
    await sql(service.database, `update upstream_links set groups = '{old}' where user_id = $1::uuid`, [uuidOf(user)]);
    await signIn(IGNORED, { groups: ['staff'] });
    expect(await groups(IGNORED), 'those of a setting that was taken back').toBeNull();
  });

  test.each([
    ['one text', 'staff', ['staff'], 0],
    ['texts with space around them', [' staff ', '\tops\n'], ['ops', 'staff'], 0],
    ['values that are not strings', ['staff', 1, null, true, {}, ['x']], ['staff'], 5],
    ['names that cannot be used', ['staff', '', 'a\u0007b', 'x'.repeat(256)], ['staff'], 3],
    ['a mapping', { staff: true }, null, 1],
    ['a number', 7, ['7'], 0],
    ['null', null, null, 0],
    ['names of any script', ['مشرفون', '🦉', '\u202eevil'], ['مشرفون', '\u202eevil', '🦉'], 0],
    [
      'hostile names',
      ["'; drop table users; --", '{a,b}', '"', '\\'],
      ['"', "'; drop table users; --", '\\', '{a,b}'],
      0,
    ],
  ])('may be %s, without blocking the sign-in', async (_, claim, expected, leftOut) => {
    await link(USUAL);
    const before = service.logLines().length;
    await signIn(USUAL, { groups: claim });
    expect(await groups(USUAL)).toEqual(expected);
    const lines = service.logLines().slice(before);
    const warnings = lines.filter((line) => line.includes('upstream.groups_left_out'));
    expect(warnings).toHaveLength(leftOut === 0 ? 0 : 1);
    if (leftOut > 0) expect(warnings[0]).toContain(`left_out=${leftOut}`);
  });

  test('are limited: 200 of them, even from an endless list', async () => {
    await link(USUAL);
    const many = (length: number) => Array.from({ length }, (_, index) => `${index}`.padStart(5, '0').padEnd(39, 'x'));
    await signIn(USUAL, { groups: many(400) });
    expect(await groups(USUAL)).toEqual(many(200));
    await link(PREFIXED);
    await signIn(PREFIXED, { roles: ['staff'] });
    await signIn(PREFIXED, { roles: Array.from({ length: 1_100 }, (_, index) => `role${index}`) });
    expect(await groups(PREFIXED)).toBeNull();
    expect(service.logLines().join('\n')).toContain('upstream.template_failed');
  });
});
