import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';

/**
 * Requests of the OpenID Connect certification suite that go beyond common use, from the authorization to the last
 * refresh.
 */
describe('a client that requests claims and acr values, without PKCE, and returns with its ID token', () => {
  let service: TestService;
  let config: oidc.Configuration;
  let browser: Browser;
  let tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

  beforeAll(async () => {
    service = await startService({
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: CLIENT_SECRET,
          redirect_uris: [CALLBACK],
        },
      ],
    });
    await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    config = await oidc.discovery(
      new URL(service.issuer),
      CLIENT_ID,
      undefined,
      oidc.ClientSecretBasic(CLIENT_SECRET),
      { execute: [oidc.allowInsecureRequests] },
    );
  });

  afterAll(async () => {
    await service.stop();
  });

  test('gets the claims where it requested them, after the user consented (OpenID Connect Core 5.5)', async () => {
    const state = oidc.randomState();
    const nonce = oidc.randomNonce();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      state,
      nonce,
      acr_values: '1 2',
      claims: JSON.stringify({
        id_token: { preferred_username: null, auth_time: { essential: true } },
        userinfo: { locale: { essential: true } },
      }),
      display: 'page',
      claims_locales: 'de en',
      an_unknown_parameter: 'is ignored',
    });
    await browser.open(address.href);
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const callback = new URL(granted.location ?? '');
    tokens = await oidc.authorizationCodeGrant(config, callback, { expectedState: state, expectedNonce: nonce });
    const claims = tokens.claims();
    expect(claims).toMatchObject({ preferred_username: 'amira', acr: 'urn:latchkey:acr:1' });
    expect(claims?.auth_time).toBeTypeOf('number');
    expect(claims).not.toHaveProperty('locale');
    const info = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
    expect(info).toMatchObject({ locale: 'en' });
    expect(info).not.toHaveProperty('preferred_username');
  });

  test('gets a response without a page when its ID token names the signed-in user (prompt=none, id_token_hint)', async () => {
    const state = oidc.randomState();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      state,
      prompt: 'none',
      id_token_hint: tokens.id_token ?? '',
    });
    const response = await browser.get(address.pathname + address.search);
    expect(response.status).toBe(303);
    const again = await oidc.authorizationCodeGrant(config, new URL(response.location ?? ''), { expectedState: state });
    expect(again.claims()?.sub).toBe(tokens.claims()?.sub);
    expect(again.claims()).not.toHaveProperty('preferred_username');
  });

  test('keeps the claims through a refresh (OpenID Connect Core 12.2)', async () => {
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(refreshed.claims()).toMatchObject({ sub: tokens.claims()?.sub, preferred_username: 'amira' });
    expect(refreshed.claims()).not.toHaveProperty('nonce');
    const info = await oidc.fetchUserInfo(config, refreshed.access_token, tokens.claims()?.sub ?? '');
    expect(info).toMatchObject({ locale: 'en' });
  });
});
