import assert from 'node:assert/strict';
import { mockResponse } from './account-mocked-responses.js';
import { activate } from './account-steps.js';
import { press, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

/** Checks what pages show in case of errors (account-graphql 8.1, 8.4). */
export async function meetTroubles({ page, base }) {
  await beTooFast(page, base);
  await outliveUpgrade(page, base);
  await proveAgain(page, base);
}

const TOO_MANY = {
  status: 429,
  headers: { 'retry-after': '90' },
  body: { errors: [{ message: 'made up', extensions: { code: 'RATE_LIMITED' } }] },
};

/** A page shows when to retry, and a form keeps its input. */
async function beTooFast(page, base) {
  await page.goto(`${base}account/`);
  await activate(page, page.getByRole('button', { name: 'Change display name' }));
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Display name');
  await typeInto(page, field, 'Lotte of the Harbour');
  for (const [answer, text] of [
    [TOO_MANY, 'Too many attempts. Retry in 2 minutes.'],
    [{ status: 503, body: { errors: [] } }, 'Could not connect.'],
  ]) {
    await mockResponse(page, 'SetDisplayName', answer);
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText(text).waitFor();
    assert.equal(await field.inputValue(), 'Lotte of the Harbour');
  }
  await mockResponse(page, 'AppSessionsList', TOO_MANY);
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Display name saved.').waitFor();
  await dialog.waitFor({ state: 'detached' });
  await activate(page, page.getByRole('link', { name: 'Devices' }));
  await page.getByRole('alert').getByText('Too many attempts. Retry in 2 minutes.').waitFor();
  await checkWithAxe(page);
  await mockResponse(page, 'AppSessionsList', undefined);
  await activate(page, page.getByRole('button', { name: 'Retry' }));
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.locator('.list-tools').waitFor();
}

/** The files of a lazy page are gone. A reload may help, and is tried once. */
async function outliveUpgrade(page, base) {
  await page.goto(`${base}account/`);
  await page.locator('.fact-list').waitFor();
  const known = new Set(
    await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name.split('?')[0])),
  );
  let missing = 1;
  const serve = async (route) => {
    if (known.has(route.request().url()) || missing === 0) return await route.fallback();
    missing -= 1;
    await route.fulfill({ status: 404, contentType: 'text/plain', body: 'gone' });
  };
  await page.route('**/assets/account-*.js', serve);
  await activate(page, page.getByRole('link', { name: 'Devices' }));
  await page.locator('.list-tools').waitFor();
  assert.equal(missing, 0, 'the file was missing once');

  await page.goto(`${base}account/`);
  await page.locator('.fact-list').waitFor();
  missing = 2;
  await activate(page, page.getByRole('link', { name: 'Devices' }));
  await page.getByRole('heading', { level: 1, name: 'The page is incomplete' }).waitFor();
  assert.equal(missing, 0, 'it was missing again');
  assert.match(page.url(), /\/account\/sessions$/);
  await checkWithAxe(page);
  await activate(page, page.getByRole('button', { name: 'Reload page' }));
  await page.locator('.list-tools').waitFor();
  await page.unroute('**/assets/account-*.js', serve);
}

/** After a reauthentication the input is restored; a password is not kept, and nothing is submitted. */
async function proveAgain(page, base) {
  await page.goto(`${base}account/`);
  await activate(page, page.getByRole('button', { name: 'Add email address' }));
  const dialog = page.getByRole('dialog', { name: 'Add email address' });
  await typeInto(page, dialog.getByLabel('Email address'), 'later@mail.example');
  await typeInto(page, dialog.getByRole('textbox', { name: 'Your password' }), PASSWORD);
  const extensions = { code: 'REAUTH_REQUIRED', reauthUrl: '/reauth?kind=manage_account', maxAge: 600 };
  const errors = [{ message: 'made up', extensions }];
  await mockResponse(page, 'AddEmail', { body: { errors, data: null } });
  await page.keyboard.press('Enter');
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.waitFor();
  await press(page, asked.getByRole('button', { name: 'Continue' }));
  assert.equal(page.url(), `${base}reauth?kind=manage_account`);
  const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert.ok(kept.includes('later@mail.example'), kept);
  assert.equal(kept.includes(PASSWORD), false, 'a password is not kept');

  const sent = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Continue', exact: true }));
  await dialog.waitFor();
  assert.equal(page.url(), `${base}account/`);
  assert.equal(await dialog.getByLabel('Email address').inputValue(), 'later@mail.example');
  assert.equal(await dialog.getByRole('textbox', { name: 'Your password' }).inputValue(), '');
  assert.equal(await page.evaluate(() => sessionStorage.getItem('account.kept')), null);
  assert.deepEqual(
    sent.filter((body) => body.includes('mutation')),
    [],
  );
  await page.reload();
  await page.locator('.fact-list').waitFor();
  await page.getByRole('button', { name: 'Add email address' }).waitFor();
  assert.equal(await dialog.count(), 0, 'it comes back once');
}
