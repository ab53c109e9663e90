import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { startService, type TestService } from '#test/support/service.ts';

const SPA = '01JD3Q5Z8W2N4K6M7P9R0S1TSP';
const WORKER = '01JD3Q5Z8W2N4K6M7P9R0S1TWK';
const TV = '01JD3Q5Z8W2N4K6M7P9R0S1TTV';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';
const INSECURE = { [oauth.allowInsecureRequests]: true };

/** Unmodified client libraries with built-in DPoP support. They repeat requests with a nonce automatically. */
describe.each([
  ['without nonces', false],
  ['with nonces', true],
])('DPoP %s', (_, dpop_require_nonce) => {
  let service: TestService;
  let browser: Browser;
  let userId: string;

  beforeAll(async () => {
    service = await startService({
      oauth: { dpop_require_nonce },
      homeserver: { kind: 'none', secret: HOMESERVER_SECRET },
      clients: [
        { client_id: SPA, client_auth_method: 'none', redirect_uris: [CALLBACK], dpop_bound_access_tokens: true },
        { client_id: WORKER, client_auth_method: 'client_secret_basic', client_secret: SECRET },
        { client_id: TV, client_auth_method: 'none', client_name: 'Living Room TV' },
      ],
    });
    userId = await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.open('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
  });
  afterAll(async () => await service.stop());

  async function configuration(clientId: string, authentication?: oidc.ClientAuth): Promise<oidc.Configuration> {
    const options = { execute: [oidc.allowInsecureRequests] };
    return await oidc.discovery(new URL(service.issuer), clientId, undefined, authentication, options);
  }

  async function introspect(token: string): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(new URL('/oauth2/introspect', service.address), {
      method: 'POST',
      headers: { authorization: `Bearer ${HOMESERVER_SECRET}` },
      body: new URLSearchParams({ token }),
    });
    return await response.json();
  }

  test('openid-client: code bound by dpop_jkt, userinfo, refresh', async () => {
    const config = await configuration(SPA, oidc.None());
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
    const thumbprint = await DPoP.calculateThumbprint();
    const verifier = oidc.randomPKCECodeVerifier();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      dpop_jkt: thumbprint,
    });
    await browser.open(address.href);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const callback = new URL(browser.page.location ?? '');
    const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier }, undefined, {
      DPoP,
    });
    expect(tokens).toMatchObject({ token_type: 'dpop', scope: 'openid profile' });
    expect(await introspect(tokens.access_token)).toMatchObject({ token_type: 'DPoP', cnf: { jkt: thumbprint } });
    expect(await oidc.fetchUserInfo(config, tokens.access_token, userId, { DPoP })).toMatchObject({ sub: userId });

    const next = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
    expect(next).toMatchObject({ token_type: 'dpop' });
    expect(await oidc.fetchUserInfo(config, next.access_token, userId, { DPoP })).toMatchObject({ sub: userId });

    const other = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
    const stolen = oidc.refreshTokenGrant(config, next.refresh_token ?? '', undefined, { DPoP: other });
    await expect(stolen).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
    await expect(oidc.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_dpop_proof',
    });
  });

  test('openid-client: a proof with the pushed request binds the code', async () => {
    const config = await configuration(SPA, oidc.None());
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
    const verifier = oidc.randomPKCECodeVerifier();
    const request = {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      prompt: 'consent',
    };
    const signIn = async () => {
      const address = await oidc.buildAuthorizationUrlWithPAR(config, request, { DPoP });
      await browser.open(address.href);
      await browser.submit({ action: 'consent' }, { action: '/authorize' });
      return new URL(browser.page.location ?? '');
    };
    const checks = { pkceCodeVerifier: verifier };
    const other = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair());
    const callback = await signIn();
    const stolen = oidc.authorizationCodeGrant(config, callback, checks, undefined, { DPoP: other });
    await expect(stolen).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
    const tokens = await oidc.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
    expect(tokens).toMatchObject({ token_type: 'dpop' });

    const contradictory = oidc.buildAuthorizationUrlWithPAR(
      config,
      { ...request, dpop_jkt: await other.calculateThumbprint() },
      { DPoP },
    );
    await expect(contradictory).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('openid-client: device grant', async () => {
    const config = await configuration(TV, oidc.None());
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('Ed25519'));
    const requested = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
    await browser.open(requested.verification_uri_complete ?? '');
    await browser.submit({}, { action: '/link' });
    await browser.open(browser.page.location ?? '');
    const { pathname } = new URL(browser.page.url);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: pathname });
    const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...requested, interval: 0.1 }, undefined, {
      DPoP,
    });
    expect(tokens).toMatchObject({ token_type: 'dpop' });
    expect(await oidc.fetchUserInfo(config, tokens.access_token, userId, { DPoP })).toMatchObject({ sub: userId });
    expect(await introspect(tokens.access_token)).toMatchObject({
      cnf: { jkt: await DPoP.calculateThumbprint() },
    });
  });

  test('oauth4webapi: client credentials, and supported algorithms in the discovery document', async () => {
    const issuer = new URL(service.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
    expect(server.dpop_signing_alg_values_supported).toEqual(expect.arrayContaining(['ES256', 'EdDSA', 'PS256']));
    const client: oauth.Client = { client_id: WORKER };
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('PS256'));
    const request = async () => {
      const authentication = oauth.ClientSecretBasic(SECRET);
      const options = { ...INSECURE, DPoP };
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options);
      return await oauth.processClientCredentialsResponse(server, client, response);
    };
    const tokens = await request().catch(async (error: unknown) => {
      expect([dpop_require_nonce, oauth.isDPoPNonceError(error)]).toEqual([true, true]);
      return await request();
    });
    expect(tokens).toMatchObject({ token_type: 'dpop' });
    expect(await introspect(tokens.access_token)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: await DPoP.calculateThumbprint() },
    });
  });

  test('a dynamic client may register for bound tokens only', async () => {
    const metadata = { client_uri: 'https://app.example/', redirect_uris: [CALLBACK], dpop_bound_access_tokens: true };
    const registered = await oidc.dynamicClientRegistration(new URL(service.issuer), metadata, undefined, {
      execute: [oidc.allowInsecureRequests],
    });
    expect(registered.clientMetadata()).toMatchObject({ dpop_bound_access_tokens: true });
    const form = { grant_type: 'authorization_code', code: 'A'.repeat(43) };
    const { client_id, client_secret } = registered.clientMetadata();
    const response = await fetch(new URL('/oauth2/token', service.address), {
      method: 'POST',
      body: new URLSearchParams({ ...form, client_id, client_secret: String(client_secret) }),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_dpop_proof' }]);
  });

  test.each([
    ['with an invalid thumbprint', { dpop_jkt: 'x' }, 'invalid_request'],
    ['with two thumbprints', {}, 'invalid_request'],
    ['for the homeserver', { scope: 'openid urn:chat:client:api:*' }, 'invalid_scope'],
  ])('a request of a client with bound tokens %s is refused', async (what, fields, error) => {
    const config = await configuration(SPA, oidc.None());
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      ...fields,
    });
    const thumbprint = 'a'.repeat(43);
    if (what.includes('two')) for (const _each of [1, 2]) address.searchParams.append('dpop_jkt', thumbprint);
    await browser.open(address.href);
    expect(new URL(browser.page.location ?? '').searchParams.get('error')).toBe(error);
  });
});
