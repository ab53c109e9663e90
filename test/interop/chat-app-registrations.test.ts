/**
 * Registrations that published chat apps send, with their redirect URIs: web, https links that the system gives to an
 * app, and private-use schemes with one slash, with three, and with a host (oauth 4.4). Each signs a user in.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const VERIFIER = 'a-verifier-that-is-long-enough-for-the-rules-of-rfc-7636';
const CHALLENGE = 'r57OqpQdDZe3yEfyaOGIgm4s6vAK2te5wR13fPlg8w8';
const SCOPE = 'urn:matrix:org.matrix.msc2967.client:api:* urn:matrix:org.matrix.msc2967.client:device:';

/** What the apps for phones send: the library sets all but the URI. */
const phone = {
  application_type: 'native',
  client_name: 'Element X',
  client_uri: 'https://element.io/',
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  logo_uri: 'https://element.io/mobile-icon.png',
  policy_uri: 'https://element.io/privacy',
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  tos_uri: 'https://element.io/user-terms-of-service',
};
const web = {
  application_type: 'web',
  client_name: 'Element',
  client_uri: 'https://app.element.io/',
  grant_types: ['authorization_code', 'refresh_token'],
  id_token_signed_response_alg: 'RS256',
  logo_uri: 'https://app.element.io/vector-icons/1024.png',
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
const desktop = { ...web, application_type: 'native', client_uri: 'https://element.io', logo_uri: undefined };

interface Registered {
  readonly body: object;
  readonly uri: string;
  /** What a form may lead to, and what the consent page names. */
  readonly source: string;
  readonly shown: string;
}

const APPS: Readonly<Record<string, Registered>> = {
  'Element Web': {
    ...{ body: web, uri: 'https://app.element.io/?no_universal_links=true' },
    ...{ source: 'https:', shown: 'app.element.io' },
  },
  'Element X on Android': {
    ...{ body: phone, uri: 'io.element.android:/' },
    ...{ source: 'io.element.android:', shown: 'io.element.android' },
  },
  'Element X on iOS, an https link of the app': {
    ...{ body: phone, uri: 'https://element.io/oidc/login' },
    ...{ source: 'https:', shown: 'element.io' },
  },
  'Element X of 2023': {
    ...{ body: phone, uri: 'io.element:/callback' },
    ...{ source: 'io.element:', shown: 'io.element' },
  },
  'a build with its own scheme': {
    ...{ body: { ...web, application_type: 'native' }, uri: 'io.element.app:/callback' },
    ...{ source: 'io.element.app:', shown: 'io.element.app' },
  },
  'Element Desktop': {
    ...{ body: desktop, uri: 'io.element.desktop:/vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop' },
  },
  'a scheme with three slashes': {
    ...{ body: desktop, uri: 'io.element.desktop:///vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop' },
  },
  'a scheme with a host': {
    ...{ body: desktop, uri: 'io.element.desktop://vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop://vector' },
  },
};

const service = await sharedByTests(
  startService({ protocol_name: 'matrix', homeserver: { kind: 'none', homeserver: 'element.example' } }),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
});

async function register(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

function authorize(clientId: string, redirectUri: string, device: string): string {
  const fields = { response_type: 'code', response_mode: 'query', client_id: clientId, redirect_uri: redirectUri };
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256', state: 'st+/=' };
  return `/authorize?${new URLSearchParams({ ...fields, ...pkce, scope: `openid ${SCOPE}${device}` }).toString()}`;
}

describe('the registration of', () => {
  test.each(Object.entries(APPS))('%s signs a user in', async (_name, { body, uri, source, shown }) => {
    const registered = await register({ ...body, redirect_uris: [uri] });
    expect(registered).toMatchObject({ status: 201, body: { redirect_uris: [uri] } });
    const clientId = String(registered.body['client_id']);

    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    const login = await browser.open(authorize(clientId, uri, 'ABCDEFGHIJ'));
    expect(login.headers['content-security-policy']).toContain(`form-action 'self' ${source};`);
    await browser.submit({ username: 'amira', password: PASSWORD });
    const consent = await browser.follow();
    expect(consent.headers['content-security-policy']).toContain(`form-action 'self' ${source};`);
    expect(consent.body).toContain(`<bdi class="name">${shown}</bdi>`);
    const { status, headers } = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(status).toBe(303);
    const location = headers.location ?? '';
    // The app finds its page by the URI as it wrote it.
    expect(location.startsWith(`${uri}${uri.includes('?') ? '&' : '?'}`)).toBe(true);
    const answer = new URL(location).searchParams;
    expect(answer.get('state')).toBe('st+/=');

    const tokens = await fetch(`${service.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: answer.get('code') ?? '', redirect_uri: uri },
        ...{ client_id: clientId, code_verifier: VERIFIER },
      }),
    });
    expect(tokens.status).toBe(200);
    expect(await tokens.json()).toMatchObject({ scope: expect.stringContaining('device:ABCDEFGHIJ') });
  });

  test('an app with the scheme of another one, or another spelling of a registered URI, is refused', async () => {
    const other = { ...desktop, client_uri: 'https://evil.example' };
    for (const { uri } of Object.values(APPS)) {
      expect(await register({ ...other, redirect_uris: [uri] })).toMatchObject({
        ...{ status: 400, body: { error: 'invalid_redirect_uri' } },
      });
    }
    const { body } = await register({ ...desktop, redirect_uris: ['io.element.desktop:/vector/webapp/'] });
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    for (const uri of ['io.element.desktop:///vector/webapp/', 'io.element.desktop://vector/webapp/']) {
      const page = await browser.open(authorize(String(body['client_id']), uri, 'ABCDEFGHIJ'));
      expect(page).toMatchObject({ status: 400, location: undefined });
    }
  });
});
