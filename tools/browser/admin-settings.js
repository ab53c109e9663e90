import assert from 'node:assert/strict';
import { addAdministrator, enter, examine, examinedLocales, inArea, rows } from './admin-area-journey.js';
import { CLIENT_SECRET } from './relying-party.js';

const EDITOR = 'Policy data (JSON)';

/** The pages Settings and Policy data. */
export async function configureService(checks, how) {
  await addAdministrator(how.latchkey);
  await checks.that('settings show value, source and documentation, and no secret', () => readSettings(how));
  await checks.that('policy data is checked, compared, saved, and restored by keyboard', () => editPolicy(how));
  await checks.that('policy data that somebody else saved meanwhile is not overwritten', () => conflict(how));
  await checks.that('a draft of policy data survives a lost network and a reload', () => loseNetwork(how));
  for (const locale of examinedLocales(how)) {
    await checks.that(`settings and policy data are accessible in every look (${locale})`, () =>
      examineAll(how, locale),
    );
  }
}

async function readSettings(how) {
  await inArea(how, 'settings', async (page) => {
    await page.locator('.settings-section').nth(20).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('public_base');
    await page.waitForURL(/search=public_base/);
    const key = page.locator('tbody summary').filter({ hasText: 'http.public_base' });
    await key.click();
    await page.getByText('URL of the service for browsers and clients.').waitFor();
    await page.getByText('docs/reference/configuration.md#http').first().waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: /http\.public_base/ }).click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'http.public_base');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Show', { exact: true }).selectOption('changed');
    await page.waitForURL(/show=changed/);
    await page.reload();
    await page.locator('.badge').filter({ hasText: 'Changed' }).first().waitFor();
    assert.equal(await page.locator('tbody').getByText('Default', { exact: true }).count(), 0);
    await page.getByText('Set, not shown').first().waitFor();
    assert.ok(!(await page.content()).includes(CLIENT_SECRET), 'a secret is on the page');
    assert.ok(!how.latchkey.logLines().some((line) => line.includes(CLIENT_SECRET)), 'a secret is in the log');
  });
}

async function editPolicy(how) {
  await inArea(how, 'settings/policy-data', async (page) => {
    const editor = page.getByLabel(EDITOR);
    await page.getByText('No policy data is stored yet.').waitFor();
    const check = page.getByRole('button', { name: 'Check and compare' });
    await editor.fill('{\n  "banned_domains": ["spam.example"\n}');
    await check.click();
    await page.getByRole('alert').filter({ hasText: 'Line 3, column 1' }).waitFor();
    assert.equal(await editor.evaluate((field) => field.selectionStart), 38);
    await editor.fill('{\n  "banned_domains": ["spam.example", "no domain"]\n}');
    await check.click();
    await page.getByRole('alert').filter({ hasText: '/banned_domains/1' }).waitFor();
    await editor.fill('');
    await editor.pressSequentially('{');
    await editor.press('Enter');
    await editor.pressSequentially('"banned_domains": ["spam.example"],');
    await editor.press('Enter');
    await editor.pressSequentially('"admin_users": ["nobody-here"]');
    await editor.press('Enter');
    await editor.pressSequentially('}');
    assert.equal(
      await editor.inputValue(),
      '{\n  "banned_domains": ["spam.example"],\n  "admin_users": ["nobody-here"]\n  }',
    );
    // Tab leaves the field.
    await editor.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('No account is named nobody-here.').waitFor();
    await page.locator('ins').filter({ hasText: 'spam.example' }).waitFor();
    await page.getByRole('button', { name: 'Save and apply' }).click();
    await page.getByRole('status').filter({ hasText: 'Policy data saved. It is in force.' }).waitFor();
    await page.getByText('In force', { exact: true }).waitFor();
    await rows(page).first().getByRole('link', { name: 'nadia' }).waitFor();
    await editor.fill('{}');
    await check.click();
    await page.getByRole('button', { name: 'Save and apply' }).click();
    await rows(page).nth(1).waitFor();
    await rows(page).nth(1).getByRole('button', { name: /View/ }).click();
    await page.getByRole('dialog').getByText('spam.example').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore in the editor' }).click();
    await untilText(page, 'spam.example');
    await check.click();
    await page.getByRole('button', { name: 'Save and apply' }).click();
    await rows(page).nth(2).waitFor();
    await page.waitForFunction(() => sessionStorage.length === 0);
  });
}

/** Waits until the editor contains a text: it may be put there after the next frame. */
async function untilText(page, text) {
  await page.waitForFunction((part) => document.querySelector('textarea')?.value.includes(part), text);
}

async function conflict(how) {
  const other = await enter(how, 'settings/policy-data');
  try {
    await inArea(how, 'settings/policy-data', async (page) => {
      const [mine, theirs] = [page.getByLabel(EDITOR), other.page.getByLabel(EDITOR)];
      await theirs.waitFor();
      await mine.fill('{"banned_domains": ["mine.example"]}');
      await theirs.fill('{"banned_domains": ["theirs.example"]}');
      for (const one of [page, other.page]) await one.getByRole('button', { name: 'Check and compare' }).click();
      await other.page.getByRole('button', { name: 'Save and apply' }).click();
      await other.page.getByRole('status').filter({ hasText: 'Policy data saved.' }).waitFor();
      await page.getByRole('button', { name: 'Save and apply' }).click();
      const notice = page.getByRole('alert').filter({ hasText: 'nadia saved another version' });
      await notice.locator('ins').filter({ hasText: 'theirs.example' }).waitFor();
      await notice.locator('ins').filter({ hasText: 'mine.example' }).waitFor();
      // The same after a reload: the draft knows the version that it is based on.
      await page.reload();
      await notice.waitFor();
      await notice.getByRole('button', { name: 'Keep my text' }).click();
      await untilText(page, 'mine.example');
      await page.getByRole('button', { name: 'Check and compare' }).click();
      await page.locator('del').filter({ hasText: 'theirs.example' }).waitFor();
      await page.getByRole('button', { name: 'Save and apply' }).click();
      await page.getByRole('status').filter({ hasText: 'Policy data saved.' }).waitFor();
    });
  } finally {
    await other.context.close();
  }
}

async function loseNetwork(how) {
  await inArea(how, 'settings/policy-data', async (page, context) => {
    const editor = page.getByLabel(EDITOR);
    await editor.fill('{"banned_domains": ["kept.example"]}');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Check and compare' }).click();
    await page.getByRole('alert').first().waitFor();
    await context.setOffline(false);
    await page.reload();
    await editor.waitFor();
    await untilText(page, 'kept.example');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await untilText(page, 'mine.example');
  });
}

async function examineAll(how, locale) {
  await inArea(
    how,
    'settings?show=changed',
    async (page) => {
      await page.locator('.settings-section').first().waitFor();
      await page.locator('tbody summary').first().click();
      await examine(how, page, `admin-settings-${locale}`);
      await page.goto(`${how.latchkey.base}admin/settings/policy-data`);
      const editor = page.locator('#policy-data');
      // A longer line scrolls within the field.
      await editor.fill('{\n  "admin_users": [\n    "nobody"\n  ]\n}');
      await page.locator('form button').first().click();
      await page.locator('.text-changes').waitFor();
      await examine(how, page, `admin-policy-${locale}`);
      await page.locator('tbody .button').first().click();
      await page.locator('dialog .text-block').waitFor();
      await examine(how, page, `admin-policy-version-${locale}`);
      await page.keyboard.press('Escape');
      await page.evaluate(() => sessionStorage.clear());
    },
    { locale },
  );
}
