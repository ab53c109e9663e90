import assert from 'node:assert/strict';
import { checkMessages, mockResponse } from './account-mocked-responses.js';
import { heading, signIn, until, withPage } from './account-steps.js';
import { press, tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

const ACTION = 'account/?action=org.chat.account_deactivate';

/**
 * Users whom a chat client sends to the account area deactivate their account there, by keyboard alone (account-graphql
 * 8.4).
 */
export async function endAccounts({ browser, latchkey, homeserver, withPassword, withoutPassword }) {
  await endWithPassword({ browser, latchkey, homeserver, username: withPassword });
  await endWithoutPassword({ browser, latchkey, homeserver, username: withoutPassword });
}

/** A user who is not signed in, and cancels twice. */
async function endWithPassword({ browser, latchkey, homeserver, username }) {
  const { base } = latchkey;
  await withPage(browser, async (page, browserErrors) => {
    await page.goto(base + ACTION);
    await signIn(page, username);
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    await dialog.waitFor();
    assert.equal(page.url(), `${base}account/?dialog=deactivate`);
    assert.equal(await erase(dialog).isChecked(), false, 'nothing is erased unasked');
    assert.equal(await button(dialog).isDisabled(), true);
    await checkWithAxe(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await tabTo(page, button(page));
    await page.keyboard.press('Enter');
    await dialog.waitFor();

    await tabTo(page, erase(dialog));
    await page.keyboard.press('Space');
    await tabTo(page, password(dialog));
    await page.keyboard.type('n');
    // Too early: the button is still disabled.
    await page.keyboard.press('Enter');
    assert.equal(await dialog.getByRole('alert').count(), 0);
    await page.keyboard.type('ot the password');
    await send(page, dialog);
    await dialog.getByRole('alert').getByText('That password is incorrect.').waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'password');
    assert.equal(await password(dialog).inputValue(), '', 'a wrong password is not kept');
    assert.equal(await button(dialog).isDisabled(), true);

    await refuse(page, dialog);
    await proveAgain(page, dialog, base);
    assert.deepEqual(await isActive(latchkey, username), [true], 'nothing has ended before it was asked for');

    await typeInto(page, password(dialog), PASSWORD);
    await send(page, dialog);
    await seeEnd({ page, latchkey, homeserver, username, isErased: true });
    await tabTo(page, page.getByRole('link', { name: 'Use another account' }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/login\?kind=manage_account$/);
    await signIn(page, username);
    await page.getByText('Incorrect username or password.').waitFor();
    assert.deepEqual(browserErrors, []);
  });
}

/** Possible error responses, which leave the account as it is. */
async function refuse(page, dialog) {
  await typeInto(page, password(dialog), PASSWORD);
  await ready(dialog);
  await checkMessages(page, 'DeactivateUser', {
    'You are not allowed to do this': 'FEATURE_DISABLED',
    'Too many attempts': 'RATE_LIMITED',
    'Something went wrong': { deactivateUser: { status: 'OF_A_LATER_VERSION' } },
  });
  await checkWithAxe(page);
}

/** On return, the box is checked, the password is not kept, and nothing is submitted. */
async function proveAgain(page, dialog, base) {
  const extensions = { code: 'REAUTH_REQUIRED', reauthUrl: '/reauth?kind=manage_account', maxAge: 600 };
  await mockResponse(page, 'DeactivateUser', { body: { errors: [{ message: 'made up', extensions }], data: null } });
  await page.keyboard.press('Enter');
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.waitFor();
  await press(page, asked.getByRole('button', { name: 'Continue' }));
  assert.equal(page.url(), `${base}reauth?kind=manage_account`);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Continue', exact: true }));
  await dialog.waitFor();
  assert.equal(await erase(dialog).isChecked(), true);
  assert.equal(await password(dialog).inputValue(), '');
}

/** A signed-in user without a password, who types the complete user ID instead. */
async function endWithoutPassword({ browser, latchkey, homeserver, username }) {
  await withPage(browser, async (page, browserErrors) => {
    await page.goto(`${latchkey.base}account/`);
    await signIn(page, username);
    await heading(page, 'Profile');
    await latchkey.sql('delete from user_passwords where user_id = (select id from users where username = $1)', [
      username,
    ]);
    await page.goto(latchkey.base + ACTION);
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    await dialog.waitFor();
    const field = dialog.getByRole('textbox', { name: 'Matrix ID' });
    await typeInto(page, field, username);
    await page.keyboard.press('Enter');
    await typeInto(page, field, `@${username}:${homeserver.serverName}`);
    await ready(dialog);
    await typeInto(page, field, `@${username}:elsewhere.example`);
    assert.equal(await button(dialog).isDisabled(), true);
    await checkWithAxe(page);
    await typeInto(page, field, `@${username}:${homeserver.serverName}`);
    await send(page, dialog);
    await seeEnd({ page, latchkey, homeserver, username, isErased: false });
    await page.reload();
    await page.waitForURL(/\/login\?kind=manage_account$/);
    assert.deepEqual(browserErrors, []);
  });
}

async function seeEnd({ page, latchkey, homeserver, username, isErased }) {
  await heading(page, 'Your account is deactivated');
  await page.getByRole('status').filter({ hasText: /./ }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.equal(await page.title(), 'Your account is deactivated – example.org');
  assert.equal(await page.locator('.tabs').count(), 0, 'no tabs of an account that has ended');
  await checkWithAxe(page);
  assert.deepEqual(await isActive(latchkey, username), [false]);
  await until(() => {
    const user = homeserver.user(username);
    return user?.isDeactivated === true && user.isErased === isErased;
  });
}

async function isActive(latchkey, username) {
  const active = 'select deactivated_at is null as is_active from users where username = $1';
  return (await latchkey.sql(active, [username])).map(({ is_active: is }) => is);
}

async function ready(dialog) {
  await until(async () => await button(dialog).isEnabled());
}

/** Presses Enter in the focused field once the button is enabled. */
async function send(page, dialog) {
  await ready(dialog);
  await page.keyboard.press('Enter');
}

function erase(dialog) {
  return dialog.getByRole('checkbox', { name: /^Also erase my messages/ });
}

function password(dialog) {
  return dialog.getByRole('textbox', { name: 'Your password', exact: true });
}

function button(place) {
  return place.getByRole('button', { name: 'Delete account' });
}
