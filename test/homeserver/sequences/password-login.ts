import { expect } from 'vitest';
import { PASSWORD } from '../homeserver-setup.ts';
import { expectRefusal, passwordOf, type Sequence } from './sequence.ts';

export const passwordLogin: readonly Sequence[] = [
  {
    id: 'I-01',
    claim: 'a client discovers the sign-in methods',
    run: async (world) => {
      expect(await world.app().loginFlows()).toEqual([
        { type: 'm.login.password' },
        {
          type: 'm.login.sso',
          oauth_aware_preferred: true,
          [`org.${world.protocolName}.msc3824.delegated_oidc_compatibility`]: true,
        },
        { type: 'm.login.token' },
      ]);
    },
  },
  {
    id: 'I-02',
    claim: 'a user signs in with name and password, and the homeserver knows the client and the user',
    run: async (world) => {
      await world.person('i02');
      const app = world.app();
      const { userId, deviceId } = await app.logIn(passwordOf('i02', { deviceName: 'Phone' }));
      // The device existed before the login response: no job has run since.
      expect(await world.devices('i02')).toEqual([deviceId]);
      expect(userId).toBe(world.userId('i02'));
      expect(await app.whoAmI()).toEqual({ userId, deviceId });
      expect(await app.devices()).toEqual([{ id: deviceId, name: 'Phone' }]);
    },
  },
  {
    id: 'I-03',
    claim: 'accepts the full user id and the deprecated member, but no user id of another server',
    run: async (world) => {
      await world.person('i03');
      const { userId } = await world.app().logIn(passwordOf(world.userId('i03')));
      expect(userId).toBe(world.userId('i03'));
      await expectRefusal(world.app().logIn(passwordOf('@i03:elsewhere.example')), 403, 'M_FORBIDDEN');
      await expectRefusal(world.app().logIn({ ...passwordOf('i03'), password: 'wrong' }), 403, 'M_FORBIDDEN');
      expect(await world.app().logInByOldMember('i03', PASSWORD)).toMatchObject({ userId });
    },
  },
  {
    id: 'I-04',
    claim: 'accepts an email address as name where that is allowed',
    run: async (world) => {
      await world.person('i04');
      await world.addEmail('i04', 'i04@example.org');
      const identifier = { type: 'm.id.thirdparty', medium: 'email', address: 'i04@example.org' } as const;
      const { userId } = await world.app().logIn({ identifier, password: PASSWORD });
      expect(userId).toBe(world.userId('i04'));
      const without = await world.alsoWith({ account: { login_with_email_allowed: false } });
      try {
        await expectRefusal(without.app().logIn({ identifier, password: PASSWORD }), 400, 'M_UNKNOWN');
      } finally {
        await without.stop();
      }
    },
  },
  {
    id: 'I-05',
    claim: 'ignores an earlier token sent with a login',
    run: async (world) => {
      await world.person('i05');
      const app = world.app();
      const first = await app.logInByOldMember('i05', PASSWORD);
      const second = await app.logInByOldMember('i05', PASSWORD);
      expect(second.accessToken).not.toBe(first.accessToken);
      const sent = world.front.requests.filter(({ authorization }) => authorization === `Bearer ${first.accessToken}`);
      expect(sent).toEqual([expect.objectContaining({ method: 'POST', status: 200 })]);
    },
  },
  {
    id: 'I-11',
    claim: 'a second login on a device ends the first, and keeps the device and its name',
    run: async (world) => {
      await world.person('i11');
      const deviceId = 'KITCHEN';
      const first = world.app();
      await first.logIn(passwordOf('i11', { deviceId, deviceName: 'Kitchen' }));
      const second = world.app();
      await second.logIn(passwordOf('i11', { deviceId, deviceName: 'Another name' }));
      await expectRefusal(first.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      await world.settle();
      expect(await second.whoAmI()).toMatchObject({ deviceId });
      expect(await second.devices()).toEqual([{ id: deviceId, name: 'Kitchen' }]);
      expect(await world.sessions('i11')).toEqual([deviceId]);
    },
  },
  {
    id: 'I-23',
    claim: 'a user signs in before being provisioned at the homeserver',
    run: async (world) => {
      await world.register('i23');
      const app = world.app();
      const { userId, deviceId } = await app.logIn(passwordOf('i23'));
      expect(await app.whoAmI()).toEqual({ userId, deviceId });
      await world.settle();
      expect(await world.devices('i23')).toEqual([deviceId]);
    },
  },
  {
    id: 'I-25',
    claim: 'accepts the device names and ids that the homeserver accepts',
    run: async (world) => {
      await world.person('i25');
      const app = world.app();
      const deviceId = 'ID with spaces / and % & + ä';
      await app.logIn(passwordOf('i25', { deviceId, deviceName: 'x'.repeat(200) }));
      expect(await app.whoAmI()).toMatchObject({ deviceId });
      expect(await app.devices()).toEqual([{ id: deviceId, name: 'x'.repeat(100) }]);
      const tooLong = passwordOf('i25', { deviceId: 'x'.repeat(256) });
      await expectRefusal(world.app().logIn(tooLong), 400, 'M_INVALID_PARAM');
      const key = 'BgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA';
      await app.uploadCrossSigningKey(key);
      await expectRefusal(world.app().logIn(passwordOf('i25', { deviceId: key })), 403, 'M_FORBIDDEN');
      expect(await world.sessions('i25')).toEqual([deviceId]);
    },
  },
];
