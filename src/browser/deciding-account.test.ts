import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import {
  type StandInHomeserver,
  startStandInHomeserver,
} from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const USERNAME = 'leyla';
const STORED_NAME = 'Leyla as stored here';

let homeserver: StandInHomeserver;
let clock: FakeClock;
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  clock = new FakeClock();
  homeserver = await startStandInHomeserver(SECRET);
  service = await startService(
    {
      protocol_name: 'matrix',
      homeserver: { homeserver: 'example.org', endpoint: homeserver.endpoint, secret: SECRET },
      clients: [
        {
          client_id: CLIENT,
          client_auth_method: 'none',
          client_name: 'Harbour',
          redirect_uris: ['https://app.example/'],
        },
      ],
    },
    { clock },
  );
  await service.registerUser(USERNAME, PASSWORD);
  await sql(service.database, 'update users set display_name = $1::text', [STORED_NAME]);
  browser = await signIn(service);
});

beforeEach(async () => {
  await homeserver.setFault(undefined);
  homeserver.state.users.clear();
  homeserver.requests.length = 0;
  // The homeserver's circuit breaker may still be open from the previous test.
  clock.advanceSeconds(11);
});

afterAll(async () => {
  await service.stop();
  await homeserver.stop();
});

async function signIn({ address, publicBase }: TestService): Promise<Browser> {
  const signingIn = new Browser({ listener: address, publicBase });
  await signingIn.get('/login');
  await signingIn.submit({ username: USERNAME, password: PASSWORD });
  return signingIn;
}

async function openConsent(requested: Browser): Promise<void> {
  const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const request = { client_id: CLIENT, response_type: 'code', redirect_uri: 'https://app.example/' };
  const pkce = { code_challenge, code_challenge_method: 'S256' };
  await requested.open(`/authorize?${new URLSearchParams({ ...request, ...pkce, scope: 'openid' })}`);
}

async function openDevice(requested: Browser): Promise<void> {
  const body = new URLSearchParams({ client_id: CLIENT, scope: 'openid' });
  const response = await fetch(`${service.address}/oauth2/device`, { method: 'POST', body });
  const { user_code } = await response.json();
  await requested.get('/link');
  await requested.submit({ code: String(user_code) });
  await requested.follow();
}

const PAGES: readonly [string, (requested: Browser) => Promise<void>][] = [
  ['the consent page', openConsent],
  ['the page of a device', openDevice],
];

/** Returns the account card on the page: the initial, then the account. */
function shownAccount({ page: shown }: Browser): string {
  const card = /<div class="account">(.*?)<form/s.exec(shown.body)?.[1] ?? '';
  return card.replace(/<[^>]*>/g, '|').replace(/\|+/g, '|');
}

describe.each(PAGES)('%s', (_, open) => {
  test("shows the account's display name from the homeserver, with one request", async () => {
    homeserver.addUser(USERNAME).displayName = 'Leyla\u202e from chat';
    await open(browser);
    expect(browser.page.status).toBe(200);
    expect(shownAccount(browser)).toBe(`|L|Leyla from chat|@${USERNAME}:example.org|`);
    expect(homeserver.requests.map(({ path, query }) => [path, query.get('localpart')])).toEqual([
      ['/_synapse/mas/query_user', USERNAME],
    ]);
  });

  test('shows no display name when the homeserver has none', async () => {
    homeserver.addUser(USERNAME);
    await open(browser);
    expect(shownAccount(browser)).toBe(`|L|@${USERNAME}:example.org|`);
  });

  test('shows the locally chosen name until the homeserver knows the account', async () => {
    await open(browser);
    expect(shownAccount(browser)).toBe(`|L|${STORED_NAME}|@${USERNAME}:example.org|`);
  });

  test.each([
    ['does not listen', { kind: 'refuse' }],
    ['answers 500', { kind: 'answer', status: 500 }],
    ['answers something else', { kind: 'answer', status: 200, body: '{"display_name":{"a":1}}' }],
    ['does not answer', { kind: 'hang' }],
  ] as const)('is rendered without the name when the homeserver %s', async (__, fault) => {
    homeserver.addUser(USERNAME).displayName = 'Leyla from chat';
    await homeserver.setFault(fault);
    await open(browser);
    expect(browser.page.status).toBe(200);
    expect(shownAccount(browser)).toBe(`|L|@${USERNAME}:example.org|`);
  });
});

test('shows the locally stored name without a homeserver', async () => {
  const alone = await startService(
    { homeserver: { kind: 'none', homeserver: 'example.org' } },
    { like: service, clock },
  );
  try {
    const other = await signIn(alone);
    await openConsent(other);
    expect(shownAccount(other)).toBe(`|L|${STORED_NAME}|@${USERNAME}:example.org|`);
    expect(homeserver.requests).toEqual([]);
  } finally {
    await alone.stop();
  }
});
