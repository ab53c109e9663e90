import { expect } from 'vitest';
import { TOKEN_SECONDS } from '../homeserver-setup.ts';
import { type Sequence, signedIn } from './sequence.ts';

export const tokens: readonly Sequence[] = [
  {
    id: 'I-06',
    claim: 'a client with an expired token refreshes automatically and continues',
    run: async (world) => {
      await world.person('i06');
      const app = await signedIn(world, 'i06', { canRefresh: true });
      const { userId, deviceId, accessToken } = app.credentials;
      world.clock.advanceSeconds(TOKEN_SECONDS + 1);
      const from = world.front.requests.length;
      expect(await app.whoAmI()).toEqual({ userId, deviceId });
      const path = (name: string) => `/_${world.protocolName}/client/v3/${name}`;
      expect(world.front.requests.slice(from)).toEqual([
        { method: 'GET', path: path('account/whoami'), authorization: `Bearer ${accessToken}`, status: 401 },
        { method: 'POST', path: path('refresh'), authorization: `Bearer ${accessToken}`, status: 200 },
        { method: 'GET', path: path('account/whoami'), authorization: expect.any(String), status: 200 },
      ]);
    },
  },
  {
    id: 'I-07',
    claim: 'a refresh works the same in each version',
    run: async (world) => {
      await world.person('i07');
      const app = await signedIn(world, 'i07', { canRefresh: true });
      let { refreshToken } = app.credentials;
      for (const version of ['v1', 'r0', 'v3']) {
        const response = await fetch(`${world.front.address}/_${world.protocolName}/client/${version}/refresh`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ refresh_token: refreshToken }),
        });
        const pair: Record<string, unknown> = await response.json();
        expect([response.status, Object.keys(pair).sort()]).toEqual([
          200,
          ['access_token', 'expires_in_ms', 'refresh_token'],
        ]);
        refreshToken = String(pair['refresh_token']);
      }
    },
  },
];
