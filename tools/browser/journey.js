import assert from 'node:assert/strict';
import { press, pressEnter, tabTo, typeInto } from './keyboard.js';
import { CLIENT_ID } from './relying-party.js';
import { PASSWORD } from './settings.js';

/**
 * A user registers, signs in to an application and signs out, by keyboard alone. The application uses its tokens as
 * usual.
 * @returns the request lines that the service must log, in order
 */
export async function travel({ browser, base, relyingParty, colorScheme, javaScriptEnabled, username }) {
  const context = await browser.newContext({ colorScheme, javaScriptEnabled, locale: 'en' });
  try {
    const page = await context.newPage();
    const browserErrors = watch(page);
    await register(page, base, username, javaScriptEnabled);
    await press(page, page.getByRole('button', { name: 'Sign out' }));
    assert.equal(page.url(), `${base}login`);

    const { address, redeem } = await relyingParty.begin();
    await page.goto(address);
    assert.match(await page.getByRole('main').innerText(), /to continue to Harbour Chat/);
    await signIn(page, username, javaScriptEnabled);
    const answer = await consent(page, relyingParty);
    const subject = await useTokens(relyingParty, await redeem(answer), username);
    await returnByForm(page, relyingParty, javaScriptEnabled);

    await page.goto(base);
    await press(page, page.getByRole('button', { name: 'Sign out' }));
    await page.goto(base);
    assert.ok(await page.getByRole('link', { name: 'Sign in' }).isVisible());
    assert.deepEqual(browserErrors, []);
    return expectedLines(`user:${subject}(${username})`);
  } finally {
    await context.close();
  }
}

/** Collects script errors and all console messages, such as policy violations. */
export function watch(page) {
  const browserErrors = [];
  page.on('pageerror', (error) => browserErrors.push(`page error: ${error.message}`));
  page.on('console', (message) => browserErrors.push(`console: ${message.text()}`));
  return browserErrors;
}

async function register(page, base, username, hasScript) {
  await page.goto(base);
  await press(page, page.getByRole('link', { name: 'Create an account' }));
  await typeInto(page, page.getByLabel('Username'), username);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await checkStrength(page, hasScript);
  if (hasScript) await showPassword(page);
  await tabTo(page, page.getByRole('checkbox'));
  await page.keyboard.press('Space');
  await pressEnter(page);
  await typeInto(page, page.getByLabel('Display name'), `${username} of the Harbour`);
  await pressEnter(page);
  assert.equal(page.url(), base);
  assert.match(await page.getByRole('main').innerText(), new RegExp(`${username} of the Harbour`));
}

/** The meter rates the password as strong, without sending it anywhere. */
async function checkStrength(page, hasScript) {
  if (!hasScript) {
    assert.equal(await page.getByRole('meter').count(), 0);
    return;
  }
  const meter = page.getByRole('meter', { name: 'Password strength' });
  await page.getByText('Very good', { exact: true }).waitFor();
  assert.equal(await meter.getAttribute('aria-valuenow'), '4');
  assert.equal(await meter.getAttribute('aria-valuetext'), 'Very good');
}

async function showPassword(page) {
  const field = page.locator('#password');
  await tabTo(page, page.getByRole('button', { name: 'Show Password', exact: true }));
  await page.keyboard.press('Space');
  assert.equal(await field.getAttribute('type'), 'text');
  assert.equal(await field.inputValue(), PASSWORD);
  await page.keyboard.press('Space');
  assert.equal(await field.getAttribute('type'), 'password');
}

async function signIn(page, username, hasScript) {
  assert.equal(await page.getByRole('button', { name: /^Show/ }).count(), hasScript ? 1 : 0);
  await typeInto(page, page.getByLabel('Username'), username);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), 'not the password');
  await pressEnter(page);
  const alert = page.getByRole('alert');
  assert.match(await alert.innerText(), /Incorrect username or password/);
  assert.ok(await alert.evaluate((element) => element === document.activeElement), 'the errors have the focus');
  assert.match(await page.title(), /^Error: Sign in/);
  assert.equal(await page.getByLabel('Username').inputValue(), username);
  assert.equal(await page.locator('#password').inputValue(), '');

  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await pressEnter(page);
}

async function consent(page, relyingParty) {
  const main = await page.getByRole('main').innerText();
  assert.match(main, /Continue to Harbour Chat\?/);
  assert.ok(main.includes(new URL(relyingParty.callback).host), 'the page names where the answer goes');
  const answer = relyingParty.nextAnswer();
  await press(page, page.getByRole('button', { name: 'Continue' }));
  assert.match(await page.innerText('h1'), /Back in Harbour Chat/);
  return await answer;
}

/** A consent is remembered. This time the response uses `form_post`. */
async function returnByForm(page, relyingParty, hasScript) {
  const { address, redeem } = await relyingParty.begin({ response_mode: 'form_post' });
  const answer = relyingParty.nextAnswer();
  await page.goto(address);
  if (!hasScript) await press(page, page.getByRole('button', { name: 'Continue' }));
  await page.waitForURL(relyingParty.callback);
  const tokens = await redeem(await answer);
  assert.ok(tokens.claims());
}

/** @returns the subject of the tokens */
async function useTokens(relyingParty, tokens, username) {
  const { sub } = tokens.claims();
  const info = await relyingParty.userInfo(tokens.access_token, sub);
  assert.equal(info.preferred_username, username);
  const { active } = await relyingParty.introspect(tokens.access_token);
  assert.equal(active, true);
  const refreshed = await relyingParty.refresh(tokens.refresh_token);
  assert.notEqual(refreshed.access_token, tokens.access_token);
  await relyingParty.revoke(refreshed.refresh_token);
  const { active: isStillActive } = await relyingParty.introspect(refreshed.access_token);
  assert.equal(isStillActive, false);
  return sub;
}

const ID = '[0-9A-HJKMNP-TV-Z]{26}';

/** Method, path, status and requester of each request of the journey (interface, classification of requests). */
function expectedLines(user) {
  const client = `oauth2-client:${CLIENT_ID}`;
  return [
    ['GET', '/', 200],
    ['GET', '/register', 303],
    ['GET', '/register/password', 200],
    ['POST', '/register/password', 303],
    ['GET', `/register/steps/${ID}/finish`, 303],
    ['GET', `/register/steps/${ID}/display-name`, 200],
    ['POST', `/register/steps/${ID}/display-name`, 303],
    ['GET', `/register/steps/${ID}/finish`, 303, user],
    ['GET', '/', 200, user],
    ['POST', '/logout', 303, user],
    ['GET', '/login', 200],
    ['GET', '/authorize', 303],
    ['GET', '/login', 200],
    ['POST', '/login', 200],
    ['POST', '/login', 303, user],
    ['GET', `/authorize/${ID}`, 303, user],
    ['GET', `/consent/${ID}`, 200, user],
    ['POST', '/authorize', 303, user],
    ['POST', '/oauth2/token', 200, client],
    ['GET', '/oauth2/userinfo', 200, user],
    ['POST', '/oauth2/introspect', 200, client],
    ['POST', '/oauth2/token', 200, client],
    ['POST', '/oauth2/revoke', 200, client],
    ['POST', '/oauth2/introspect', 200, client],
    ['GET', '/authorize', 303, user],
    ['GET', `/authorize/${ID}`, 200, user],
    ['POST', '/oauth2/token', 200, client],
    ['GET', '/', 200, user],
    ['POST', '/logout', 303, user],
    ['GET', '/login', 200],
    ['GET', '/', 200],
  ];
}
