import assert from 'node:assert/strict';
import { watch } from './journey.js';
import { tabTo } from './keyboard.js';
import { appear, checkWithAxe, unseenFocus } from './pages/examine.js';
import { send } from './pages/steps.js';
import { PASSWORD } from './settings.js';

const APPEARANCES = ['light', 'dark'].flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, viewport: { width, height: 900 } })),
);

/** Checks the reference in its initial state, with open operations, with a response, and with the sign-in dialog. */
export async function examineReference({ browser, base }) {
  const context = await browser.newContext({ locale: 'en', reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    await page.goto(`${base}api/doc/`);
    await page.locator('.opblock').last().waitFor();
    await examine(page);
    // The other operations look the same, and axe takes a second for them each time.
    await page.locator('.operation-filter-input').fill('user');
    await page.locator('.opblock-tag[data-tag=server]').waitFor({ state: 'detached' });
    const operations = ['user-listUsers', 'user-createUser', 'user-email-deleteUserEmail'].map((id) =>
      page.locator(`#operations-${id}`),
    );
    for (const operation of operations) {
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.responses-table').waitFor();
    }
    await examine(page);
    const [list] = operations;
    await list.getByRole('tab', { name: 'Schema' }).first().click();
    for (const operation of operations) await operation.getByRole('button', { name: 'Try it out' }).click();
    await list.getByRole('button', { name: 'Execute' }).click();
    await list.locator('.live-responses-table').waitFor();
    await examine(page);
    await page.locator('.auth-wrapper > .authorize').click();
    await page.getByRole('dialog', { name: 'Available authorizations' }).waitFor();
    await examine(page);
  } finally {
    await context.close();
  }
}

/** Checks the page in every appearance. */
async function examine(page) {
  for (const appearance of APPEARANCES) {
    await appear(page, appearance);
    // Its script follows the browser's color scheme.
    await page.waitForFunction(
      (isDark) => document.documentElement.classList.contains('dark-mode') === isDark,
      appearance.colorScheme === 'dark',
    );
    await checkWithAxe(page);
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(excess <= 0, `${JSON.stringify(appearance)}: the page is ${excess} px too wide`);
  }
}

/** By keyboard alone: opens and closes the sign-in dialog, opens an operation, and calls it. */
export async function callByKeyboard({ browser, base }) {
  const context = await browser.newContext({ locale: 'en', reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    const press = async (locator, key = 'Enter') => {
      await tabTo(page, locator, async () => assert.equal(await unseenFocus(page), undefined, 'the focus is seen'));
      await page.keyboard.press(key);
    };
    await page.goto(`${base}api/doc/`);
    await page.locator('.opblock').last().waitFor();
    const authorize = page.locator('.auth-wrapper > .authorize');
    await press(authorize);
    const dialog = page.getByRole('dialog', { name: 'Available authorizations' });
    await press(dialog.getByLabel('client_id').first(), 'Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.ok(await authorize.evaluate((button) => button === document.activeElement), 'the focus returns');
    const operation = page.locator('#operations-user-listUsers');
    await press(operation.locator('.opblock-summary-control'));
    await press(operation.getByRole('button', { name: 'Try it out' }));
    await press(operation.getByRole('combobox', { name: 'filter[status]' }), 'ArrowDown');
    await press(operation.getByRole('button', { name: 'Execute' }));
    const body = operation.getByRole('group', { name: 'Response body' });
    await press(body, 'PageDown');
    assert.match(await body.innerText(), /"errors"/);
    assert.match(await operation.locator('.request-url').innerText(), /filter(\[|%5B)status(\]|%5D)=active/);
  } finally {
    await context.close();
  }
}

/** An administrator signs in on the reference of the admin API, and calls the API from the page. */
export async function callFromReference({ browser, base, username }) {
  const clientId = await registerReference(base);
  const context = await browser.newContext({ locale: 'en' });
  try {
    const page = await context.newPage();
    const browserErrors = watch(page);
    const hosts = new Set();
    context.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${base}api/doc/`);
    await authorize(page, clientId, async (window) => {
      await send(window, { username, password: PASSWORD });
      await window.locator('button[value=consent]').click();
    });
    assert.match(await listUsers(page), new RegExp(`"username": "${username}"`));
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    assert.equal(kept, '[{},{}]', 'nothing that outlives the page');
    assert.deepEqual([...hosts], [new URL(base).origin], 'nothing comes from elsewhere');
    assert.deepEqual(browserErrors, []);
  } finally {
    await context.close();
  }
}

/** A response to a request that the page did not send gives it no token. */
export async function refuseForeignAnswers({ browser, base }) {
  const clientId = await registerReference(base);
  const context = await browser.newContext({ locale: 'en' });
  try {
    const page = await context.newPage();
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${base}api/doc/`);
    await authorize(page, clientId, async (window) => {
      await window.evaluate((address) => {
        location.href = address;
      }, `${base}api/doc/oauth2-callback?code=of-somebody&state=of-somebody`);
    });
    await page.getByText('The answer does not belong to this sign-in').first().waitFor();
    assert.equal(asked.includes('/oauth2/token'), false, 'the code is not used');
  } finally {
    await context.close();
  }
}

/** A page of another origin that opens the callback cannot read the response. */
export async function hideAnswerFromOthers({ browser, base }) {
  const context = await browser.newContext({ locale: 'en' });
  try {
    const listens =
      '<script>addEventListener("message", ({ data }) => (document.title += JSON.stringify(data)))</script>';
    await context.route('http://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<title>got:</title>${listens}` }),
    );
    const page = await context.newPage();
    await page.goto('http://elsewhere.example/');
    const opened = page.waitForEvent('popup');
    await page.evaluate((address) => {
      open(address);
    }, `${base}api/doc/oauth2-callback?code=secret&state=x`);
    const window = await opened;
    if (!window.isClosed()) await window.waitForEvent('close');
    // Messages arrive in order, so this one comes after any earlier message.
    await page.evaluate(() => postMessage('own', '*'));
    await page.waitForFunction(() => document.title.endsWith('"own"'));
    assert.equal(await page.title(), 'got:"own"');
  } finally {
    await context.close();
  }
}

/** Fills in the form of the security scheme, and runs `inWindow` in the window that opens. */
async function authorize(page, clientId, inWindow) {
  await page.locator('.auth-wrapper > .authorize').click();
  const form = page.locator('.auth-container', { hasText: 'authorizationCode' });
  await form.locator('#client_id_authorizationCode, input[data-name=clientId]').first().fill(clientId);
  const scope = form.locator('.scopes input[type=checkbox]').first();
  if (!(await scope.isChecked())) await form.locator('.scopes label').first().click();
  const opened = page.waitForEvent('popup');
  await form.getByRole('button', { name: 'Authorize' }).click();
  const window = await opened;
  await window.waitForLoadState();
  const closed = window.waitForEvent('close');
  await inWindow(window);
  await closed;
}

async function listUsers(page) {
  await page.locator('.dialog-ux .close-modal').click();
  const operation = page.locator('#operations-user-listUsers');
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table');
  await answer.getByText('200', { exact: true }).first().waitFor();
  return await answer.innerText();
}

/** As an administrator's script registers it. */
async function registerReference(base) {
  const answer = await fetch(`${base}oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Admin API reference',
      client_uri: 'https://admin.example.org/',
      application_type: 'native',
      redirect_uris: [`${base}api/doc/oauth2-callback`],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
    }),
  });
  const registered = await answer.json();
  assert.equal(answer.status, 201, JSON.stringify(registered));
  return registered.client_id;
}
