import assert from 'node:assert/strict';
import { addAdministrator, enter, examine, examinedLocales, inArea, rows } from './admin-area-journey.js';
import { tabTo } from './keyboard.js';

const CALLBACK = 'https://harbour.example/callback';

/** The pages Applications: add, connect, edit, conflicts, secrets, and what happens when the network is lost. */
export async function administerApplications(checks, how) {
  await addAdministrator(how.latchkey);
  await checks.that('an application is added by keyboard, and its secret is shown once', () => addByKeyboard(how));
  await checks.that('a known program comes with its settings and steps', () => addFromPreset(how));
  await checks.that('a problem is shown at its field, and nothing that was typed is lost', () => keepInput(how));
  await checks.that('a lost network keeps the edit, and it can be repeated', () => loseNetwork(how));
  await checks.that('of two administrators, the second sees what the first changed', () => conflict(how));
  await checks.that('an application is limited to a group, and others read that they may not use it', () =>
    limitToGroup(how),
  );
  await checks.that('a secret is rotated, the application disabled and deleted', () => rotateAndDelete(how));
  await checks.that('names of applications are text, whatever they contain', () => showHostileNames(how));
  for (const locale of examinedLocales(how)) {
    await checks.that(`the pages of applications are accessible in every look (${locale})`, () =>
      examinePages(how, locale),
    );
  }
}

