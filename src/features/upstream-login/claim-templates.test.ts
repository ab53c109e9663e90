import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { type PeerResponse, startUpstreamPeer } from '#test/support/upstream-peer.ts';

const SECRET = 'a secret that both sides know, and nobody else';
const SHARED = {
  client_id: 'latchkey',
  client_secret: SECRET,
  token_endpoint_auth_method: 'client_secret_post',
};
const NUMBERED = newId(1);
const NAMED = newId(2);
const BOTH = newId(3);
const CALLED_BACK = newId(4);
const IDS = [NUMBERED, NAMED, BOTH, CALLED_BACK];
let service: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const withoutOpenid = {
    discovery_mode: 'disabled',
    scope: 'read:user',
    fetch_userinfo: true,
    authorization_endpoint: `${peer.issuer}/authorize`,
    token_endpoint: `${peer.issuer}/token`,
    userinfo_endpoint: `${peer.issuer}/userinfo`,
  };
  service = await startService({
    rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
    upstream_oauth2: {
      providers: [
        {
          id: NUMBERED,
          ...withoutOpenid,
          claims_imports: {
            subject: { template: '{{ userinfo_claims.id }}' },
            account_name: { template: ' @{{ userinfo_claims.login }} ' },
          },
          ...SHARED,
        },
        {
          id: NAMED,
          issuer: peer.issuer,
          claims_imports: { account_name: { template: '{{ user.email }}' } },
          ...SHARED,
        },
        {
          id: BOTH,
          issuer: peer.issuer,
          fetch_userinfo: true,
          claims_imports: {
            subject: { template: '{{ id_token_claims.sub }}' },
            account_name: {
              template: '{{ user.name }}/{{ id_token_claims.name }}/{{ userinfo_claims.name }}/{{ user.city }}',
            },
          },
          ...SHARED,
        },
        {
          id: CALLED_BACK,
          issuer: peer.issuer,
          claims_imports: {
            account_name: {
              template: '{% set who = extra_callback_parameters["user"] | from_json %}{{ who.name.firstName }}',
            },
          },
          ...SHARED,
        },
      ],
    },
  });
});
afterAll(async () => {
  await service.stop();
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

async function signIn(id: string, response: PeerResponse, more: Readonly<Record<string, string>> = {}) {
  const browser = newBrowser();
  await browser.get(`/upstream/authorize/${id}`);
  return await browser.get(peer.signIn(browser.page.location ?? '', response, more));
}

async function linksOf(
  id: (typeof IDS)[number],
): Promise<readonly (readonly [subject: string, name: string | null])[]> {
  const rows = await sql<{ subject: string; human_account_name: string | null }>(
    service.database,
    `select l.subject, l.human_account_name from upstream_links l join upstream_providers p on p.id = l.provider_id
      where p.ui_order = ${IDS.indexOf(id)} order by l.id`,
  );
  return rows.map((row) => [row.subject, row.human_account_name]);
}

function failures(): readonly string[] {
  return service.logLines().filter((line) => line.includes('upstream.template_failed'));
}

describe('the subject template', () => {
  test("renders the subject, such as a provider's numeric user ID", async () => {
    const responded = await signIn(NUMBERED, { idToken: null, userinfo: { id: 583231, login: 'octocat' } });
    expect(responded.status).toBe(303);
    expect(await linksOf(NUMBERED)).toEqual([['583231', '@octocat']]);
  });

  test.each([
    ['is missing', { login: 'x' }],
    ['is null', { id: null }],
    ['is empty', { id: ' ' }],
    ['is a list', { id: ['1'] }],
    ['is an object', { id: { value: 1 } }],
    ['was rounded', { id: 2 ** 53 }],
    ['has a line feed inside', { id: 'a\nb' }],
    ['has 256 bytes', { id: 'é'.repeat(128) }],
    ['has a megabyte', { id: 'x'.repeat(200_000) }],
  ])('creates no account when the subject %s (S-108, S-112)', async (_, userinfo) => {
    const before = await linksOf(NUMBERED);
    const responded = await signIn(NUMBERED, { idToken: null, userinfo });
    expect(responded.status).toBe(400);
    expect(responded.text).toContain('upstream_no_subject');
    expect(await linksOf(NUMBERED)).toEqual(before);
  });

  test('logs the reason for a missing subject, without the claims (S-112)', async () => {
    const before = failures().length;
    await signIn(NUMBERED, { idToken: null, userinfo: { id: ['zqx'], login: 'zqx' } });
    const [line = ''] = failures().slice(before);
    expect(line).toContain(`provider=${NUMBERED}`);
    expect(line).toContain('attribute=subject');
    expect(line).toContain('line 1, column 4');
    expect(service.logLines().join('\n')).not.toContain('zqx');
  });

  test('is not evaluated in claims: template syntax is text (S-74, S-112)', async () => {
    await signIn(NUMBERED, { idToken: null, userinfo: { id: '{{ 7 * 7 }}', login: '<b>' } });
    expect(await linksOf(NUMBERED)).toContainEqual(['{{ 7 * 7 }}', '@<b>']);
  });
});

describe('the upstream account name', () => {
  test('is updated at each sign-in, and kept when a later one omits it', async () => {
    const subject = 'renamed';
    await signIn(NAMED, { claims: { sub: subject, email: 'old@example.org' } });
    expect(await linksOf(NAMED)).toEqual([[subject, 'old@example.org']]);
    await signIn(NAMED, { claims: { sub: subject, email: 'new@example.org' } });
    expect(await linksOf(NAMED)).toEqual([[subject, 'new@example.org']]);
    const responded = await signIn(NAMED, { claims: { sub: subject } });
    expect(responded.status).toBe(303);
    expect(await linksOf(NAMED)).toEqual([[subject, 'new@example.org']]);
    expect(failures().at(-1)).toContain('attribute=account_name');
  });

  test('is shown on the page where the user decides what to do with it', async () => {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${NAMED}`);
    await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: 'shown', email: 'ann@example.org' } }));
    expect((await browser.follow()).text).toContain('ann@example.org');
  });

  test('is truncated to 255 characters, without invisible ones', async () => {
    const email = `a\u0007b\u202ec\r\nd${'😀'.repeat(300)}`;
    await signIn(NAMED, { claims: { sub: 'odd name', email } });
    const names = new Map(await linksOf(NAMED));
    expect(names.get('odd name')).toBe(`abcd${'😀'.repeat(251)}`);
  });
});

test('claims of the ID token override those of userinfo', async () => {
  const userinfo = { sub: 'both', name: 'of userinfo', city: 'Bern' };
  await signIn(BOTH, { claims: { sub: 'both', name: 'signed' }, userinfo });
  expect(await linksOf(BOTH)).toEqual([['both', 'signed/signed/of userinfo/Bern']]);
});

describe("other parameters of the provider's callback", () => {
  test('are available to templates', async () => {
    const user = JSON.stringify({ name: { firstName: 'Ann', lastName: 'Lee' } });
    await signIn(CALLED_BACK, { claims: { sub: 'first' } }, { user });
    expect(await linksOf(CALLED_BACK)).toEqual([['first', 'Ann']]);
  });

  test('are ignored when they exceed 8 KiB in total', async () => {
    const user = JSON.stringify({ name: { firstName: 'Eve' }, more: 'x'.repeat(8000) });
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${CALLED_BACK}`);
    const back = new URL(peer.signIn(browser.page.location ?? '', { claims: { sub: 'second' } }));
    back.searchParams.set('user', user);
    back.searchParams.set('more', 'x'.repeat(200));
    const responded = await browser.post(back.pathname, back.searchParams);
    expect(responded.status).toBe(303);
    expect(await linksOf(CALLED_BACK)).toContainEqual(['second', null]);
  });
});
