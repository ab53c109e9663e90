/**
 * Registrations that published chat apps send, with their redirect URIs: web, https links that the system gives to an
 * app, and private-use schemes with one slash, with three, and with a host (oauth 4.4). Each signs a user in.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import {
  authorizationRequest,
  CHAT_APPS,
  DESKTOP,
  exchangeCode,
  registerApp,
} from '#test/support/chat-app-registrations.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';

const service = await sharedByTests(
  startService({ protocol_name: 'matrix', homeserver: { kind: 'none', homeserver: 'element.example' } }),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
});

const addressOf = (clientId: string, redirectUri: string): string =>
  authorizationRequest({ clientId, redirectUri, device: 'ABCDEFGHIJ', state: 'st+/=' });

describe('the registration of', () => {
  test.each(Object.entries(CHAT_APPS))('%s signs a user in', async (_name, { body, uri, source, shown }) => {
    const registered = await registerApp(service, { ...body, redirect_uris: [uri] });
    expect(registered).toMatchObject({ status: 201, body: { redirect_uris: [uri] } });
    const clientId = String(registered.body['client_id']);

    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    const login = await browser.open(addressOf(clientId, uri));
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

    const code = answer.get('code') ?? '';
    const { status: exchanged, body: tokens } = await exchangeCode(service, { code, clientId, redirectUri: uri });
    expect(exchanged).toBe(200);
    expect(tokens).toMatchObject({ scope: expect.stringContaining('device:ABCDEFGHIJ') });
  });

  test('an app with the scheme of another one, or another spelling of a registered URI, is refused', async () => {
    const other = { ...DESKTOP, client_uri: 'https://evil.example' };
    for (const { uri } of Object.values(CHAT_APPS)) {
      expect(await registerApp(service, { ...other, redirect_uris: [uri] })).toMatchObject({
        ...{ status: 400, body: { error: 'invalid_redirect_uri' } },
      });
    }
    const { body } = await registerApp(service, { ...DESKTOP, redirect_uris: ['io.element.desktop:/vector/webapp/'] });
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    for (const uri of ['io.element.desktop:///vector/webapp/', 'io.element.desktop://vector/webapp/']) {
      const page = await browser.open(addressOf(String(body['client_id']), uri));
      expect(page).toMatchObject({ status: 400, location: undefined });
    }
  });
});
