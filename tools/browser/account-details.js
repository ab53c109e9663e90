import assert from 'node:assert/strict';
import { checkMessages } from './account-mocked-responses.js';
import { activate } from './account-steps.js';
import { tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';

/** Enters the given name, the family name and the time zone. */
export async function enterDetails({ page, base }) {
  await page.goto(`${base}account/`);
  const edit = page.getByRole('button', { name: 'Edit details' });
  await activate(page, edit);
  const dialog = page.getByRole('dialog', { name: 'Edit details' });
  await typeInto(page, dialog.getByLabel('Given name'), 'Lotte');
  await typeInto(page, dialog.getByLabel('Family name'), 'Harms');
  assert.notEqual(await dialog.getByLabel('Time zone').inputValue(), '', 'the zone of the browser is proposed');
  await checkWithAxe(page);
  await tabTo(page, dialog.getByRole('button', { name: 'Save' }));
  await checkMessages(page, 'SetProfile', {
    'This name cannot be used.': { setProfile: { status: 'INVALID_FAMILY_NAME' } },
    'Something went wrong. Please retry later.': { setProfile: { status: 'OF_A_LATER_VERSION' } },
  });
  await activate(page, dialog.getByRole('button', { name: 'Save' }));
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('status').getByText('Details saved.').waitFor();
  await page.locator('.fact-list').getByText('Lotte', { exact: true }).waitFor();
  await page.locator('.fact-list').getByText('Harms', { exact: true }).waitFor();
}
