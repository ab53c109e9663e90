import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import type { RequestLine } from '../support/log-expression.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CLIENT_SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const SIGNED_OUT = 'https://app.example/signed-out';
const PASSWORD = 'correct horse battery staple';
const HOMESERVER_SECRET = 'homeserver-secret-of-the-test';

/**
 * The main use case: an unmodified OpenID client, a user with a browser, and the resulting log. The steps depend on
 * each other.
 */
describe('an unmodified OpenID client signs a user in', () => {
  let service: TestService;
  let config: oidc.Configuration;
  let browser: Browser;
  let userId: string;
  let tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

  beforeAll(async () => {
    service = await startService({
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: CLIENT_SECRET,
          client_name: 'Harbour',
          redirect_uris: [CALLBACK],
          post_logout_redirect_uris: [SIGNED_OUT],
        },
      ],
      homeserver: { kind: 'none', homeserver: 'example.org', secret: HOMESERVER_SECRET },
      rate_limiting: { login: { per_ip: { burst: 100, per_second: 10 } } },
    });
    userId = await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    config = await oidc.discovery(
      new URL(service.issuer),
      CLIENT_ID,
      undefined,
      oidc.ClientSecretBasic(CLIENT_SECRET),
      {
        execute: [oidc.allowInsecureRequests],
      },
    );
  });

  afterAll(async () => {
    await service.stop();
  });

  /** Returns the line of the last request with this method and path. */
  function lineOf(method: string, path: string): RequestLine {
    const lines = service.requestLines();
    const found = lines.filter((line) => line.method === method && line.path === path).at(-1);
    if (found === undefined) throw new Error(`no line for ${method} ${path}`);
    return found;
  }

  test('sign-in, consent and code: the tokens name the user', async () => {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const nonce = oidc.randomNonce();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile email offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });

    const login = await browser.open(address.href);
    expect(new URL(login.url).pathname).toBe('/login');
    expect(login.text).toContain('Harbour');
    expect(lineOf('GET', '/login').requester).toBeUndefined();

    const wrong = await browser.submit({ username: 'amira', password: 'not it' });
    expect(wrong.status).toBe(200);
    expect(wrong.errorCodes).toContain('invalid_credentials');
    expect(lineOf('POST', '/login')).toMatchObject({ status: 200, level: 'INFO', requester: undefined });

    const right = await browser.submit({ username: 'amira', password: PASSWORD });
    expect(right.status).toBe(303);
    expect(lineOf('POST', '/login')).toMatchObject({ status: 303, requester: `user:${userId}(amira)` });

    const consent = await browser.follow();
    expect(new URL(consent.url).pathname).toMatch(/^\/consent\//);
    expect(consent.text).toContain('Harbour');
    expect(consent.text).toContain('app.example');

    const granted = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(granted.status).toBe(303);
    expect(lineOf('POST', '/authorize')).toMatchObject({ status: 303, requester: `user:${userId}(amira)` });
    const callback = new URL(granted.location ?? '');
    expect(callback.searchParams.get('iss')).toBe(service.issuer);
    expect(granted.headers.location?.endsWith('#')).toBe(true);

    tokens = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
    });
    expect(tokens.claims()).toMatchObject({ sub: userId, iss: service.issuer, aud: CLIENT_ID, nonce });
    expect(tokens.access_token).toMatch(/^mat_/);
    expect(tokens.refresh_token).toMatch(/^mar_/);
    expect(lineOf('POST', '/oauth2/token')).toMatchObject({
      status: 200,
      requester: `oauth2-client:${CLIENT_ID}`,
      queries: 2,
    });
  });

  test('userinfo returns what the scopes allow', async () => {
    const info = await oidc.fetchUserInfo(config, tokens.access_token, userId);
    expect(info).toMatchObject({ sub: userId, username: 'amira', preferred_username: 'amira' });
    expect(lineOf('GET', '/oauth2/userinfo')).toMatchObject({ status: 200, requester: `user:${userId}(amira)` });
  });

  test('introspection answers the client and the homeserver, attributed to the caller', async () => {
    const response = await oidc.tokenIntrospection(config, tokens.access_token);
    expect(response).toMatchObject({ active: true, sub: userId, username: 'amira', client_id: CLIENT_ID });
    expect(lineOf('POST', '/oauth2/introspect').requester).toBe(`oauth2-client:${CLIENT_ID}`);

    const homeserver = await fetch(`${service.address}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${HOMESERVER_SECRET}` },
      body: new URLSearchParams({ token: tokens.access_token }),
    });
    expect(await homeserver.json()).toMatchObject({ active: true, username: 'amira' });
    expect(lineOf('POST', '/oauth2/introspect').requester).toBe('homeserver');
  });

  test('introspection is signed for a client that requests it, and verifies with the published keys (RFC 9701)', async () => {
    const ask = async (token: string): Promise<Response> =>
      await fetch(`${service.address}/oauth2/introspect`, {
        method: 'POST',
        headers: {
          accept: 'application/token-introspection+jwt',
          authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`,
        },
        body: new URLSearchParams({ token }),
      });
    const keys = createRemoteJWKSet(new URL(`${service.address}/oauth2/keys.json`));
    for (const [token, active] of [[tokens.access_token, true] as const, ['mat_unknown', false] as const]) {
      const response = await ask(token);
      expect(response.headers.get('content-type')).toBe('application/token-introspection+jwt');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const { payload } = await jwtVerify(await response.text(), keys, {
        issuer: service.issuer,
        audience: CLIENT_ID,
        typ: 'token-introspection+jwt',
      });
      expect(payload['token_introspection']).toMatchObject({ active });
    }
  });

  test('refresh rotates; a lost response is repeated; reuse ends the session', async () => {
    const first = tokens.refresh_token ?? '';
    const second = await oidc.refreshTokenGrant(config, first);
    expect(second.refresh_token).not.toBe(first);
    expect((await oidc.tokenIntrospection(config, tokens.access_token)).active).toBe(false);

    // The response was lost, so the client retries with its previous refresh token.
    const repeated = await oidc.refreshTokenGrant(config, first);
    expect(repeated.refresh_token).toBe(second.refresh_token);
    expect(repeated.access_token).toBe(second.access_token);

    const third = await oidc.refreshTokenGrant(config, second.refresh_token ?? '');
    expect((await oidc.tokenIntrospection(config, third.access_token)).active).toBe(true);
    await expect(oidc.refreshTokenGrant(config, first)).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await oidc.tokenIntrospection(config, third.access_token)).active).toBe(false);
    await expect(oidc.refreshTokenGrant(config, third.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('a second sign-in skips consent already given, and revocation withdraws it', async () => {
    const verifier = oidc.randomPKCECodeVerifier();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile email offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const response = await browser.get(address.href);
    expect(response.status).toBe(303);
    expect(response.location).toContain(`${CALLBACK}?code=`);
    const line = lineOf('GET', '/authorize');
    expect(line).toMatchObject({ status: 303, requester: `user:${userId}(amira)` });
    expect(line.queries).toBeLessThanOrEqual(3);

    const again = await oidc.authorizationCodeGrant(config, new URL(response.location ?? ''), {
      pkceCodeVerifier: verifier,
    });
    await oidc.tokenRevocation(config, again.refresh_token ?? '');
    expect(lineOf('POST', '/oauth2/revoke')).toMatchObject({
      status: 200,
      requester: `oauth2-client:${CLIENT_ID}`,
    });
    expect((await oidc.tokenIntrospection(config, again.access_token)).active).toBe(false);
  });

  test('client credentials issue the client its own token', async () => {
    const own = await oidc.clientCredentialsGrant(config, {});
    expect(await oidc.tokenIntrospection(config, own.access_token)).toMatchObject({
      active: true,
      client_id: CLIENT_ID,
    });
    expect(own.refresh_token).toBeUndefined();
  });

  test('sign-out is attributed to the user and leads to the login page', async () => {
    await browser.open('/');
    const signedOut = await browser.submit({}, { action: '/logout' });
    expect(signedOut.status).toBe(303);
    expect(new URL(signedOut.location ?? '').pathname).toBe('/login');
    expect(lineOf('POST', '/logout')).toMatchObject({ status: 303, requester: `user:${userId}(amira)` });
    expect((await browser.open('/')).text).not.toContain('amira');
  });

  test('the client signs the user out, including from the service, and gets them back', async () => {
    const verifier = oidc.randomPKCECodeVerifier();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    await browser.open(address.href);
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
    const callback = new URL(browser.page.location ?? '');
    const { id_token = '', access_token } = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
    });
    const signOut = oidc.buildEndSessionUrl(config, {
      id_token_hint: id_token,
      post_logout_redirect_uri: SIGNED_OUT,
      state: 'bye',
    });
    expect((await browser.get(signOut.href)).location).toBe(`${SIGNED_OUT}?state=bye`);
    expect(lineOf('GET', '/oauth2/logout')).toMatchObject({ status: 303, requester: `user:${userId}(amira)` });
    expect((await oidc.tokenIntrospection(config, access_token)).active).toBe(false);
    expect((await browser.open('/')).text).not.toContain('amira');
  });

  test('every log line has the documented layout, one per request', async () => {
    const lines = service.requestLines();
    expect(new Set(lines.map((line) => line.id)).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) {
      expect(line.level).toBe(line.status >= 500 ? 'ERROR' : line.status >= 400 ? 'WARN' : 'INFO');
      expect(line.address).toBe('127.0.0.1');
      expect(line.polls).toBeGreaterThanOrEqual(1);
    }
    const everything = service.logLines().join('\n');
    for (const secret of [
      PASSWORD,
      CLIENT_SECRET,
      HOMESERVER_SECRET,
      tokens.access_token,
      tokens.refresh_token ?? '',
    ]) {
      expect(everything).not.toContain(secret);
    }
  });
});
