import { type CryptoKey, exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2W';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const INSECURE = { [oauth.allowInsecureRequests]: true };

/** Unmodified client libraries, with a client that may only use pushed requests. */
describe('pushed authorization requests', () => {
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    service = await startService({
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          redirect_uris: [CALLBACK],
          require_pushed_authorization_requests: true,
        },
      ],
    });
    await service.registerUser('amira', PASSWORD);
    browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
  });
  afterAll(async () => await service.stop());

  /** Follows an authorization to the client, and consents if asked. */
  async function callback(address: URL): Promise<URL> {
    await browser.open(address.href);
    if (browser.page.forms.some((form) => form.action === '/authorize')) {
      await browser.submit({ action: 'consent' }, { action: '/authorize' });
    }
    return new URL(browser.page.location ?? '');
  }

  async function discovered(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(service.issuer);
    return await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
  }

  test('with openid-client', async () => {
    const config = await oidc.discovery(new URL(service.issuer), CLIENT_ID, undefined, oidc.ClientSecretBasic(SECRET), {
      execute: [oidc.allowInsecureRequests],
    });
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const address = await oidc.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile',
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    expect([...address.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
    const tokens = await oidc.authorizationCodeGrant(config, await callback(address), {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    expect(tokens.claims()).toMatchObject({ preferred_username: 'amira' });
  });

  test('with oauth4webapi', async () => {
    const server = await discovered();
    const client: oauth.Client = { client_id: CLIENT_ID };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const parameters = new URLSearchParams({
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const method = oauth.ClientSecretBasic(SECRET);
    const pushed = await oauth.processPushedAuthorizationResponse(
      server,
      client,
      await oauth.pushedAuthorizationRequest(server, client, method, parameters, INSECURE),
    );
    const address = new URL(server.authorization_endpoint ?? '');
    address.search = new URLSearchParams({ client_id: CLIENT_ID, request_uri: pushed.request_uri }).toString();
    const response = oauth.validateAuthResponse(server, client, await callback(address), state);
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, method, response, CALLBACK, verifier, INSECURE),
    );
    expect(tokens.scope).toBe('openid');
  });

  describe('and request objects, from a client that registered its key', () => {
    let config: oidc.Configuration;
    let key: CryptoKey;

    beforeAll(async () => {
      const pair = await generateKeyPair('ES256');
      key = pair.privateKey;
      config = await oidc.dynamicClientRegistration(
        new URL(service.issuer),
        {
          client_uri: 'https://app.example/',
          redirect_uris: [CALLBACK],
          jwks: { keys: [await exportJWK(pair.publicKey)] },
          request_object_signing_alg: 'ES256',
          require_signed_request_object: true,
        },
        undefined,
        { execute: [oidc.allowInsecureRequests] },
      );
    });

    test.each(['JAR', 'JAR and PAR'])('%s with openid-client', async (kind) => {
      const verifier = oidc.randomPKCECodeVerifier();
      const state = oidc.randomState();
      const parameters = {
        redirect_uri: CALLBACK,
        scope: 'openid',
        state,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      const signed = await oidc.buildAuthorizationUrlWithJAR(config, parameters, key);
      expect([...signed.searchParams.keys()].toSorted()).toEqual(['client_id', 'request']);
      const address = kind === 'JAR' ? signed : await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams);
      const tokens = await oidc.authorizationCodeGrant(config, await callback(address), {
        pkceCodeVerifier: verifier,
        expectedState: state,
      });
      expect(tokens.claims()).toMatchObject({ iss: service.issuer });
    });

    test('JAR with oauth4webapi', async () => {
      const server = await discovered();
      const { client_id, client_secret } = config.clientMetadata();
      const client: oauth.Client = { client_id };
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const parameters = new URLSearchParams({
        redirect_uri: CALLBACK,
        response_type: 'code',
        scope: 'openid',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const request = await oauth.issueRequestObject(server, client, parameters, key);
      const address = new URL(server.authorization_endpoint ?? '');
      address.search = new URLSearchParams({ client_id, request }).toString();
      const response = oauth.validateAuthResponse(server, client, await callback(address), state);
      const method = oauth.ClientSecretBasic(String(client_secret));
      const tokens = await oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(server, client, method, response, CALLBACK, verifier, INSECURE),
      );
      expect(tokens.scope).toBe('openid');
    });
  });

  test('an invalid request fails in the library before the browser is redirected', async () => {
    const server = await discovered();
    const client: oauth.Client = { client_id: CLIENT_ID };
    const parameters = new URLSearchParams({ redirect_uri: 'https://app.example/other', response_type: 'code' });
    const method = oauth.ClientSecretBasic(SECRET);
    const response = await oauth.pushedAuthorizationRequest(server, client, method, parameters, INSECURE);
    await expect(oauth.processPushedAuthorizationResponse(server, client, response)).rejects.toMatchObject({
      error: 'invalid_request',
    });
  });
});
