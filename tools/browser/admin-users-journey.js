import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { examine, inArea, openUser, rows, untilLoaded } from './admin-area-journey.js';

/** The pages Users and User: create an account, hand over a link, act on one account and on many. */
export async function workOnUsers(checks, how) {
  await checks.that('a user is created, keeps what was typed, and gets a link to set a password', () =>
    createUser(how),
  );
  await checks.that('an irreversible action asks for the name, and offers the data first', () => eraseUser(how));
  await checks.that('groups, addresses and claims are added, and problems are shown at their fields', () =>
    changeUser(how),
  );
  await checks.that('a passkey is removed after a warning that it is the only way to sign in', () =>
    removePasskey(how),
  );
  await checks.that('a token for a program is created, shown once, listed and revoked', () => manageTokens(how));
  await checks.that('many users are sorted, selected, locked and downloaded', () => lockMany(how));
}

async function createUser(how) {
  await inArea(how, 'users', async (page, context) => {
    await page.getByRole('button', { name: 'Create user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Username').fill('Not Allowed');
    await dialog.getByLabel('Display name').fill('Dalia');
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'lowercase letters' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Create user' }).click();
    assert.equal(await dialog.getByLabel('Display name').inputValue(), 'Dalia');
    await dialog.getByLabel('Username').fill('dalia');
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('heading', { level: 1, name: 'dalia' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'dalia' }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await untilLoaded(page);
    await page.getByRole('button', { name: 'Reset password' }).click();
    await dialog.getByLabel('Show it here').check();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await page.getByRole('dialog', { name: 'Link for dalia' }).locator('code').innerText();
    await examine(how, page, 'admin-user-link-en');
    const visitor = await context.browser().newContext();
    const recovery = await visitor.newPage();
    await recovery.goto(link);
    await recovery.getByRole('heading', { level: 1, name: 'Set a new password' }).waitFor();
    await visitor.close();
  });
}

async function eraseUser(how) {
  await inArea(how, 'users', async (page) => {
    await openUser(page, 'crew-7');
    await untilLoaded(page);
    await page.getByRole('button', { name: 'Delete personal data' }).click();
    const dialog = page.getByRole('dialog');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Export data' }).click(),
    ]);
    assert.equal(file.suggestedFilename(), 'crew-7.zip');
    await dialog.getByLabel('Type crew-7 to confirm').fill('crew-6');
    await dialog.getByRole('button', { name: 'Delete personal data' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'does not match' }).waitFor();
    await examine(how, page, 'admin-user-erase-en');
    await dialog.getByLabel('Type crew-7 to confirm').fill('crew-7');
    await dialog.getByRole('button', { name: 'Delete personal data' }).click();
    await page.getByRole('status').filter({ hasText: 'was deleted' }).waitFor();
    await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  });
}

