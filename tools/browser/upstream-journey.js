import assert from 'node:assert/strict';
import { press, pressEnter, tabTo, typeInto } from './keyboard.js';
import { CLIENT_ID } from './relying-party.js';
import { PASSWORD } from './settings.js';
import { signInAtProvider } from './upstream-provider.js';
import { blockFonts, UPSTREAM_IDS } from './upstream-services.js';

/**
 * A client sends a user to register, who does so with an account at another service.
 * @returns the request lines that the service must log, in order
 */
export async function registerThere({ browser, relyingParty, javaScriptEnabled, username }) {
  return await inBrowser({ browser, javaScriptEnabled }, async (page) => {
    const { address, redeem } = await relyingParty.begin({ prompt: 'create' });
    await page.goto(address);
    await press(page, page.getByRole('link', { name: 'Continue with Quayside Club' }));
    await comeBack(page, `${username}.berg`);
    const name = page.getByLabel('Username');
    assert.equal(await name.inputValue(), `${username}.berg`);
    await typeInto(page, name, username);
    const preview = page.getByText(`Your ID will be @${username}:example.org.`);
    assert.equal(await preview.isVisible(), javaScriptEnabled);
    assert.match(await page.getByRole('main').innerText(), new RegExp(`${username}\\.berg@mail\\.example`));
    const takesName = page.getByRole('checkbox', { name: 'Use this name as my display name' });
    assert.ok(await takesName.isChecked());
    // Without scripts, also without the name: the next step asks for one.
    if (!javaScriptEnabled) await tick(page, takesName);
    await tick(page, page.getByRole('checkbox', { name: /I accept/ }));
    await pressEnter(page);
    if (!javaScriptEnabled) {
      await typeInto(page, page.getByLabel('Display name'), `${username} of the Harbour`);
      await pressEnter(page);
    }
    const answer = relyingParty.nextAnswer();
    await press(page, page.getByRole('button', { name: 'Continue' }));
    const tokens = await redeem(await answer);
    const { sub } = tokens.claims();
    const info = await relyingParty.userInfo(tokens.access_token, sub);
    assert.equal(info.preferred_username, username);
    assert.equal(info.email, `${username}.berg@mail.example`);
    assert.equal(info.email_verified, true);
    return registrationLines(`user:${sub}(${username})`, !javaScriptEnabled);
  });
}

/**
 * A signed-in user links an account at another service, and then signs in with it.
 * @returns the request lines
 */
export async function linkAndReturn({ browser, base, javaScriptEnabled, username }) {
  return await inBrowser({ browser, javaScriptEnabled }, async (page) => {
    await page.goto(`${base}login`);
    await typeInto(page, page.getByLabel('Username'), username);
    await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
    await pressEnter(page);
    await page.goto(`${base}upstream/authorize/${UPSTREAM_IDS.there}`);
    await comeBack(page, `${username}@quayside.example`);
    const question = await page.getByRole('main').innerText();
    assert.match(question, new RegExp(`Quayside Club \\(${username}@quayside\\.example\\)`));
    assert.ok(await page.getByRole('link', { name: 'Do not link' }).isVisible());
    await press(page, page.getByRole('button', { name: 'Link accounts', exact: true }));
    assert.equal(page.url(), base);
    await press(page, page.getByRole('button', { name: 'Sign out' }));

    // Still signed in at the other service, which does not prompt.
    await press(page, page.getByRole('link', { name: 'Continue with Quayside Club' }));
    if (!javaScriptEnabled) await press(page, page.getByRole('button', { name: 'Continue' }));
    await page.waitForURL(base);
    assert.match(await page.getByRole('main').innerText(), new RegExp(username));
    return linkingLines(`user:${ID}(${username})`);
  });
}

async function inBrowser({ browser, javaScriptEnabled }, journey) {
  const context = await browser.newContext({ javaScriptEnabled, locale: 'en' });
  try {
    const page = await context.newPage();
    const browserErrors = [];
    page.on('pageerror', (error) => browserErrors.push(`page error: ${error.message}`));
    page.on('console', (message) => browserErrors.push(`console: ${message.text()}`));
    await blockFonts(page);
    const lines = await journey(page);
    assert.deepEqual(browserErrors, []);
    return lines;
  } finally {
    await context.close();
  }
}

async function comeBack(page, login) {
  await signInAtProvider(page, login);
  await page.waitForURL(/\/upstream\/link\//);
}

async function tick(page, box) {
  await tabTo(page, box);
  await page.keyboard.press('Space');
}

const ID = '[0-9A-HJKMNP-TV-Z]{26}';

const THERE_AND_BACK = [
  ['GET', `/upstream/authorize/${UPSTREAM_IDS.there}`, 303],
  ['GET', `/upstream/callback/${UPSTREAM_IDS.there}`, 303],
];

function registrationLines(user, isAskedForName) {
  return [
    ['GET', '/authorize', 303],
    ['GET', '/register', 200],
    ...THERE_AND_BACK,
    ['GET', `/upstream/link/${ID}`, 200],
    ['POST', `/upstream/link/${ID}`, 303],
    ['GET', `/register/steps/${ID}/finish`, 303, isAskedForName ? undefined : user],
    ...(isAskedForName
      ? [
          ['GET', `/register/steps/${ID}/display-name`, 200],
          ['POST', `/register/steps/${ID}/display-name`, 303],
          ['GET', `/register/steps/${ID}/finish`, 303, user],
        ]
      : []),
    ['GET', `/authorize/${ID}`, 303, user],
    ['GET', `/consent/${ID}`, 200, user],
    ['POST', '/authorize', 303, user],
    ['POST', '/oauth2/token', 200, `oauth2-client:${CLIENT_ID}`],
    ['GET', '/oauth2/userinfo', 200, user],
  ];
}

function linkingLines(user) {
  return [
    ['GET', '/login', 200],
    ['POST', '/login', 303, user],
    ['GET', '/', 200, user],
    ...THERE_AND_BACK,
    ['GET', `/upstream/link/${ID}`, 200, user],
    ['POST', `/upstream/link/${ID}`, 303, user],
    ['GET', '/', 200, user],
    ['POST', '/logout', 303, user],
    ['GET', '/login', 200],
    ...THERE_AND_BACK,
    ['GET', `/upstream/link/${ID}`, 200],
    ['POST', `/upstream/link/${ID}`, 303, user],
    ['GET', '/', 200, user],
  ];
}
