import assert from 'node:assert/strict';
import { examine, examinedLocales, inArea, rows } from './admin-area-journey.js';
import { tabTo } from './keyboard.js';

/** The pages of groups: create, fill, rename, empty and delete, by keyboard. */
export async function manageGroups(checks, how) {
  await checks.that('an administrator creates, fills, renames and deletes a group by keyboard', () => runGroup(how));
  await checks.that('names and descriptions of groups are text, whatever they contain', () => showHostileGroup(how));
  for (const locale of examinedLocales(how)) {
    await checks.that(`the pages of groups are accessible in every look (${locale})`, () => examineGroups(how, locale));
  }
}

async function press(page, button) {
  await tabTo(page, button);
  await page.keyboard.press('Enter');
}

const announced = (page, text) => page.getByRole('status').filter({ hasText: text }).waitFor();

async function runGroup(how) {
  await inArea(how, 'groups', async (page) => {
    const dialog = page.getByRole('dialog');
    const inDialog = (name) => dialog.getByRole('button', { name });
    await press(page, page.getByRole('button', { name: 'New group' }));
    await tabTo(page, dialog.getByLabel('Name'));
    await page.keyboard.press('Enter');
    await dialog.getByText('Enter a name.').waitFor();
    await page.keyboard.type('deck hands');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'deck hands' }).waitFor();
    await announced(page, 'deck hands');

    await press(page, page.getByRole('button', { name: 'Add members' }));
    await tabTo(page, dialog.getByLabel('Search users'));
    await page.keyboard.type('crew-1');
    await dialog.getByLabel('crew-10', { exact: true }).waitFor();
    await tabTo(page, dialog.getByLabel('crew-10', { exact: true }));
    await page.keyboard.press('Space');
    await press(page, inDialog('Add members'));
    await announced(page, 'Added 1 user to deck hands.');
    await rows(page).filter({ hasText: 'crew-10' }).waitFor();

    await press(page, page.getByRole('button', { name: 'Edit' }));
    await tabTo(page, dialog.getByLabel('Name'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('sailors');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'sailors' }).waitFor();
    await rows(page).filter({ hasText: 'crew-10' }).waitFor();

    await press(page, page.getByRole('button', { name: 'Remove crew-10' }));
    await press(page, inDialog('Remove'));
    await announced(page, 'crew-10 is no longer in sailors.');
    await page.getByText('No members yet').waitFor();

    await press(page, page.getByRole('button', { name: 'Delete group' }));
    await press(page, inDialog('Delete group'));
    await dialog.getByText('The name does not match. Type sailors.').waitFor();
    await page.keyboard.type('sailors');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/groups$/);
    await announced(page, 'sailors');
    await rows(page).filter({ hasText: 'sailors' }).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
}

async function addGroup({ latchkey }, name, description) {
  await latchkey.sql(
    'insert into user_groups (id, name, description, created_at) values (gen_random_uuid(), $1, $2, now())',
    [name, description],
  );
}

async function showHostileGroup(how) {
  const name = '<img src=x onerror="document.title=1">\u202egnp.exe';
  await addGroup(how, name, '"><svg onload="document.title=1">');
  await inArea(how, 'groups?search=onerror', async (page) => {
    await rows(page).first().getByRole('link').click();
    await page.getByRole('button', { name: 'Delete group' }).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.locator('img, section svg').count(), 0);
    assert.notEqual(await page.title(), '1');
  });
  await how.latchkey.sql('delete from user_groups where name = $1', [name]);
}

/** Every page and dialog in every look, with pictures. */
async function examineGroups(how, locale) {
  const { latchkey } = how;
  await latchkey.sql(
    `insert into user_groups (id, name, description, is_external, created_at)
     select gen_random_uuid(), name, description, name = 'harbor-office', now()
       from (values ('crew', 'Everyone on board'), ('harbor-office', null), ('pilots', 'Pilots of the harbor, who guide large ships in and out of the port at any hour')) made (name, description)
     on conflict (name) do nothing`,
  );
  await latchkey.sql(`update users set groups = '{crew}' where username like 'crew-1%'`);
  await inArea(
    how,
    'groups',
    async (page) => {
      await rows(page).nth(2).waitFor();
      await examine(how, page, `admin-groups-${locale}`);
      await page.locator('.page-heading .button').click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-groups-new-${locale}`);
      await page.goto(`${latchkey.base}admin/groups?search=nothing`);
      await page.locator('table.data').waitFor({ state: 'detached' });
      await examine(how, page, `admin-groups-none-${locale}`);
      await page.goto(`${latchkey.base}admin/groups?search=crew`);
      await rows(page).first().locator('a').click();
      await rows(page).nth(2).waitFor();
      await page.waitForFunction(() => document.querySelector('.loading') === null);
      await examine(how, page, `admin-group-${locale}`);
      await page.locator('section .actions .button').nth(1).click();
      await page.locator('dialog[open] .choices input').first().check();
      await examine(how, page, `admin-group-add-${locale}`);
      await page.locator('dialog[open] .button-secondary').click();
      await page.locator('section .button-danger').last().click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-group-delete-${locale}`);
    },
    { locale },
  );
}
