import { expect } from 'vitest';
import { Browser, type Page } from '#test/support/browser.ts';
import { NEW_PASSWORD, registerCompletely } from '#test/support/registering.ts';
import { type HomeserverSetup, PASSWORD, PROVIDER } from '../homeserver-setup.ts';
import { expectRefusal, type Sequence } from './sequence.ts';

const CLIENT = 'https://app.example/signed-in';
/** A repeated token is harmless within this period: a double click. */
const REPLAY_SECONDS = 20;

/** Opens the library's URL. @returns where the browser is redirected to */
async function begin(url: string): Promise<string> {
  const { status, headers } = await fetch(url, { redirect: 'manual' });
  expect(status).toBe(303);
  const location = headers.get('location') ?? expect.fail('no location');
  // The test's client uses the listener's address, so the service first redirects it to the same page at the public
  // base.
  return new URL(location).pathname === new URL(url).pathname ? await beginAtHome(location) : location;
}

async function beginAtHome(url: string): Promise<string> {
  const { protocol, port } = new URL(url);
  const { location } = await new Browser({
    listener: `${protocol}//127.0.0.1:${port}`,
    publicBase: new URL(url).origin,
  }).get(url);
  return location ?? expect.fail('no location');
}

/** Confirms the current page. @returns the client's URL */
async function agree(browser: Browser): Promise<string> {
  const { pathname } = new URL(browser.page.url);
  const { status, location } = await browser.submit({}, { action: pathname });
  expect([pathname, status]).toEqual([expect.stringMatching(/^\/complete-compat-sso\//), 303]);
  return location ?? expect.fail('no location');
}

function tokenOf(address: string): string {
  return new URL(address).searchParams.get('loginToken') ?? expect.fail(`no token in ${address}`);
}

/** Signs a user in in a browser. @returns a login token */
async function loginToken(world: HomeserverSetup, username: string): Promise<string> {
  const browser = await world.signInBrowser(username);
  await browser.open(await begin(world.app().ssoUrl(CLIENT)));
  return tokenOf(await agree(browser));
}

function addressOf({ location }: Page): string {
  const { pathname, searchParams } = new URL(location ?? '');
  return `${pathname}?kind=${searchParams.get('kind') ?? ''}`;
}

export const ssoLogin: readonly Sequence[] = [
  {
    id: 'I-05',
    claim: 'ignores an earlier token sent with one from a browser',
    run: async (world) => {
      await world.person('i05-sso');
      const app = world.app();
      const { accessToken } = await app.logInByOldMember('i05-sso', PASSWORD);
      const again = await app.logInWithToken(await loginToken(world, 'i05-sso'));
      expect(again).toMatchObject({ userId: world.userId('i05-sso') });
      expect(again.accessToken).not.toBe(accessToken);
    },
  },
  {
    id: 'I-12',
    claim: 'a user registers in the browser and continues in the client, whose token is valid for one sign-in',
    run: async (world) => {
      const browser = world.browser();
      const begun = new URL(await begin(world.app().ssoUrl(CLIENT, { action: 'register' })));
      const joining = new URL((await browser.get(begun.href)).location ?? '');
      expect(joining.pathname).toBe('/register');
      expect(joining.searchParams.get('kind')).toBe('continue_compat_sso_login');
      await registerCompletely(browser, 'i12', joining.search);
      await browser.follow();
      const address = await agree(browser);
      expect(address).toMatch(/^https:\/\/app\.example\/signed-in\?loginToken=[A-Za-z0-9]{32}$/);
      const app = world.app();
      const { userId, deviceId } = await app.logInWithToken(tokenOf(address));
      expect(userId).toBe(world.userId('i12'));
      app.use(app.credentials);
      expect(await app.whoAmI()).toEqual({ userId, deviceId });
      world.clock.advanceSeconds(REPLAY_SECONDS + 1);
      await expectRefusal(world.app().logInWithToken(tokenOf(address)), 403, 'M_FORBIDDEN');
      await world.settle();
      await expectRefusal(app.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      expect(await world.devices('i12')).toEqual([]);
      const later = { identifier: { type: 'm.id.user', user: 'i12' }, password: NEW_PASSWORD } as const;
      expect(await world.app().logIn(later)).toMatchObject({ userId });
    },
  },
  {
    id: 'I-13',
    claim: "adds the token to the client's URL, which is otherwise unchanged",
    run: async (world) => {
      await world.person('i13');
      const browser = await world.signInBrowser('i13');
      for (const [requested, returned] of [
        ['im.example.app://signed-in/here', 'im.example.app://signed-in/here?loginToken='],
        ['http://localhost:51004/cb', 'http://localhost:51004/cb?loginToken='],
        ['https://app.example/?a=%2F+x&b#/room/1', 'https://app.example/?a=%2F+x&b&loginToken=TOKEN#/room/1'],
      ] as const) {
        await browser.open(await begin(world.app().ssoUrl(requested)));
        const address = await agree(browser);
        const token = /loginToken=([A-Za-z0-9]{32})/.exec(address)?.[1] ?? expect.fail(`no token in ${address}`);
        expect(address).toBe(returned.includes('TOKEN') ? returned.replace('TOKEN', token) : returned + token);
        expect(await world.app().logInWithToken(token)).toMatchObject({ userId: world.userId('i13') });
      }
    },
  },
  {
    id: 'I-14',
    claim: 'a client may name the provider, and an unknown name is ignored',
    run: async (world) => {
      const shown = async (url: string) => addressOf(await world.browser().get(await begin(url)));
      const kind = '?kind=continue_compat_sso_login';
      const app = world.app();
      expect(await shown(app.ssoUrl(CLIENT, { provider: PROVIDER }))).toBe(`/upstream/authorize/${PROVIDER}${kind}`);
      expect(await shown(app.ssoUrl(CLIENT, { provider: 'oidc-made-up' }))).toBe(`/login${kind}`);
      expect(await shown(app.ssoUrl(CLIENT).replace('/redirect?', '/redirect/?'))).toBe(`/login${kind}`);
    },
  },
];
