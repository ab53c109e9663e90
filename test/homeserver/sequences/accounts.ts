import { expect } from 'vitest';
import { type HomeserverSetup, PASSWORD } from '../homeserver-setup.ts';
import { expectRefusal, refusalOf, type Sequence, signedIn } from './sequence.ts';

/** Signs a client in that does not refresh automatically. @returns the refresh token */
async function refreshToken(world: HomeserverSetup, user: string): Promise<string> {
  const { body } = await world.plain.tryLogin(user, PASSWORD, { refresh_token: true });
  return String(body['refresh_token']);
}

/** The homeserver caches introspection responses, so every check uses a token that it has not seen. */
export const accounts: readonly Sequence[] = [
  {
    id: 'I-20',
    claim: 'a locked user can only sign out, and continues in the same sessions once unlocked',
    run: async (world) => {
      await world.person('i20');
      const [asks, leaves, waits] = [
        await signedIn(world, 'i20'),
        await signedIn(world, 'i20'),
        await signedIn(world, 'i20'),
      ];
      const refreshes = await refreshToken(world, 'i20');
      await world.lock('i20');
      await expectRefusal(asks.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      const refused = await refusalOf(waits.refresh(refreshes));
      expect(refused).toMatchObject({ status: 401, errcode: 'M_USER_LOCKED', members: { soft_logout: true } });
      await expectRefusal(signedIn(world, 'i20'), 401, 'M_USER_LOCKED');
      expect(await leaves.logOut()).toEqual({});
      await world.settle();
      expect(await world.standing('i20')).toMatchObject({ isLocked: true, isDeactivated: false });
      await world.unlock('i20');
      expect(await waits.whoAmI()).toMatchObject({ deviceId: waits.credentials.deviceId });
      await waits.refresh(refreshes);
      await world.settle();
      expect(await world.standing('i20')).toMatchObject({ isLocked: false, isDeactivated: false });
      expect(await world.devices('i20')).not.toContain(leaves.credentials.deviceId);
    },
  },
  {
    id: 'I-21',
    claim: 'a deactivated and erased user is signed out immediately, and at the homeserver once it is reachable',
    run: async (world) => {
      await world.person('i21');
      const [seen, unseen] = [await signedIn(world, 'i21'), await signedIn(world, 'i21')];
      await seen.whoAmI();
      const refreshes = await refreshToken(world, 'i21');
      await world.outage(async () => {
        await world.lock('i21', { deactivate: true, erase: true });
        expect(await world.sessions('i21')).toEqual([]);
        await expectRefusal(unseen.refresh(refreshes), 401, 'M_UNKNOWN_TOKEN');
        await expectRefusal(unseen.logOut(), 401, 'M_UNKNOWN_TOKEN');
        await expectRefusal(signedIn(world, 'i21'), 403, 'M_FORBIDDEN');
        // Fails and is retried.
        await world.settle();
      });
      await expectRefusal(unseen.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      await world.settle();
      expect(await world.standing('i21')).toMatchObject({ isDeactivated: true, isErased: true });
      expect(await world.devices('i21')).toEqual([]);
      await expectRefusal(seen.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      await expectRefusal(signedIn(world, 'i21'), 403, 'M_FORBIDDEN');
    },
  },
  {
    id: 'I-21',
    claim: 'a user who was only deactivated can be reactivated',
    run: async (world) => {
      await world.person('i21-back');
      await signedIn(world, 'i21-back');
      await world.lock('i21-back', { deactivate: true });
      await world.settle();
      expect(await world.standing('i21-back')).toMatchObject({ isDeactivated: true, isErased: false });
      await expectRefusal(signedIn(world, 'i21-back'), 403, 'M_USER_DEACTIVATED');
      await world.unlock('i21-back', { reactivate: true });
      await world.settle();
      expect(await world.standing('i21-back')).toMatchObject({ isDeactivated: false, isLocked: false });
      const app = await signedIn(world, 'i21-back');
      expect(await app.whoAmI()).toMatchObject({ deviceId: app.credentials.deviceId });
      expect(await world.devices('i21-back')).toEqual([app.credentials.deviceId]);
    },
  },
  {
    id: 'I-22',
    claim: 'without a homeserver no device sign-in succeeds, and everything else continues',
    run: async (world) => {
      await world.person('i22');
      const [leaves, stays] = [await signedIn(world, 'i22'), await signedIn(world, 'i22')];
      const refreshes = await refreshToken(world, 'i22');
      await world.settle();
      const before = await world.sessions('i22');
      const from = world.standIn?.requests.length;
      await world.outage(async () => {
        const response = await world.plain.tryLogin('i22', PASSWORD);
        expect([response.status, response.body['errcode'], response.headers.get('retry-after')]).toEqual([
          503,
          'M_UNKNOWN',
          '5',
        ]);
        expect(await world.sessions('i22')).toEqual(before);
        await stays.refresh(refreshes);
        expect(await leaves.logOut()).toEqual({});
        expect(await world.introspect(stays.credentials.accessToken)).toMatchObject({ active: true, username: 'i22' });
        expect(await world.introspect(leaves.credentials.accessToken)).toEqual({ active: false });
        await world.signInBrowser('i22');
        await world.settle();
      });
      await world.settle();
      const gone = leaves.credentials.deviceId;
      expect(await world.devices('i22')).toEqual(before.filter((deviceId) => deviceId !== gone));
      const synced = world.standIn?.requests.slice(from).filter(({ path }) => path.endsWith('/sync_devices'));
      expect(synced ?? [{}]).toHaveLength(1);
      expect(await stays.whoAmI()).toMatchObject({ deviceId: stays.credentials.deviceId });
    },
  },
];