async function changeUser(how) {
  await inArea(how, 'users', async (page) => {
    await openUser(page, 'crew-8');
    await untilLoaded(page);
    const dialog = page.getByRole('dialog');
    for (const [button, label, wrong, right] of [
      ['Add email address', 'Email', 'nobody', 'crew-8@mail.example'],
      ['Add to group', 'Group', ' ', 'deck'],
    ]) {
      await page.getByRole('button', { name: button }).click();
      await dialog.getByLabel(label).fill(wrong);
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel(label).fill(right);
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await page
        .getByRole('status')
        .filter({ hasText: `${right} was added.` })
        .waitFor();
      await page.locator('.rows').filter({ hasText: right }).waitFor();
    }
    await page.getByRole('button', { name: 'Edit claims' }).click();
    await dialog.getByLabel('Claims (JSON object)').fill('{"berth": 7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'not valid JSON' }).waitFor();
    await dialog.getByLabel('Claims (JSON object)').fill('{"berth": 7}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('.json').filter({ hasText: '"berth": 7' }).waitFor();
    await page.getByRole('button', { name: 'Remove deck' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('status').filter({ hasText: 'deck was removed.' }).waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.waitForURL(/tab=activity/);
    await rows(page).nth(3).waitFor();
    await examine(how, page, 'admin-user-activity-en');
    await openAdministrator(page, how);
  });
}

async function removePasskey(how) {
  await how.latchkey.sql(
    `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
     select gen_random_uuid(), id, sha256(username::bytea), '', 0, '{}', false, 'Key of ' || username, now()
       from users where username = 'crew-8'`,
  );
  await inArea(how, 'users', async (page) => {
    await openUser(page, 'crew-8');
    await untilLoaded(page);
    await page.getByRole('button', { name: 'Remove Key of crew-8' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove Key of crew-8?' });
    await dialog.getByText('This passkey is the only way to sign in').waitFor();
    await examine(how, page, 'admin-user-passkey-en');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('status').filter({ hasText: 'Key of crew-8 was removed.' }).waitFor();
    await page.getByText('No passkeys').waitFor();
  });
}

async function manageTokens(how) {
  await inArea(how, 'users', async (page) => {
    await openUser(page, 'crew-8');
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByText('No personal access tokens').waitFor();
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Harbor bot');
    await dialog.getByLabel('Scopes').fill('openid no-such-scope');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'no-such-scope' }).waitFor();
    const scopes = dialog.getByLabel('Scopes');
    assert.ok(await scopes.evaluate((input) => input === document.activeElement), 'the field has the focus');
    await scopes.fill('openid');
    await examine(how, page, 'admin-user-token-new-en');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('status').filter({ hasText: 'The token Harbor bot was created.' }).waitFor();
    const token = await page.locator('.notice code').innerText();
    assert.match(token, /^mpt_/);
    await rows(page).filter({ hasText: 'Harbor bot' }).waitFor();
    await examine(how, page, 'admin-user-tokens-en');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.reload();
    await rows(page).first().waitFor();
    assert.ok(!(await page.content()).includes(token), 'the token is not shown again');
    await page.getByRole('button', { name: 'Revoke Harbor bot' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').filter({ hasText: 'The token Harbor bot was revoked.' }).waitFor();
    await rows(page).filter({ hasText: 'Revoked' }).waitFor();
  });
}

/** The administrator's own account: a session to end, and no way to lock oneself out. */
async function openAdministrator(page, how) {
  await page.getByRole('link', { name: 'All users' }).click();
  await openUser(page, 'nadia');
  await page.getByRole('navigation', { name: 'Parts of the account' }).getByRole('link', { name: 'Sessions' }).click();
  await rows(page).first().waitFor();
  await rows(page).first().locator('input').check();
  await examine(how, page, 'admin-user-sessions-en');
  await page.getByRole('button', { name: 'Lock account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Lock account' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'your own access' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
}

async function lockMany(how) {
  await inArea(how, 'users?search=crew-4', async (page) => {
    await rows(page).nth(9).waitFor();
    await page.getByRole('link', { name: 'Username' }).click();
    await page.waitForURL(/sort=username/);
    await page.waitForFunction(
      () =>
        document.querySelector('tbody tr').innerText.startsWith('crew-4\n') ||
        document.querySelector('tbody tr').innerText.includes('crew-4'),
    );
    await rows(page).nth(1).locator('input').check();
    await rows(page).nth(2).locator('input').check();
    await page.getByText('2 selected').waitFor();
    await examine(how, page, 'admin-users-selected-en');
    await page.getByRole('button', { name: 'Lock', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Lock 2 accounts?' });
    await dialog.getByRole('button', { name: 'Lock' }).click();
    await page.getByRole('status').filter({ hasText: '2 accounts are locked.' }).waitFor();
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    await rows(page).nth(1).locator('input').check();
    await page.getByRole('button', { name: 'Add to group' }).click();
    const group = page.getByRole('dialog', { name: 'Add 1 user to a group' });
    await group.getByLabel('Group').selectOption('deck');
    await group.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('status').filter({ hasText: '1 user is in the group.' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const text = readFileSync(await file.path(), 'utf8');
    assert.match(text, /^\ufeffid,username,display_name,email,/);
    assert.equal(text.trim().split('\r\n').length, 12);
  });
}
