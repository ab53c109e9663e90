import assert from 'node:assert/strict';
import { checkMessages, mockResponse } from './account-mocked-responses.js';
import { press, tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

/** Operations of this page (account-graphql 7.6). */
export const SECURITY_OPERATIONS = ['EndAllSessions', 'SecurityOverview'];

/**
 * Signs out another browser, then everything.
 * @param signIn signs in and opens the profile
 * @param signInElsewhere does so in another browser
 */
export async function signOutEverywhere({ page, latchkey, username, signIn, signInElsewhere }) {
  const { base } = latchkey;
  await latchkey.command(['manage', 'issue-compatibility-token', username, 'TABLET']);
  await latchkey.sql(
    `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
     select gen_random_uuid(), u.id, c.id, array['openid'], sha256('everywhere'), now()
       from users u, oauth2_clients c where u.username = $1 and c.is_static`,
    [username],
  );
  await signInElsewhere();
  await page.goto(`${base}account/`);
  await activate(page, page.getByRole('link', { name: 'Security' }));
  await page.getByRole('heading', { level: 1, name: 'Security', exact: true }).waitFor();
  await page.getByText('Signed in to 2 browsers. Signed in to 2 apps and devices.').waitFor();
  await page.getByText('This device', { exact: true }).waitFor();
  assert.equal(await page.locator('.session').count(), 3, 'the newest sessions');
  await page.getByText(/^Last changed on /).waitFor();
  await checkWithAxe(page);

  const dialog = page.getByRole('dialog', { name: 'Sign out everywhere?' });
  await ask(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.textContent === 'Sign out everywhere');
  await ask(page);
  await toggle(page, dialog.getByLabel('All other browsers'));
  assert.equal(await dialog.getByLabel('This browser too').count(), 0);
  await toggle(page, dialog.getByLabel('All apps and devices'));
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Choose where to sign out.').waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'other_browsers');
  await checkWithAxe(page);
  await page.keyboard.press('Space');
  await dialog.getByLabel('This browser too').waitFor();
  const ended = { browserSessions: 0, oauth2Sessions: 0, compatSessions: 0 };
  await checkMessages(page, 'EndAllSessions', {
    'Something went wrong': { endAllSessions: { status: 'OF_A_LATER_VERSION', ...ended } },
    'Too many attempts.': 'RATE_LIMITED',
  });
  await mockResponse(page, 'EndAllSessions', { status: 503, body: { errors: [] } });
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Could not connect.').waitFor();

  await proveAgain(page, base);
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('All other browsers').isChecked(), true);
  assert.equal(await dialog.getByLabel('All apps and devices').isChecked(), false);
  await activate(page, dialog.getByRole('button', { name: 'Sign out' }));
  await page.getByRole('status').getByText('1 session ended.').waitFor();
  await page.getByText('Signed in to 1 browser. Signed in to 2 apps and devices.').waitFor();

  await page.reload();
  await ask(page);
  await toggle(page, dialog.getByLabel('This browser too'));
  await dialog.getByText('You will leave this page').waitFor();
  await press(page, dialog.getByRole('button', { name: 'Sign out' }));
  await page.waitForURL(/\/login\?kind=manage_account/);
  await signIn();
  await activate(page, page.getByRole('link', { name: 'Security' }));
  await page.getByText('You are signed in only in this browser.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Sign out everywhere' }).count(), 0);
}

/** The user's choices are restored on return; nothing is submitted automatically. */
async function proveAgain(page, base) {
  const extensions = { code: 'REAUTH_REQUIRED', reauthUrl: '/reauth?kind=manage_account', maxAge: 600 };
  await mockResponse(page, 'EndAllSessions', { body: { errors: [{ message: 'made up', extensions }], data: null } });
  await page.keyboard.press('Enter');
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.waitFor();
  await press(page, asked.getByRole('button', { name: 'Continue' }));
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Continue', exact: true }));
  assert.equal(page.url(), `${base}account/security`);
}

async function ask(page) {
  await activate(page, page.getByRole('button', { name: 'Sign out everywhere' }));
  await page.getByRole('dialog').waitFor();
}

async function toggle(page, locator) {
  await locator.waitFor();
  await tabTo(page, locator);
  await page.keyboard.press('Space');
}

async function activate(page, locator) {
  await locator.waitFor();
  await tabTo(page, locator);
  await page.keyboard.press('Enter');
}
