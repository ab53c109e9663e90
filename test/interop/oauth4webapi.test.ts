import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const CALLBACK = 'http://127.0.0.1/callback';
/** Native apps listen on any free port (RFC 8252 7.3). */
const LISTENING_AT = 'http://127.0.0.1:51004/callback';
const PASSWORD = 'correct horse battery staple';
const INSECURE = { [oauth.allowInsecureRequests]: true };

/** A strict client library in a native app without a secret. */
describe('a public client with oauth4webapi', () => {
  const client: oauth.Client = { client_id: CLIENT_ID };
  let service: TestService;
  let server: oauth.AuthorizationServer;
  let browser: Browser;
  let userId: string;

  beforeAll(async () => {
    service = await startService({
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'none',
          client_name: 'Harbour for desktops',
          redirect_uris: [CALLBACK],
          id_token_signed_response_alg: 'ES256',
        },
      ],
    });
    userId = await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    const issuer = new URL(service.issuer);
    for (const algorithm of ['oidc', 'oauth2'] as const) {
      const response = await oauth.discoveryRequest(issuer, { algorithm, ...INSECURE });
      server = await oauth.processDiscoveryResponse(issuer, response);
    }
  });

  afterAll(async () => {
    await service.stop();
  });

  /** Requests a code in the browser. @returns the response parameters, verified with `state` and `iss` */
  async function authorize(extra: Record<string, string>): Promise<{ verifier: string; response: URLSearchParams }> {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: LISTENING_AT,
      response_type: 'code',
      scope: 'openid profile',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      ...extra,
    });
    let page = await browser.open(`${server.authorization_endpoint}?${query}`);
    if (new URL(page.url).pathname === '/login') {
      await browser.submit({ username: 'amira', password: PASSWORD });
      page = await browser.follow();
    }
    if (page.forms.some((form) => form.action === '/authorize')) {
      page = await browser.submit({ action: 'consent' }, { action: '/authorize' });
    }
    const callback = new URL(page.location ?? '');
    expect(callback.origin + callback.pathname).toBe(LISTENING_AT);
    return { verifier, response: oauth.validateAuthResponse(server, client, callback, state) };
  }

  test('code with PKCE, ID token by ES256, userinfo, refresh, revocation', async () => {
    const nonce = oauth.generateRandomNonce();
    const { verifier, response } = await authorize({ nonce });
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        response,
        LISTENING_AT,
        verifier,
        INSECURE,
      ),
      { expectedNonce: nonce, requireIdToken: true },
    );
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(userId);

    const info = await oauth.userInfoRequest(server, client, tokens.access_token, INSECURE);
    expect(await oauth.processUserInfoResponse(server, client, userId, info)).toMatchObject({ username: 'amira' });

    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token ?? '', INSECURE),
    );
    const revocation = await oauth.revocationRequest(
      server,
      client,
      oauth.None(),
      refreshed.refresh_token ?? '',
      INSECURE,
    );
    expect(await oauth.processRevocationResponse(revocation)).toBeUndefined();
    const dead = await oauth.userInfoRequest(server, client, refreshed.access_token, INSECURE);
    await expect(oauth.processUserInfoResponse(server, client, userId, dead)).rejects.toThrow(
      oauth.WWWAuthenticateChallengeError,
    );
  });

  test('a signed ID token verifies with the published keys', async () => {
    const { verifier, response } = await authorize({});
    const result = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      response,
      LISTENING_AT,
      verifier,
      INSECURE,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, result, { requireIdToken: true });
    expect(tokens.id_token).toBeDefined();
    await oauth.validateApplicationLevelSignature(server, result, INSECURE);
  });

  test('prompt=none without a session returns login_required, and denied consent access_denied', async () => {
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await expect(authorize({ prompt: 'none' })).rejects.toMatchObject({ error: 'login_required' });
  });
});
