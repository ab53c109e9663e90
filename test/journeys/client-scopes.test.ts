/** The scopes of chat clients, under both usual names of the protocol (chat-compat 10.4, oauth 14.2). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatOAuthClient, chatClientSettings, type OAuthResponse, tokensOf } from '#test/support/chat-oauth-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
/** Registered for a device, but not for the client API. */
const NARROW = '01JD3Q5Z8W2N4K6M7P9R0S1TWC';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';

describe.each(['chat', 'matrix'])('with the protocol name %s', (name) => {
  const STABLE = `urn:${name}:client:`;
  const UNSTABLE = `urn:${name}:org.${name}.msc2967.client:`;
  const API = `${STABLE}api:*`;
  const DEVICE = `${STABLE}device:ABCDEFGHIJ`;

  let service: TestService;
  let browser: Browser;
  let client: ChatOAuthClient;
  let narrow: ChatOAuthClient;

  beforeAll(async () => {
    service = await startService({
      protocol_name: name,
      homeserver: { kind: 'none', homeserver: 'example.test', secret: HOMESERVER_SECRET },
      clients: [chatClientSettings(CLIENT), chatClientSettings(NARROW, { scope: `openid ${DEVICE}` })],
    });
    await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.open('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    client = new ChatOAuthClient(service, CLIENT);
    narrow = new ChatOAuthClient(service, NARROW);
  });

  afterAll(async () => await service.stop());

  async function introspect(token: string): Promise<Readonly<Record<string, unknown>>> {
    const headers = { authorization: `Bearer ${HOMESERVER_SECRET}` };
    return (await client.post('/oauth2/introspect', { token }, headers)).body;
  }

  const refused = (response: OAuthResponse) =>
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });

  test.each([
    [STABLE, 'STABLEDEVICE'],
    [UNSTABLE, "UNSTABLE.DEVICE_~!$&'()*+,;=:@/-"],
    [UNSTABLE, 'X'.repeat(255)],
  ])('a device signs in by %s, and the homeserver reads both spellings', async (prefix, deviceId) => {
    const scope = `openid ${prefix}api:* ${prefix}device:${deviceId}`;
    await browser.open(`/authorize?${new URLSearchParams(client.authorizationRequest(scope))}`);
    expect(new URL(browser.page.url).pathname).toMatch(/^\/consent\//);
    expect(browser.page.text, 'a person cannot judge the names').not.toContain('urn:');
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
    const response = await client.exchange(code);
    expect(response.body['scope']).toBe(scope);
    const told = await introspect(tokensOf(response).accessToken);
    expect(told).toMatchObject({ active: true, username: 'amira', device_id: deviceId });
    const both = [STABLE, UNSTABLE].flatMap((each) => [`${each}api:*`, `${each}device:${deviceId}`]);
    expect(String(told['scope']).split(' ').toSorted()).toEqual([...both, 'openid'].toSorted());
  });

  test.each([
    ['two devices', `${API} ${DEVICE} ${STABLE}device:KLMNOPQRST`],
    ['one device in both spellings', `${API} ${DEVICE} ${UNSTABLE}device:ABCDEFGHIJ`],
    ["a device in a spelling other than the API's", `${API} ${UNSTABLE}device:ABCDEFGHIJ`],
    ['the API in both spellings', `${API} ${UNSTABLE}api:*`],
    ['a device without the API', `openid ${DEVICE}`],
    ['a device id of 9 characters', `${API} ${STABLE}device:ABCDEFGHI`],
    ['a device id of 256 characters', `${API} ${STABLE}device:${'X'.repeat(256)}`],
    ['an empty device id', `${API} ${STABLE}device:`],
    ['a device id with a percent sign', `${UNSTABLE}api:* ${UNSTABLE}device:ABCDEFGHIJ%20`],
    ['the client API of another protocol', 'urn:other:client:api:*'],
  ])("%s is refused at the client's request, before anybody signs in", async (_, scope) => {
    const stranger = new Browser({ listener: service.address, publicBase: service.publicBase });
    await stranger.get(`/authorize?${new URLSearchParams(client.authorizationRequest(scope))}`);
    const sent = new URL(stranger.page.location ?? '').searchParams;
    expect(sent.get('error')).toBe('invalid_scope');
    expect(sent.get('error_description')).toEqual(expect.any(String));
    refused(await client.post('/oauth2/par', client.authorizationRequest(scope)));
    refused(await client.post('/oauth2/device', { scope }));
    refused(await client.post('/oauth2/token', { grant_type: 'client_credentials', scope }));
  });

  test('client credentials get no client API and no device: both require a user', async () => {
    for (const scope of [API, `${API} ${DEVICE}`, `openid ${UNSTABLE}api:*`]) {
      refused(await client.post('/oauth2/token', { grant_type: 'client_credentials', scope }));
    }
  });

  test('a device is dropped together with a client API that its client is not registered for', async () => {
    const code = await narrow.code(browser, `openid ${API} ${DEVICE}`);
    expect((await narrow.exchange(code)).body['scope']).toBe('openid');
    expect((await narrow.post('/oauth2/device', { scope: `${API} ${DEVICE}` })).body['error']).toBe('invalid_scope');
  });

  test('a narrower access token shows only a device in its scope, and never grants a device alone', async () => {
    const scope = `openid ${API} ${DEVICE}`;
    const { refreshToken } = await client.signIn(browser, scope);
    refused(await client.refresh(refreshToken, { scope: DEVICE }));
    refused(await client.refresh(refreshToken, { scope: `${API} ${UNSTABLE}device:ABCDEFGHIJ` }));
    refused(await client.refresh(refreshToken, { scope: `${API} ${STABLE}device:KLMNOPQRST` }));
    const narrowed = await client.refresh(refreshToken, { scope: `${UNSTABLE}api:*` });
    expect(narrowed).toMatchObject({ status: 200, body: { scope: `${UNSTABLE}api:*` } });
    const told = await introspect(tokensOf(narrowed).accessToken);
    expect(told).toMatchObject({ active: true, scope: `${UNSTABLE}api:* ${API}` });
    expect(told).not.toHaveProperty('device_id');
    const whole = await client.refresh(tokensOf(narrowed).refreshToken);
    expect(whole.body['scope']).toBe(scope);
    expect(await introspect(tokensOf(whole).accessToken)).toMatchObject({ device_id: 'ABCDEFGHIJ' });
  });
});
