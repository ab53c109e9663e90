import { expect } from 'vitest';
import { z } from 'zod';
import { chatNames } from '#protocol/chat/names.ts';
import type { ChatApp } from '#test/support/chat-apps/chat-app.ts';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { actionTarget } from '../../../web/frame/account-action.ts';
import { type HomeserverSetup, PASSWORD } from '../homeserver-setup.ts';
import { expectRefusal, refusalOf, type Sequence, signedIn } from './sequence.ts';

/** The queries of the account pages. `tools/browser/chat-account-journey.js` runs them in a real browser. */
const FIND = `query DeviceRedirect($userId: ID!, $deviceId: String!) {
  session(userId: $userId, deviceId: $deviceId) { ... on Node { id } }
}`;
const END = `mutation EndCompatSession($id: ID!) {
  endCompatSession(input: { compatSessionId: $id }) { status }
}`;
const ALLOW = `mutation AllowCrossSigningReset($userId: ID!) {
  allowUserCrossSigningReset(input: { userId: $userId }) { user { id } }
}`;
const RENAME = `mutation SetCompatSessionName($id: ID!, $name: String!) {
  setCompatSessionName(input: { compatSessionId: $id, humanName: $name }) { status }
}`;
const SET_NAME = `mutation SetDisplayName($userId: ID!, $name: String) {
  setDisplayName(input: { userId: $userId, displayName: $name }) { status }
}`;

const KEYS = ['BgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA', 'CgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA'] as const;

/** A user's session in the account pages. */
interface Area {
  readonly userId: string;
  /** @returns the data of a response without errors */
  ask(query: string, variables: object): Promise<unknown>;
}

/** Opens a client's link, signs the user in and returns to the link. */
async function openSignedOut(world: HomeserverSetup, username: string, address: string): Promise<Area> {
  const browser = world.browser();
  const login = await browser.open(address);
  expect(new URL(login.url).pathname).toBe('/login');
  const { status, location = '' } = await browser.submit({ username, password: PASSWORD });
  expect([status, new URL(location).href]).toEqual([303, new URL(address).href]);
  expect((await browser.follow()).status).toBe(200);
  return await areaOf(new GraphqlClient(world.service, {}, browser));
}

async function areaOf(client: GraphqlClient): Promise<Area> {
  const ask = async (query: string, variables: object) => {
    const { data, errors } = await client.query(query, variables);
    expect(errors).toEqual([]);
    return data;
  };
  const named = z.object({ viewer: z.object({ id: z.string() }) });
  const { viewer } = named.parse(await ask('query CurrentViewer { viewer { ... on User { id } } }', {}));
  return { userId: viewer.id, ask };
}

/** Returns the ID of the session on a device, as the account pages find it. */
async function sessionOn({ ask, userId }: Area, deviceId: string): Promise<string> {
  const found = z.object({ session: z.object({ id: z.string() }) });
  return found.parse(await ask(FIND, { userId, deviceId })).session.id;
}

/** Returns the URL for a client that may not replace its keys. */
async function resetAddress(app: ChatApp, key: string): Promise<string> {
  const { status, members } = await refusalOf(app.uploadCrossSigningKey(key));
  expect(status).toBe(401);
  const params = z.record(z.string(), z.object({ url: z.url() })).parse(members['params']);
  const [url, ...others] = new Set(Object.values(params).map((param) => param.url));
  expect(others).toEqual([]);
  return url ?? expect.fail('no address');
}

export const accountArea: readonly Sequence[] = [
  ...(['session_end', 'device_delete'] as const).map((action) => ({
    id: 'I-18',
    claim: `the address of ${action} leads who is signed out to that device, and the client on it is dead when they end it`,
    run: async (world: HomeserverSetup) => {
      const username = `i18-${action}`;
      await world.person(username);
      const deviceId = 'PHONE to/end';
      const [app, stays] = [await signedIn(world, username, { deviceId }), await signedIn(world, username)];
      await app.whoAmI();
      const named = `${chatNames(world.protocolName).actionPrefix}${action}`;
      const address = `${world.service.publicBase}account/?action=${named}&device_id=${encodeURIComponent(deviceId)}`;
      const area = await openSignedOut(world, username, address);
      // Opening the link does not end the session.
      expect(actionTarget(new URL(address).searchParams, world.protocolName)).toBe(
        'devices/PHONE%20to%2Fend?dialog=end',
      );
      expect(await app.whoAmI()).toMatchObject({ deviceId });
      const id = await sessionOn(area, deviceId);
      expect(await area.ask(END, { id })).toEqual({ endCompatSession: { status: 'ENDED' } });
      await world.settle();
      await expectRefusal(app.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      expect(await world.devices(username)).toEqual([stays.credentials.deviceId]);
      expect(await stays.whoAmI()).toMatchObject({ deviceId: stays.credentials.deviceId });
    },
  })),
  {
    id: 'I-19',
    claim: 'a new cross-signing key is accepted once the user has allowed it at the URL from the homeserver',
    run: async (world) => {
      await world.person('i19');
      const app = await signedIn(world, 'i19');
      await app.uploadCrossSigningKey(KEYS[0]);
      const address = await resetAddress(app, KEYS[1]);
      const { searchParams } = new URL(address);
      expect(actionTarget(searchParams, world.protocolName)).toBe('reset-cross-signing?deepLink=true');
      const area = await openSignedOut(world, 'i19', address);
      // Opening the link does not approve the reset.
      expect(await resetAddress(app, KEYS[1])).toBe(address);
      await area.ask(ALLOW, { userId: area.userId });
      await app.uploadCrossSigningKey(KEYS[1]);
    },
  },
  {
    id: '18.4',
    claim: 'a display name changed or removed here is updated at the homeserver',
    run: async (world) => {
      await world.person('named');
      const area = await areaOf(await GraphqlClient.signedIn(world.service, 'named', PASSWORD));
      for (const name of ['Nadia Ö. 🌻', 'Nadia']) {
        expect(await area.ask(SET_NAME, { userId: area.userId, name })).toEqual({ setDisplayName: { status: 'SET' } });
        expect(await world.displayName('named')).toBe(name);
      }
      await area.ask(SET_NAME, { userId: area.userId, name: null });
      expect(await world.displayName('named')).toBeUndefined();
    },
  },
  {
    id: '18.4',
    claim: 'a device renamed here has that name for every client of the user once the homeserver is available',
    run: async (world) => {
      await world.person('renamed');
      const [app, other] = [
        await signedIn(world, 'renamed', { deviceId: 'TABLET', deviceName: 'Tablet' }),
        await signedIn(world, 'renamed', { deviceId: 'LAPTOP', deviceName: 'Laptop' }),
      ];
      const area = await areaOf(await GraphqlClient.signedIn(world.service, 'renamed', PASSWORD));
      const id = await sessionOn(area, 'TABLET');
      const rename = async (name: string) => {
        expect(await area.ask(RENAME, { id, name })).toEqual({ setCompatSessionName: { status: 'UPDATED' } });
        await world.settle();
      };
      const names = async (of: ChatApp) => new Map((await of.devices()).map((device) => [device.id, device.name]));
      await rename('Küche');
      expect(await names(other)).toEqual(
        new Map([
          ['TABLET', 'Küche'],
          ['LAPTOP', 'Laptop'],
        ]),
      );
      await world.outage(async () => await rename('Kitchen & hall'));
      await world.settle();
      expect((await names(app)).get('TABLET')).toBe('Kitchen & hall');
    },
  },
];
