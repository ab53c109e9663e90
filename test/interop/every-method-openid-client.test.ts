import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { CALLBACK, METHODS, type MethodRow, type NewClient, SIGNED_OUT, startProvider } from './every-method.ts';

const provider = await sharedByTests(startProvider());

function authentication({ method }: MethodRow, key: oidc.CryptoKey): oidc.ClientAuth {
  switch (method) {
    case 'client_secret_basic':
      return oidc.ClientSecretBasic();
    case 'client_secret_post':
      return oidc.ClientSecretPost();
    case 'client_secret_jwt':
      return oidc.ClientSecretJwt();
    case 'private_key_jwt':
      return oidc.PrivateKeyJwt(key);
    case 'none':
      return oidc.None();
  }
}

/** Configured to verify every signature, even of responses received over TLS. */
async function register(row: MethodRow, { metadata, key }: NewClient): Promise<oidc.Configuration> {
  const execute = [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks];
  const issuer = new URL(provider.service.issuer);
  return await oidc.dynamicClientRegistration(issuer, metadata, authentication(row, key), { execute });
}

/** The unmodified libraries with their default options. */
describe.each(METHODS)('openid-client with $name', (row) => {
  test('code with PKCE, userinfo, refresh, introspection, sign-out', async () => {
    const config = await register(row, await provider.newClient(row));
    const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()];
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    const tokens = await oidc.authorizationCodeGrant(config, await provider.authorize(address), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()?.sub).toBe(provider.userId);
    expect(await oidc.fetchUserInfo(config, tokens.access_token, provider.userId)).toMatchObject({ username: 'amira' });

    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(refreshed.claims()?.sub).toBe(provider.userId);
    if (row.method !== 'none') {
      const active = await oidc.tokenIntrospection(config, refreshed.access_token);
      expect(active).toMatchObject({ active: true, sub: provider.userId });
      const own = await oidc.clientCredentialsGrant(config, {});
      expect(await oidc.tokenIntrospection(config, own.access_token)).toMatchObject({ active: true });
    }
    const signOut = oidc.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: SIGNED_OUT,
      state,
    });
    expect(await provider.open(signOut)).toBe(`${SIGNED_OUT}?state=${state}`);
  });

  test('JAR by PAR, DPoP from the request on, signed userinfo', async () => {
    const client = await provider.newStrictClient(row);
    const config = await register(row, client);
    const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair(row.alg));
    const [verifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
    const parameters = {
      redirect_uri: CALLBACK,
      scope: 'openid profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    };
    const signed = await oidc.buildAuthorizationUrlWithJAR(config, parameters, client.key);
    const address = await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams, { DPoP });
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const callback = await provider.authorize(address);
    const tokens = await oidc.authorizationCodeGrant(config, callback, checks, undefined, { DPoP });
    expect(tokens).toMatchObject({ token_type: 'dpop', scope: 'openid profile' });
    const info = await oidc.fetchUserInfo(config, tokens.access_token, provider.userId, { DPoP });
    expect(info).toMatchObject({ iss: provider.service.issuer, preferred_username: 'amira' });
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
    expect(refreshed.token_type).toBe('dpop');
    if (row.method === 'none') return;
    const own = await oidc.clientCredentialsGrant(config, {}, { DPoP });
    expect(await oidc.tokenIntrospection(config, own.access_token)).toMatchObject({
      active: true,
      cnf: { jkt: await DPoP.calculateThumbprint() },
    });
  });

  test('device grant, revocation', async () => {
    const config = await register(row, await provider.newClient(row));
    const device = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
    await provider.approveDevice(device.verification_uri_complete ?? '');
    const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
    expect(tokens.claims()?.sub).toBe(provider.userId);
    await oidc.tokenRevocation(config, tokens.refresh_token ?? '');
    await expect(oidc.fetchUserInfo(config, tokens.access_token, provider.userId)).rejects.toThrow();
  });
});
