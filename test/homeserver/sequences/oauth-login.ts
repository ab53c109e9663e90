import { expect } from 'vitest';
import type { ChatApp } from '#test/support/chat-apps/chat-app.ts';
import { signInWithLibrary } from '#test/support/chat-apps/matrix-js-sdk-oauth.ts';
import { OAuthRequests, type OAuthTokens } from '#test/support/chat-apps/oauth-requests.ts';
import { type HomeserverSetup, PASSWORD } from '../homeserver-setup.ts';
import { expectRefusal, type Sequence } from './sequence.ts';

const STABLE = 'urn:matrix:client:';
const UNSTABLE = 'urn:matrix:org.matrix.msc2967.client:';

async function requests({ service }: HomeserverSetup): Promise<OAuthRequests> {
  return await OAuthRequests.discover(service.issuer);
}

function scopes(prefix: string, deviceId: string): string {
  return `${prefix}api:* ${prefix}device:${deviceId}`;
}

/** Returns a client that uses these tokens. */
function appWith(world: HomeserverSetup, username: string, { deviceId, accessToken }: OAuthTokens): ChatApp {
  const app = world.app();
  app.use({ userId: world.userId(username), deviceId, accessToken, refreshToken: undefined });
  return app;
}

/** Expects that the homeserver knows the user and device until the client revokes its token. */
async function expectSession(world: HomeserverSetup, username: string, tokens: OAuthTokens): Promise<void> {
  const app = appWith(world, username, tokens);
  const { deviceId } = tokens;
  expect(await app.whoAmI()).toEqual({ userId: world.userId(username), deviceId });
  expect(await world.devices(username)).toEqual([deviceId]);
  await (await requests(world)).revoke(tokens);
  await world.settle();
  await expectRefusal(app.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
  expect(await world.devices(username)).toEqual([]);
}

export const oauthLogin: readonly Sequence[] = [
  {
    id: 'I-15',
    claim:
      'the library discovers the provider at the homeserver, registers, signs in by OAuth with its own device, refreshes and signs out',
    run: async (world) => {
      await world.person('i15');
      const tokens = await signInWithLibrary({
        homeserver: world.front.address,
        browser: await world.signInBrowser('i15'),
      });
      expect(tokens.deviceId).toMatch(/^[A-Za-z0-9]{10}$/);
      await expectSession(world, 'i15', tokens);
    },
  },
  {
    id: 'I-15',
    claim: 'newer clients request only the stable scopes',
    run: async (world) => {
      await world.person('i15-stable');
      const oauth = await requests(world);
      const clientId = await oauth.register();
      const browser = await world.signInBrowser('i15-stable');
      const scope = scopes(STABLE, 'STABLE0123');
      const tokens = await oauth.signInByCode({ clientId, browser, scope });
      expect(tokens).toMatchObject({ scope, deviceId: 'STABLE0123' });
      await expectSession(world, 'i15-stable', tokens);
    },
  },
  {
    id: 'I-16',
    claim: 'a client without a keyboard signs in with a code entered on another device',
    run: async (world) => {
      await world.person('i16');
      const oauth = await requests(world);
      const clientId = await oauth.register();
      for (const prefix of [UNSTABLE, STABLE]) {
        const browser = await world.signInBrowser('i16');
        const login = { clientId, browser, scope: scopes(prefix, 'TELEVISION') };
        const tokens = await oauth.signInByDeviceCode(login, (seconds) => world.clock.advanceSeconds(seconds));
        await expectSession(world, 'i16', tokens);
      }
    },
  },
  {
    id: 'I-17',
    claim: "an OAuth sign-in on the device of an older client ends that client's session, and keeps the device",
    run: async (world) => {
      await world.person('i17');
      const old = world.app();
      const deviceId = 'SHAREDDEVICE';
      await old.logIn({
        identifier: { type: 'm.id.user', user: 'i17' },
        password: PASSWORD,
        deviceId,
        deviceName: 'Tablet',
      });
      const oauth = await requests(world);
      const clientId = await oauth.register();
      const browser = await world.signInBrowser('i17');
      const tokens = await oauth.signInByCode({ clientId, browser, scope: scopes(STABLE, deviceId) });
      await world.settle();
      await expectRefusal(old.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      const app = appWith(world, 'i17', tokens);
      expect(await app.whoAmI()).toMatchObject({ deviceId });
      expect(await app.devices()).toEqual([{ id: deviceId, name: 'Tablet' }]);
      expect(await world.sessions('i17')).toEqual([]);
    },
  },
];
