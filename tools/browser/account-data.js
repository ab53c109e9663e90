import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checkMessages, mockResponse } from './account-mocked-responses.js';
import { activate } from './account-steps.js';
import { press, tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

/** Operations of this page (account-graphql 7.5). */
export const DATA_OPERATIONS = ['DataExportList', 'StartDataExport'];

/** Requests an archive of the account's data, waits for it on the page, and downloads it. */
export async function takeDataAlong({ page, base }) {
  await page.goto(`${base}account/`);
  await page.getByRole('heading', { level: 2, name: 'Your data' }).waitFor();
  const ask = page.getByRole('button', { name: 'Request a copy' });
  await ask.waitFor();
  await checkWithAxe(page);
  await tabTo(page, ask);
  await checkMessages(page, 'StartDataExport', {
    'You can request one copy per day.': { startDataExport: { status: 'RATE_LIMITED' } },
    'You are not allowed to do this.': { startDataExport: { status: 'DISABLED' } },
    'Something went wrong. Please retry later.': { startDataExport: { status: 'OF_A_LATER_VERSION' } },
    'Too many attempts.': 'RATE_LIMITED',
  });
  await proveAgain(page, base);

  await activate(page, ask);
  await page.getByRole('status').getByText('We are preparing your data.').waitFor();
  assert.equal(await ask.count(), 0, 'there is one at a time');
  await checkWithAxe(page);
  await page.getByRole('status').getByText('Your data is ready.').waitFor();
  const link = page.getByRole('link', { name: /^Download \(\d+ kB\)$/ });
  const arriving = page.waitForEvent('download');
  await activate(page, link);
  const download = await arriving;
  assert.match(download.suggestedFilename(), /^account-export-\d{4}-\d\d-\d\d\.zip$/);
  assert.equal(readFileSync(await download.path()).toString('latin1', 0, 4), 'PK\x03\x04');
  assert.equal(page.url(), `${base}account/`);
  assert.equal(await ask.count(), 0, 'there is one a day');
  await checkWithAxe(page);
}

/** The user returns to the page; nothing is submitted automatically. */
async function proveAgain(page, base) {
  const extensions = { code: 'REAUTH_REQUIRED', reauthUrl: '/reauth?kind=manage_account', maxAge: 600 };
  await mockResponse(page, 'StartDataExport', { body: { errors: [{ message: 'made up', extensions }], data: null } });
  await page.keyboard.press('Enter');
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.waitFor();
  await press(page, asked.getByRole('button', { name: 'Continue' }));
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Continue', exact: true }));
  assert.equal(page.url(), `${base}account/`);
}
