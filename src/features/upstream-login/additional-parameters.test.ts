import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';

const CLIENT_ID = newId(1);
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const HINTED = newId(2);
const FORWARDED = newId(3);
const PLAIN = newId(4);
const ECHO = newId(5);
const SETTINGS = { rate_limiting: { upstream: { per_ip: { burst: 100_000 } } } };
const CLIENTS = [{ client_id: CLIENT_ID, client_auth_method: 'none', redirect_uris: [CALLBACK], first_party: true }];
let clock: FakeClock;
let service: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  clock = new FakeClock(Date.now());
  const shared = { issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  service = await startService(
    {
      ...SETTINGS,
      clients: CLIENTS,
      upstream_oauth2: {
        providers: [
          {
            id: HINTED,
            ...shared,
            additional_authorization_parameters: {
              login_hint: ' {{ params.login_hint | lower }} ',
              prompt: '{{ "select_account" if logged_out }}',
              hd: 'example.org',
              empty: '{{ "" }}',
              keep: 'changed',
            },
          },
          { id: FORWARDED, ...shared, forward_login_hint: true },
          { id: PLAIN, ...shared, additional_authorization_parameters: { hd: '{{ logged_out }}' } },
          { id: ECHO, ...shared, additional_authorization_parameters: { echo: '{{ params | tojson }}' } },
        ],
      },
    },
    { clock },
  );
  await service.registerUser('amira', PASSWORD);
});
afterAll(async () => {
  await service.stop();
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

/** Goes from an application to the sign-in page. @returns the query for continuing to a provider */
async function comeFrom(browser: Browser, parameters: Readonly<Record<string, string>>): Promise<string> {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'state-of-the-app',
    nonce: 'nonce-of-the-app',
    ...parameters,
  });
  await browser.get(`/authorize?${query}`);
  while (browser.page.location !== undefined && !browser.page.location.includes('/login?')) await browser.follow();
  const login = new URL(browser.page.location ?? '', service.publicBase);
  const action = new URLSearchParams();
  for (const name of ['kind', 'id']) action.set(name, login.searchParams.get(name) ?? '');
  return `?${action}`;
}

async function sentBy(browser: Browser, id: string, query = ''): Promise<URLSearchParams> {
  const page = await browser.get(`/upstream/authorize/${id}${query}`);
  expect(page.status).toBe(303);
  return new URL(page.location ?? '').searchParams;
}

describe('additional parameters of the upstream authorization request', () => {
  test("are rendered from the client's parameters", async () => {
    const browser = newBrowser();
    const query = await comeFrom(browser, { login_hint: 'Ann@Example.org' });
    const sent = await sentBy(browser, HINTED, query);
    expect(sent.get('login_hint')).toBe('ann@example.org');
    expect(sent.get('hd')).toBe('example.org');
    expect(sent.getAll('keep')).toEqual(['changed']);
    expect(sent.has('prompt')).toBe(false);
    expect(sent.has('empty')).toBe(false);
    expect(sent.get('client_id')).toBe('latchkey');
    expect((await sentBy(browser, FORWARDED, query)).get('login_hint')).toBe('Ann@Example.org');
  });

  test('are omitted when a template is empty, or without a client request', async () => {
    const sent = await sentBy(newBrowser(), HINTED);
    expect([...sent.keys()].filter((name) => ['login_hint', 'prompt', 'empty'].includes(name))).toEqual([]);
    expect(sent.get('hd')).toBe('example.org');
    const browser = newBrowser();
    expect((await sentBy(browser, FORWARDED, await comeFrom(browser, {}))).has('login_hint')).toBe(false);
  });

  test('ignore a request of another browser, whose hint stays private even if its URL is known (S-83)', async () => {
    const query = await comeFrom(newBrowser(), { login_hint: 'ann@example.org' });
    expect((await sentBy(newBrowser(), HINTED, query)).has('login_hint')).toBe(false);
  });

  test('can use all single-valued parameters, except those that protect the request', async () => {
    const browser = newBrowser();
    const query = await comeFrom(browser, { domain_hint: 'school', prompt: 'login', ['__proto__']: 'x' });
    const echo: unknown = JSON.parse((await sentBy(browser, ECHO, query)).get('echo') ?? '');
    expect(echo).toEqual(
      Object.fromEntries([
        ['client_id', CLIENT_ID],
        ['redirect_uri', CALLBACK],
        ['response_type', 'code'],
        ['scope', 'openid'],
        ['domain_hint', 'school'],
        ['prompt', 'login'],
        ['__proto__', 'x'],
      ]),
    );
  });

  test('cannot break out of the URL that contains them (S-74)', async () => {
    const browser = newBrowser();
    const hint = 'a&client_id=evil#x\u2028"><svg>';
    const sent = await sentBy(browser, FORWARDED, await comeFrom(browser, { login_hint: hint }));
    expect(sent.get('login_hint')).toBe(hint);
    expect(sent.getAll('client_id')).toEqual(['latchkey']);
  });

  test('take one lookup, and only where a template uses the request', async () => {
    const browser = newBrowser();
    const query = await comeFrom(browser, { login_hint: 'x' });
    const queriesOf = async (id: string, action: string) => {
      await sentBy(browser, id, action);
      return service.requestLines().at(-1)?.queries;
    };
    await queriesOf(PLAIN, query);
    const without = (await queriesOf(PLAIN, query)) ?? 0;
    expect(await queriesOf(HINTED, query)).toBe(without + 1);
    expect(await queriesOf(HINTED, '')).toBe(without);
  });

  test('have logged_out set for five minutes after signing out here', async () => {
    const browser = newBrowser();
    expect((await sentBy(browser, PLAIN)).get('hd')).toBe('false');
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    expect((await sentBy(browser, PLAIN)).get('hd')).toBe('false');
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    expect((await sentBy(browser, PLAIN)).get('hd')).toBe('true');
    expect((await sentBy(browser, HINTED)).get('prompt')).toBe('select_account');
    clock.advanceSeconds(300);
    expect((await sentBy(browser, PLAIN)).get('hd')).toBe('false');
  });
});

test('client parameters are not stored where no provider receives them', async () => {
  const rows = await sql<{ kept: boolean }>(
    service.database,
    'select bool_and(parameters is not null) as kept from oauth2_authorization_grants',
  );
  expect(rows).toEqual([{ kept: true }]);
  const other = await startService({ ...SETTINGS, clients: CLIENTS });
  try {
    const browser = new Browser({ listener: other.address, publicBase: other.publicBase });
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    expect((await browser.get(`/authorize?${query}`)).status).toBe(303);
    const others = await sql(other.database, 'select parameters from oauth2_authorization_grants');
    expect(others).toEqual([{ parameters: null }]);
  } finally {
    await other.stop();
  }
});
