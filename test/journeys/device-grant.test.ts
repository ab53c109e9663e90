import * as oidc from 'openid-client';
import { beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const PASSWORD = 'correct horse battery staple';

const service = await sharedByTests(
  startService({
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'none',
        client_name: 'Harbour command line',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      },
    ],
  }),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
});

/** A device with an unmodified library, and a user with a phone. */
test('an unmodified OpenID client signs a user in on a device (RFC 8628)', async () => {
  const config = await oidc.discovery(new URL(service.issuer), CLIENT_ID, undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  });
  expect(config.serverMetadata().grant_types_supported).toContain('urn:ietf:params:oauth:grant-type:device_code');
  const device = await oidc.initiateDeviceAuthorization(config, { scope: 'openid profile' });
  expect(device.expires_in).toBe(1200);

  const phone = new Browser({ listener: service.address, publicBase: service.publicBase });
  await phone.open(device.verification_uri);
  await phone.submit({ code: device.user_code.toLowerCase() });
  await phone.follow();
  await phone.submit({ username: 'amira', password: PASSWORD });
  const asking = await phone.follow();
  expect(asking.text).toContain('Harbour command line');
  expect(asking.text).toContain(device.user_code);
  await phone.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(asking.url).pathname });
  expect((await phone.follow()).text).toContain('Your device is signed in');

  const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 });
  const claims = tokens.claims();
  expect(claims).toMatchObject({ preferred_username: 'amira', aud: CLIENT_ID });
  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
  expect(userinfo).toMatchObject({ preferred_username: 'amira' });
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
  await oidc.tokenRevocation(config, refreshed.access_token);
  await expect(oidc.fetchUserInfo(config, refreshed.access_token, oidc.skipSubjectCheck)).rejects.toThrow();
});

test('a denial reaches the library as access_denied', async () => {
  const config = await oidc.discovery(new URL(service.issuer), CLIENT_ID, undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  });
  const device = await oidc.initiateDeviceAuthorization(config, {});
  const phone = new Browser({ listener: service.address, publicBase: service.publicBase });
  await phone.get('/login');
  await phone.submit({ username: 'amira', password: PASSWORD });
  await phone.open(device.verification_uri_complete ?? '');
  await phone.submit();
  const asking = await phone.follow();
  await phone.submit({ action: 'reject' }, { action: new URL(asking.url).pathname });
  await expect(oidc.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 })).rejects.toMatchObject({
    error: 'access_denied',
  });
});
