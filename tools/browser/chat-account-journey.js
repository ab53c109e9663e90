import assert from 'node:assert/strict';
import { heading, signIn, until, withPage } from './account-steps.js';
import { watch } from './journey.js';
import { tabTo } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

const KEYS = ['BgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA', 'CgpQ6XxG1wN2ZqMNq0o0c7uYV1m4lJ7oQ2d6ZtVtqgA'];
const CLIENT = '_chat/client/v3/';

/**
 * Chat clients send a signed-out user to the account area, all by keyboard: one to sign out another device (chat-compat
 * 18.3, I-18), and one to allow a key reset (I-19).
 */
export async function obeyChatClients({ browser, base, homeserver, username }) {
  const lost = await ChatClient.signIn(base, homeserver, username, 'LOSTPHONE');
  const kept = await ChatClient.signIn(base, homeserver, username, 'LAPTOP');
  assert.equal(await lost.whoAmI(), 200);
  await signOutDevice(browser, base, username);
  await until(async () => (await lost.whoAmI()) === 401);
  assert.equal(await kept.whoAmI(), 200);

  assert.equal((await kept.replaceKeys(KEYS[0])).status, 200);
  const refused = await kept.replaceKeys(KEYS[1]);
  assert.equal(refused.status, 401);
  const { params } = await refused.json();
  const [address, ...others] = new Set(Object.values(params).map(({ url }) => url));
  assert.deepEqual([address, others], [`${base}account/?action=org.chat.cross_signing_reset`, []]);
  await allowReset(browser, kept, address, username);
}

async function signOutDevice(browser, base, username) {
  await withPage(browser, async (page, browserErrors) => {
    await page.goto(`${base}account/?action=org.chat.device_delete&device_id=LOSTPHONE`);
    await signIn(page, username);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    assert.match(page.url(), /\/account\/sessions\/compat_session:[0-9A-Z]{26}\?dialog=end$/);
    await checkWithAxe(page);
    await tabTo(page, dialog.getByRole('button', { name: 'Sign out' }));
    await page.keyboard.press('Enter');
    await page.getByText('This session ended on').waitFor();
    assert.deepEqual(browserErrors, []);
  });
}

/** The client opens the URL in a window, and continues when that reports success. */
async function allowReset(browser, client, address, username) {
  await withPage(browser, async (opener) => {
    await opener.goto(client.ownPage);
    await opener.evaluate(() => {
      addEventListener('message', ({ data }) => {
        document.title = String(data);
      });
    });
    const opened = opener.waitForEvent('popup');
    await opener.evaluate((url) => void open(url), address);
    const page = await opened;
    const browserErrors = watch(page);
    await signIn(page, username);
    await heading(page, 'Reset your encryption identity?');
    await checkWithAxe(page);
    assert.equal((await client.replaceKeys(KEYS[1])).status, 401, 'opening the page allows nothing');
    await tabTo(page, page.getByRole('button', { name: 'Finish reset' }));
    await page.keyboard.press('Enter');
    await heading(page, 'Reset approved');
    await page.getByRole('status').filter({ hasText: /./ }).waitFor();
    await checkWithAxe(page);
    await opener.waitForFunction(() => document.title === 'authDone');
    assert.equal((await client.replaceKeys(KEYS[1])).status, 200);
    assert.deepEqual(browserErrors, []);
  });
}

/** Requests of a client: a token from the service, everything else from the homeserver. */
class ChatClient {
  #homeserver;
  #userId;
  #headers;

  constructor(homeserver, { user_id: userId, access_token: token }) {
    this.#homeserver = homeserver;
    this.#userId = userId;
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  static async signIn(base, homeserver, username, deviceId) {
    const identifier = { type: 'm.id.user', user: username };
    const login = { type: 'm.login.password', identifier, password: PASSWORD, device_id: deviceId };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${base}${CLIENT}login`, { method: 'POST', headers, body: JSON.stringify(login) });
    assert.equal(answer.status, 200);
    return new ChatClient(homeserver, await answer.json());
  }

  /** On a different origin than the service. */
  get ownPage() {
    return `${this.#homeserver.endpoint}${CLIENT}versions`;
  }

  async whoAmI() {
    const answer = await fetch(`${this.#homeserver.endpoint}${CLIENT}account/whoami`, { headers: this.#headers });
    return answer.status;
  }

  async replaceKeys(key) {
    const master_key = { user_id: this.#userId, usage: ['master'], keys: { [`ed25519:${key}`]: key } };
    const body = JSON.stringify({ master_key });
    const address = `${this.#homeserver.endpoint}${CLIENT}keys/device_signing/upload`;
    return await fetch(address, { method: 'POST', headers: this.#headers, body });
  }
}