/** Adds an application, and leaves its page open. */
async function add(page, { latchkey }, name) {
  await page.goto(`${latchkey.base}admin/applications/new?kind=server`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Redirect URIs', { exact: true }).fill(CALLBACK);
  await page.getByRole('button', { name: 'Add application' }).click();
  await page.waitForURL(/\/connect$/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('link', { name: 'Application', exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByRole('button', { name: 'Save changes' }).waitFor();
}

async function addByKeyboard(how) {
  await inArea(
    how,
    'applications',
    async (page) => {
      await rows(page).first().waitFor();
      await tabTo(page, page.getByRole('link', { name: 'Add application' }));
      await page.keyboard.press('Enter');
      await tabTo(page, page.getByRole('link', { name: 'Website on a server' }));
      await page.keyboard.press('Enter');
      await tabTo(page, page.getByLabel('Name'));
      await page.keyboard.type('Harbour');
      await tabTo(page, page.getByLabel('Redirect URIs', { exact: true }));
      await page.keyboard.type(CALLBACK);
      await tabTo(page, page.getByRole('button', { name: 'Add application' }));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Connect the application' }).waitFor();
      await page.getByRole('status').filter({ hasText: 'Harbour was added.' }).waitFor();
      await tabTo(page, page.getByRole('button', { name: 'Copy Client secret' }));
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Copied: Client secret' }).waitFor();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^[\w-]{43}$/);
      await page.getByText(`${how.latchkey.base}.well-known/openid-configuration`).waitFor();
      await tabTo(page, page.getByRole('button', { name: 'Run test' }));
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Test finished: no problems.' }).waitFor();
      // The secret is neither in the storage of the browser nor there after a reload.
      assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
      await page.reload();
      await page.getByRole('button', { name: 'Run test' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Copy Client secret' }).count(), 0);
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
}

async function addFromPreset(how) {
  await inArea(how, 'applications/new', async (page) => {
    await page.getByRole('link', { name: 'Grafana', exact: true }).click();
    await page.getByLabel('URL of Grafana').fill('grafana.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').filter({ hasText: 'https://' }).waitFor();
    await page.getByLabel('URL of Grafana').fill('https://grafana.example/');
    await page.getByRole('button', { name: 'Continue' }).click();
    const uris = page.getByLabel('Redirect URIs', { exact: true });
    assert.equal(await uris.inputValue(), 'https://grafana.example/login/generic_oauth');
    await page.getByRole('button', { name: 'Add application' }).click();
    await page.getByRole('heading', { name: 'What to do in Grafana' }).waitFor();
    const steps = await page.locator('.steps').innerText();
    assert.match(steps, /oauth2\/token/);
    assert.doesNotMatch(steps, /\{(?:url|issuer|client_id|token)\}/);
    await examine(how, page, 'admin-application-preset');
  });
}

async function keepInput(how) {
  await inArea(how, 'applications/new?kind=public', async (page) => {
    await page.getByLabel('Name').fill('Lighthouse');
    await page.getByLabel('Redirect URIs', { exact: true }).fill(`${CALLBACK}\nhttps://harbour.example/#part`);
    await page.getByRole('button', { name: 'Add application' }).click();
    await page.getByRole('alert').filter({ hasText: 'fragment' }).waitFor();
    const field = page.getByLabel('Redirect URIs', { exact: true });
    assert.ok(await field.evaluate((area) => area === document.activeElement), 'the field has the focus');
    await page.reload();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Lighthouse');
    await field.fill(CALLBACK);
    await page.getByRole('button', { name: 'Add application' }).click();
    await page.waitForURL(/\/connect$/);
    await page.getByText('None: leave it empty.').waitFor();
  });
}

async function loseNetwork(how) {
  await inArea(how, 'applications', async (page, context) => {
    await add(page, how, 'Jetty');
    await page.getByLabel('Name').fill('Jetty at night');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Jetty at night');
    await context.setOffline(false);
    // The change is stored, but its response is lost: repeating it finds nothing left to do.
    const lose = async (route) => {
      if (route.request().method() !== 'PATCH') return await route.fallback();
      await route.fetch();
      await route.abort('connectionreset');
    };
    await page.route('**/api/admin/v1/oauth2-clients/*', lose);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
    await page.unroute('**/api/admin/v1/oauth2-clients/*', lose);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('status').filter({ hasText: 'Changes saved.' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Jetty at night' }).waitFor();
  });
}

async function conflict(how) {
  const other = await enter(how, 'applications');
  try {
    await inArea(how, 'applications', async (page) => {
      await add(page, how, 'Quay');
      await other.page.goto(page.url());
      await other.page.getByLabel('Name').fill('Quay two');
      await other.page.getByLabel('Scopes').fill('openid email');
      await page.getByLabel('Name').fill('Quay one');
      await other.page.getByRole('button', { name: 'Save changes' }).click();
      await other.page.getByRole('status').filter({ hasText: 'Changes saved.' }).waitFor();
      await page.getByRole('button', { name: 'Save changes' }).click();
      const notice = page.getByRole('alert').filter({ hasText: 'nadia changed this application at' });
      await notice.getByText('Quay two').waitFor();
      await notice.getByText('openid email').waitFor();
      assert.equal(await page.getByLabel('Name').inputValue(), 'Quay one');
      await examine(how, page, 'admin-application-conflict');
      await page.getByRole('button', { name: 'Save mine anyway' }).click();
      await page.getByRole('heading', { level: 1, name: 'Quay one' }).waitFor();
      // What only the other one changed stays.
      assert.equal(await page.getByLabel('Scopes').inputValue(), 'openid email');
    });
    assert.deepEqual(other.troubles, []);
  } finally {
    await other.context.close();
  }
}

async function limitToGroup(how) {
  const { latchkey } = how;
  const setGroups = (groups) =>
    latchkey.sql('update users set groups = $1::text[] where username = $2', [groups, 'nadia']);
  await inArea(how, 'applications', async (page) => {
    await add(page, how, 'Logbook');
    const [, id] = /applications\/(\w+)/.exec(page.url()) ?? [];
    const field = page.getByLabel('Allowed groups');
    await field.fill('captains\n\n captains ');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('status').filter({ hasText: 'Changes saved.' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Save changes' }).waitFor();
    assert.equal(await field.inputValue(), 'captains');

    const request = new URL(`${latchkey.base}authorize`);
    for (const [name, value] of Object.entries({
      client_id: id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      state: 'logbook',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })) {
      request.searchParams.set(name, value);
    }
    await page.goto(String(request));
    await page.getByRole('heading', { level: 1, name: 'You do not have access to Logbook' }).waitFor();
    await page.getByText('Your account is not in a group that may use this app.').waitFor();
    await page.getByText('If you need access, contact').waitFor();
    await examine(how, page, 'application-no-access');

    await setGroups(['captains']);
    try {
      await page.goto(String(request));
      await page.locator('form button[type=submit]').first().waitFor();
      assert.equal(await page.getByText('You do not have access').count(), 0);
    } finally {
      await setGroups([]);
    }
    await page.goto(`${latchkey.base}admin/applications/${id}`);
    await field.fill('');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('status').filter({ hasText: 'Changes saved.' }).waitFor();
    await page.goto(String(request));
    await page.locator('form button[type=submit]').first().waitFor();
    assert.equal(await page.getByText('You do not have access').count(), 0);
  });
}

async function rotateAndDelete(how) {
  await inArea(how, 'applications', async (page) => {
    await add(page, how, 'Pier');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The current secret works for').selectOption('3600');
    await dialog.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('button', { name: 'Copy Client secret' }).waitFor();
    await page.getByText('Former secret').waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Copy Client secret' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('status').filter({ hasText: 'Pier is disabled.' }).waitFor();
    await page.getByRole('button', { name: 'Delete application' }).click();
    await dialog.getByLabel('Type Pier to confirm').fill('Pier');
    await dialog.getByRole('button', { name: 'Delete application' }).click();
    await page.waitForURL(/\/admin\/applications$/);
    await page.getByRole('status').filter({ hasText: 'Pier' }).waitFor();
    await rows(page).first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Pier' }).count(), 0);
  });
}

async function showHostileNames(how) {
  const name = '<img src=x onerror="document.title=1">\u202egnp.exe';
  await inArea(how, 'applications', async (page) => {
    await add(page, how, 'Hostile');
    await how.latchkey.sql(
      `update oauth2_clients set metadata = jsonb_set(metadata, '{client_name}', $1) where metadata -> 'client_name' ->> '' = 'Hostile'`,
      [JSON.stringify({ '': name })],
    );
    await page.goto(`${how.latchkey.base}admin/applications?search=onerror`);
    await page.getByRole('link', { name: 'onerror' }).click();
    await page.getByRole('button', { name: 'Delete application' }).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.notEqual(await page.title(), '1');
  });
}

/** Every page and dialog in every look, with pictures. */
async function examinePages(how, locale) {
  const { base } = how.latchkey;
  await inArea(
    how,
    'applications',
    async (page) => {
      await rows(page).nth(1).waitFor();
      await examine(how, page, `admin-applications-${locale}`);
      await page.goto(`${base}admin/applications/new`);
      await page.locator('.kinds').waitFor();
      await examine(how, page, `admin-application-kinds-${locale}`);
      await page.goto(`${base}admin/applications/new?kind=server`);
      await page.locator('details.more').evaluate((details) => details.setAttribute('open', ''));
      await examine(how, page, `admin-application-new-${locale}`);
      await page.goto(`${base}admin/applications?search=Harbour`);
      await page.getByRole('link', { name: 'Harbour', exact: true }).click();
      await page.locator('form').waitFor();
      await examine(how, page, `admin-application-${locale}`);
      await page.locator('section:last-of-type .button-danger').click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-application-dialog-${locale}`);
      await page.keyboard.press('Escape');
      await page.goto(`${page.url()}/connect`);
      await page.locator('.fact-list').nth(1).waitFor();
      await page.locator('section:last-of-type .button').click();
      await page.locator('section:last-of-type .rows').waitFor();
      await examine(how, page, `admin-application-connect-${locale}`);
    },
    { locale },
  );
}
