import * as oauth from 'oauth4webapi';
import { beforeAll, describe, expect, test } from 'vitest';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { CALLBACK, METHODS, type MethodRow, type NewClient, SIGNED_OUT, startProvider } from './every-method.ts';

const INSECURE = { [oauth.allowInsecureRequests]: true };
let server: oauth.AuthorizationServer;

const provider = await sharedByTests(startProvider());

beforeAll(async () => {
  const issuer = new URL(provider.service.issuer);
  server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));
});

interface Registered {
  readonly client: oauth.Client;
  readonly method: oauth.ClientAuth;
}

async function register(row: MethodRow, { metadata, key }: NewClient): Promise<Registered> {
  const response = await oauth.dynamicClientRegistrationRequest(server, metadata, INSECURE);
  const client = await oauth.processDynamicClientRegistrationResponse(response);
  const secret = String(client['client_secret']);
  switch (row.method) {
    case 'client_secret_basic':
      return { client, method: oauth.ClientSecretBasic(secret) };
    case 'client_secret_post':
      return { client, method: oauth.ClientSecretPost(secret) };
    case 'client_secret_jwt':
      return { client, method: oauth.ClientSecretJwt(secret) };
    case 'private_key_jwt':
      return { client, method: oauth.PrivateKeyJwt(key) };
    case 'none':
      return { client, method: oauth.None() };
  }
}

async function parametersOf(verifier: string, state: string): Promise<URLSearchParams> {
  return new URLSearchParams({
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid profile',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
}

function authorizationAddress(query: Record<string, string>): URL {
  const address = new URL(server.authorization_endpoint ?? '');
  address.search = new URLSearchParams(query).toString();
  return address;
}

/** The unmodified library with its default options. */
describe.each(METHODS)('oauth4webapi with $name', (row) => {
  test('code with PKCE, userinfo, refresh, introspection, sign-out', async () => {
    const { client, method } = await register(row, await provider.newClient(row));
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const query = { client_id: client.client_id, ...Object.fromEntries(await parametersOf(verifier, state)) };
    const callback = await provider.authorize(authorizationAddress(query));
    const response = oauth.validateAuthResponse(server, client, callback, state);
    const result = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      method,
      response,
      CALLBACK,
      verifier,
      INSECURE,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, result, { requireIdToken: true });
    await oauth.validateApplicationLevelSignature(server, result, INSECURE);
    const info = await oauth.userInfoRequest(server, client, tokens.access_token, INSECURE);
    expect(await oauth.processUserInfoResponse(server, client, provider.userId, info)).toMatchObject({
      username: 'amira',
    });

    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, method, tokens.refresh_token ?? '', INSECURE),
    );
    expect(oauth.getValidatedIdTokenClaims(refreshed)?.sub).toBe(provider.userId);
    if (row.method !== 'none') {
      const own = await oauth.processClientCredentialsResponse(
        server,
        client,
        await oauth.clientCredentialsGrantRequest(server, client, method, new URLSearchParams(), INSECURE),
      );
      for (const { access_token } of [refreshed, own]) {
        const introspected = await oauth.introspectionRequest(server, client, method, access_token, INSECURE);
        const { active } = await oauth.processIntrospectionResponse(server, client, introspected);
        expect(active).toBe(true);
      }
    }
    const signOut = new URL(server.end_session_endpoint ?? '');
    signOut.search = new URLSearchParams({
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: SIGNED_OUT,
      state,
    }).toString();
    expect(await provider.open(signOut)).toBe(`${SIGNED_OUT}?state=${state}`);
  });

  test('JAR by PAR, DPoP from the request on, signed userinfo', async () => {
    const strict = await provider.newStrictClient(row);
    const { client, method } = await register(row, strict);
    const DPoP = oauth.DPoP(client, await oauth.generateKeyPair(row.alg));
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const request = await oauth.issueRequestObject(server, client, await parametersOf(verifier, state), strict.key);
    const options = { ...INSECURE, DPoP };
    const { request_uri } = await oauth.processPushedAuthorizationResponse(
      server,
      client,
      await oauth.pushedAuthorizationRequest(server, client, method, new URLSearchParams({ request }), options),
    );
    const callback = await provider.authorize(authorizationAddress({ client_id: client.client_id, request_uri }));
    const response = oauth.validateAuthResponse(server, client, callback, state);
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, method, response, CALLBACK, verifier, options),
    );
    expect(tokens.token_type).toBe('dpop');
    const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    expect(await oauth.processUserInfoResponse(server, client, provider.userId, info)).toMatchObject({
      preferred_username: 'amira',
    });
    await oauth.validateApplicationLevelSignature(server, info, INSECURE);
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, method, tokens.refresh_token ?? '', options),
    );
    expect(refreshed.token_type).toBe('dpop');
  });

  test('device grant, revocation', async () => {
    const { client, method } = await register(row, await provider.newClient(row));
    const device = await oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(server, client, method, { scope: 'openid' }, INSECURE),
    );
    await provider.approveDevice(device.verification_uri_complete ?? '');
    const tokens = await oauth.processDeviceCodeResponse(
      server,
      client,
      await oauth.deviceCodeGrantRequest(server, client, method, device.device_code, INSECURE),
    );
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(provider.userId);
    const revocation = await oauth.revocationRequest(server, client, method, tokens.refresh_token ?? '', INSECURE);
    await oauth.processRevocationResponse(revocation);
    const dead = await oauth.userInfoRequest(server, client, tokens.access_token, INSECURE);
    await expect(oauth.processUserInfoResponse(server, client, provider.userId, dead)).rejects.toThrow();
  });
});
