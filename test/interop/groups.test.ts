import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClaims } from '#domain/accounts/set-claims.ts';
import { setGroups } from '#domain/accounts/set-groups.ts';
import { parseId } from '#platform/base/ids.ts';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';

const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const SECRET = 'a-secret-of-at-least-16-characters';
const BOTH = '01JD3Q5Z8W2N4K6M7P9R0S1T5A';
/** Receives minimal ID tokens that only identify the user. */
const USERINFO_ONLY = '01JD3Q5Z8W2N4K6M7P9R0S1T5B';

let service: TestService;

beforeAll(async () => {
  const shared = {
    client_auth_method: 'client_secret_basic',
    client_secret: SECRET,
    redirect_uris: [CALLBACK],
    first_party: true,
    claims: { tenant: 'harbour', department: 'of the client' },
  };
  service = await startService({
    clients: [
      { client_id: BOTH, ...shared },
      { client_id: USERINFO_ONLY, id_token_claims: false, ...shared },
    ],
  });
});
afterAll(async () => await service.stop());

/** Creates an account with groups and a custom claim, or with neither. */
async function newUser(username: string, groups: readonly string[], claims: Readonly<Record<string, string>>) {
  const userId = await service.registerUser(username, PASSWORD);
  const user = parseId<'user'>(userId) ?? expect.fail('no id');
  await service.database.transaction(async (transaction) => {
    await setGroups(transaction, { user, groups, now: Date.now() });
    await setClaims(transaction, { user, claims, now: Date.now() });
  });
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username, password: PASSWORD });
  return { userId, browser };
}

/** Returns what openid-client passes to an application: the claims of the ID token and of userinfo. */
async function learn(clientId: string, scope: string, { userId, browser }: Awaited<ReturnType<typeof newUser>>) {
  const config = await oidc.discovery(new URL(service.issuer), clientId, undefined, oidc.ClientSecretBasic(SECRET), {
    execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
  });
  expect(config.serverMetadata().scopes_supported).toContain('groups');
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const { location = '' } = await browser.open(address.href);
  const tokens = await oidc.authorizationCodeGrant(config, new URL(location), { pkceCodeVerifier: verifier });
  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, userId);
  return { idToken: { ...tokens.claims() }, userinfo: { ...userinfo } };
}

describe('openid-client receives', () => {
  test('the groups and claims of an account, which override those of the client', async () => {
    const amira = await newUser('amira', ['staff', 'admins'], { department: 'of the account' });
    const { idToken, userinfo } = await learn(BOTH, 'openid profile groups', amira);
    const claims = { groups: ['admins', 'staff'], tenant: 'harbour', department: 'of the account' };
    expect(idToken).toMatchObject(claims);
    expect(userinfo).toMatchObject(claims);
  });

  test('an empty list for a user without groups', async () => {
    const { idToken, userinfo } = await learn(BOTH, 'openid groups', await newUser('bela', [], {}));
    expect(idToken['groups']).toEqual([]);
    expect(userinfo['groups']).toEqual([]);
  });

  test('no groups without requesting them, and no account claims without the profile scope', async () => {
    const chiara = await newUser('chiara', ['staff'], { department: 'of the account' });
    for (const claims of Object.values(await learn(BOTH, 'openid', chiara))) {
      expect(claims).not.toHaveProperty('groups');
      expect(claims).toMatchObject({ tenant: 'harbour', department: 'of the client' });
    }
  });

  test('them only from userinfo when the client has id_token_claims off', async () => {
    const dilan = await newUser('dilan', ['staff'], {});
    const { idToken, userinfo } = await learn(USERINFO_ONLY, 'openid profile groups', dilan);
    for (const name of ['groups', 'tenant', 'department']) expect(idToken).not.toHaveProperty(name);
    expect(userinfo).toMatchObject({ groups: ['staff'], tenant: 'harbour', department: 'of the client' });
  });
});
