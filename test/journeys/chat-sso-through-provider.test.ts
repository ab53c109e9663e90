/** A chat client preselects an upstream provider, and the user signs in through it (chat-compat 8, 9.1, I-14). */
import { beforeAll, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { agreeToSso, ssoPath } from '#test/support/chat-sso.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer, UPSTREAM_SUBJECT } from '#test/support/upstream-peer.ts';

const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';

const peer = await sharedByTests(startUpstreamPeer());
const service = await sharedByTests(
  startService({
    homeserver: { kind: 'none', homeserver: 'chat.example' },
    passwords: { enabled: false },
    compat: { advertise_upstream_providers: true },
    upstream_oauth2: {
      providers: [
        {
          id: PROVIDER,
          issuer: peer.issuer,
          human_name: 'Quayside Club',
          brand_name: 'google',
          client_id: 'latchkey',
          token_endpoint_auth_method: 'none',
        },
        {
          id: '01HZX7T3Q8V3M5N6P7R8S9T0AC',
          issuer: 'https://idp.example/',
          brand_name: 'harbour',
          client_id: 'latchkey',
          token_endpoint_auth_method: 'none',
        },
        {
          id: '01HZX7T3Q8V3M5N6P7R8S9T0AD',
          issuer: 'https://off.example/',
          client_id: 'latchkey',
          token_endpoint_auth_method: 'none',
          enabled: false,
        },
      ],
    },
  }),
);

beforeAll(async () => {
  const userId = await service.registerUser('amira', 'correct horse battery staple');
  await linkAccount(service.database, { providerId: PROVIDER, userId, subject: UPSTREAM_SUBJECT });
});

test('clients receive the providers in order, with well-known brands (chat-compat 4)', async () => {
  const { body } = await new ChatClient(service).request('/login');
  expect(body['flows']).toEqual([
    {
      type: 'm.login.sso',
      oauth_aware_preferred: true,
      'org.chat.msc3824.delegated_oidc_compatibility': true,
      identity_providers: [
        { id: PROVIDER, name: 'Quayside Club', brand: 'google' },
        { id: '01HZX7T3Q8V3M5N6P7R8S9T0AC', name: 'idp.example' },
      ],
    },
    { type: 'm.login.token' },
  ]);
});

test('the user signs in at the provider, confirms here, and the client gets a session', async () => {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  const client = new ChatClient(service);
  const walked: (string | undefined)[] = [];
  await browser.get(ssoPath('element://vector/?a=b', {}, `/${PROVIDER}`));
  while (browser.page.location?.startsWith(service.publicBase)) {
    const { pathname } = new URL(browser.page.location);
    walked.push(pathname.replace(/[0-9A-Z]{26}$/, '{id}'));
    await browser.get(browser.page.location);
  }
  expect(walked).toEqual(['/complete-compat-sso/{id}', '/upstream/authorize/{id}']);
  await browser.get(peer.signIn(browser.page.location ?? ''));
  await browser.follow();
  await browser.submit();
  const requested = await browser.follow();
  expect(requested.text).toContain('Sign in to element://vector/ ?');
  expect(requested.text).toContain('@amira:chat.example');
  const { location } = await agreeToSso(browser);
  expect(location).toMatch(/^element:\/\/vector\/\?a=b&loginToken=\w{32}$/);
  const token = location?.slice(-32);
  const response = await client.post('/login', { type: 'm.login.token', token });
  expect([response.status, response.body['user_id']]).toEqual([200, '@amira:chat.example']);
});
