import { expect } from 'vitest';
import { expectRefusal, type Sequence, signedIn } from './sequence.ts';

export const sessionEnds: readonly Sequence[] = [
  {
    id: 'I-08',
    claim: 'a lost response can be repeated, and a reused token ends the session',
    run: async (world) => {
      await world.person('i08');
      const app = await signedIn(world, 'i08', { canRefresh: true });
      const first = app.credentials;
      const lost = await app.refresh(first.refreshToken);
      world.clock.advanceSeconds(20);
      const again = await app.refresh(first.refreshToken);
      world.clock.advanceSeconds(11);
      const late = await app.refresh(first.refreshToken);
      expect([again.refreshToken, late.refreshToken]).toEqual([lost.refreshToken, lost.refreshToken]);
      const other = world.app();
      other.use({ ...first, accessToken: late.accessToken, refreshToken: undefined });
      expect(await other.whoAmI()).toMatchObject({ deviceId: first.deviceId });
      world.clock.advanceSeconds(31);
      await expectRefusal(app.refresh(first.refreshToken), 401, 'M_UNKNOWN_TOKEN');
      await world.settle();
      expect(await world.devices('i08')).toEqual([]);
      await expectRefusal(other.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
    },
  },
  {
    id: 'I-09',
    claim: 'a client that signs out is unknown at the homeserver as well, despite its token cache',
    run: async (world) => {
      await world.person('i09');
      const app = await signedIn(world, 'i09');
      await app.whoAmI();
      expect(await app.logOut()).toEqual({});
      await world.settle();
      await expectRefusal(app.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      await expectRefusal(app.logOut(), 401, 'M_UNKNOWN_TOKEN');
      expect(await world.devices('i09')).toEqual([]);
    },
  },
  {
    id: 'I-10',
    claim: 'one client signs out all clients',
    run: async (world) => {
      await world.person('i10');
      const [one, two] = [await signedIn(world, 'i10'), await signedIn(world, 'i10')];
      await one.whoAmI();
      await two.whoAmI();
      expect(await world.devices('i10')).toEqual([one, two].map((app) => app.credentials.deviceId).sort());
      expect(await one.logOutEverywhere()).toEqual({});
      await world.settle();
      await expectRefusal(one.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      await expectRefusal(two.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      expect(await world.devices('i10')).toEqual([]);
    },
  },
];
