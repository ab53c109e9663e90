import assert from 'node:assert/strict';
import { watch } from './journey.js';
import { press, pressEnter, tabTo, typeInto } from './keyboard.js';
import { ssoAddress } from './pages/chat-sso.js';
import { PASSWORD } from './settings.js';

/**
 * A chat client sends a user to the browser to register, and signs in with the returned token, all by keyboard. Later
 * another client does the same, and the user goes back to an expired page.
 * @returns the request lines that the service must log, in order
 */
export async function signInToChat({ browser, base, relyingParty, javaScriptEnabled, username }) {
  const context = await browser.newContext({ javaScriptEnabled, locale: 'en' });
  try {
    const page = await context.newPage();
    const browserErrors = watch(page);
    const client = new ChatClient(base);
    assert.deepEqual(await client.waysToSignIn(), ['m.login.password', 'm.login.sso', 'm.login.token']);

    // The client's URL has a query and a fragment, which must be preserved.
    const waiting = `${relyingParty.callback}?room=%2Fa+b#/home`;
    await page.goto(ssoAddress({ base }, waiting, { action: 'register' }));
    await register(page, username);
    const first = await agree(page, relyingParty, username);
    assert.equal(first.search.replace(/loginToken=\w{32}$/, ''), '?room=%2Fa+b&');
    assert.equal(new URL(page.url()).hash, '#/home');
    const { user_id: userId, access_token: accessToken } = await client.signIn(first, 200);
    assert.equal(userId, `@${username}:example.org`);
    await client.signIn(first, 403);

    await page.goto(ssoAddress({ base }, relyingParty.callback));
    const asking = page.url();
    const second = await agree(page, relyingParty, username, javaScriptEnabled);
    await client.signIn(second, 200);
    await page.goto(asking);
    assert.match(await page.getByRole('main').innerText(), /Already used/);
    await client.signOut(accessToken);
    assert.deepEqual(
      browserErrors.filter((text) => !text.includes('status of 410')),
      [],
    );
    return expectedLines(`user:${ID}(${username})`);
  } finally {
    await context.close();
  }
}

async function register(page, username) {
  assert.match(await page.getByRole('main').innerText(), /127\.0\.0\.1/, 'the page says where the person goes on');
  await typeInto(page, page.getByLabel('Username'), username);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await tabTo(page, page.getByRole('checkbox'));
  await page.keyboard.press('Space');
  await pressEnter(page);
  await typeInto(page, page.getByLabel('Display name'), `${username} of the Harbour`);
  await pressEnter(page);
}

/**
 * @param isHasty press the button twice
 * @returns the URL of the client that the browser reaches
 */
async function agree(page, relyingParty, username, isHasty = false) {
  const main = await page.getByRole('main').innerText();
  assert.ok(main.includes(`Sign in to http://${new URL(relyingParty.callback).host}?`), main);
  assert.ok(main.includes(`${username} of the Harbour`) && main.includes(`@${username}:example.org`), main);
  const answer = relyingParty.nextAnswer();
  const button = page.getByRole('button', { name: 'Continue' });
  if (isHasty) await button.dblclick();
  else await press(page, button);
  await page.waitForURL((url) => url.href.startsWith(relyingParty.callback));
  assert.match(await page.innerText('h1'), /Back in Harbour Chat/);
  return await answer;
}

/** Direct requests of a client to the service. */
class ChatClient {
  #address;

  constructor(base) {
    this.#address = `${base}_chat/client/v3/`;
  }

  async waysToSignIn() {
    const response = await fetch(`${this.#address}login`);
    const { flows } = await response.json();
    return flows.map(({ type }) => type);
  }

  async signIn(answer, status) {
    const body = JSON.stringify({ type: 'm.login.token', token: answer.searchParams.get('loginToken') });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.#address}login`, { method: 'POST', headers, body });
    assert.equal(response.status, status);
    return await response.json();
  }

  async signOut(accessToken) {
    const headers = { authorization: `Bearer ${accessToken}` };
    const response = await fetch(`${this.#address}logout`, { method: 'POST', headers });
    assert.equal(response.status, 200);
  }
}

const ID = '[0-9A-HJKMNP-TV-Z]{26}';

function expectedLines(user) {
  const chat = '/_chat/client/v3/';
  return [
    ['GET', `${chat}login`, 200],
    ['GET', `${chat}login/sso/redirect`, 303],
    ['GET', `/complete-compat-sso/${ID}`, 303],
    ['GET', '/register', 303],
    ['GET', '/register/password', 200],
    ['POST', '/register/password', 303],
    ['GET', `/register/steps/${ID}/finish`, 303],
    ['GET', `/register/steps/${ID}/display-name`, 200],
    ['POST', `/register/steps/${ID}/display-name`, 303],
    ['GET', `/register/steps/${ID}/finish`, 303, user],
    ['GET', `/complete-compat-sso/${ID}`, 200, user],
    ['POST', `/complete-compat-sso/${ID}`, 303, user],
    ['POST', `${chat}login`, 200, user],
    ['POST', `${chat}login`, 403],
    ['GET', `${chat}login/sso/redirect`, 303],
    ['GET', `/complete-compat-sso/${ID}`, 200, user],
    ['POST', `/complete-compat-sso/${ID}`, 303, user],
    ['POST', `${chat}login`, 200, user],
    ['GET', `/complete-compat-sso/${ID}`, 410, user],
    ['POST', `${chat}logout`, 200, user],
  ];
}
