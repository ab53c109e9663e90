import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';

const APP = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const API = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const INVOICES = 'https://invoices.example/';

let service: TestService;
let subjectToken: string;

/** A user signs in to an app, which calls a service, which calls another service on the user's behalf. */
beforeAll(async () => {
  const base = { client_auth_method: 'client_secret_basic', client_secret: SECRET, redirect_uris: [CALLBACK] };
  service = await startService({
    clients: [
      { ...base, client_id: APP, first_party: true },
      { ...base, client_id: API, token_exchange: { subjects: [APP], scopes: ['openid'], audiences: [INVOICES] } },
    ],
  });
  await service.registerUser('amira', PASSWORD);
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username: 'amira', password: PASSWORD });
  const config = await configured(APP);
  const state = oidc.randomState();
  const address = oidc.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: 'openid email', state });
  const { location } = await browser.open(address.href);
  const tokens = await oidc.authorizationCodeGrant(config, new URL(location ?? ''), { expectedState: state });
  subjectToken = tokens.access_token;
});
afterAll(async () => await service.stop());

async function configured(clientId: string): Promise<oidc.Configuration> {
  return await oidc.discovery(new URL(service.issuer), clientId, undefined, oidc.ClientSecretBasic(SECRET), {
    execute: [oidc.allowInsecureRequests],
  });
}

test('openid-client exchanges a token with its generic grant, and introspection names the actor', async () => {
  const config = await configured(API);
  expect(config.serverMetadata().grant_types_supported).toContain(GRANT);
  const parameters = { subject_token: subjectToken, subject_token_type: ACCESS_TOKEN, audience: INVOICES };
  const tokens = await oidc.genericGrantRequest(config, GRANT, parameters);
  expect(tokens).toMatchObject({ issued_token_type: ACCESS_TOKEN, token_type: 'bearer', scope: 'openid' });
  expect(tokens.refresh_token).toBeUndefined();
  const told = await oidc.tokenIntrospection(config, tokens.access_token);
  expect(told).toMatchObject({ active: true, username: 'amira', act: { client_id: API }, aud: [INVOICES] });
  await expect(
    oidc.genericGrantRequest(config, GRANT, { ...parameters, audience: 'https://other.example/' }),
  ).rejects.toMatchObject({ error: 'invalid_target' });
});

test('oauth4webapi does the same, and is refused for a client without the right', async () => {
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.issuer);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  const form = new URLSearchParams({ subject_token: subjectToken, subject_token_type: ACCESS_TOKEN });
  const ask = async (clientId: string) => {
    const auth = oauth.ClientSecretBasic(SECRET);
    const response = await oauth.genericTokenEndpointRequest(
      server,
      { client_id: clientId },
      auth,
      GRANT,
      form,
      options,
    );
    return await oauth.processGenericTokenEndpointResponse(server, { client_id: clientId }, response);
  };
  const tokens = await ask(API);
  expect(tokens).toMatchObject({ issued_token_type: ACCESS_TOKEN, scope: 'openid' });
  await expect(ask(APP)).rejects.toMatchObject({ error: 'unauthorized_client' });
});
