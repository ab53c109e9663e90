import assert from 'node:assert/strict';
import { join } from 'node:path';
import { drawn, seeOverview } from './admin-overview.js';
import { watchService } from './admin-service-journey.js';
import { workOnUsers } from './admin-users-journey.js';
import { tabTo } from './keyboard.js';
import { APPEARANCES, appear, checkFocus, checkWidth, checkWithAxe } from './pages/examine.js';
import { OTHER_LANGUAGES, PASSWORD } from './settings.js';

const ADMINISTRATOR = 'nadia';
/** More than a page. */
const USERS = 60;
/** Chromium logs the status of a refused request. */
const STATUS = /^Failed to load resource: /;

/** The admin area: entrance, lists, actions, and what happens when right, sign-in or network are lost. */
export async function administer(checks, how) {
  await addAdministrator(how.latchkey);
  await addUsers(how.latchkey);
  await checks.that('the start page shows figures, and plots with their numbers', () => seeOverview(inArea, how));
  await checks.that('an administrator finds and locks a user by keyboard', () => lockByKeyboard(how));
  await checks.that('filters and pages are in the URL, and the back button returns', () => walkList(how));
  await checks.that('a lost network keeps the dialog, and the action can be repeated', () => loseNetwork(how));
  await checks.that('an old sign-in asks for the password, and returns to the page', () => ageSignIn(how));
  await checks.that('an administrator without the right is told so, and finds no page', () => loseRight(how));
  await checks.that('names are text, whatever they contain', () => showHostileNames(how));
  await checks.that('display names and user agents are text, in lists, records and events', () =>
    showHostileAgents(how),
  );
  await workOnUsers(checks, how);
  await watchService(checks, how);
  for (const locale of examinedLocales(how)) {
    await checks.that(`the pages are accessible in every look (${locale})`, () => examinePages(how, locale));
  }
}

/** The languages in which every page is examined: in a short run, one of each direction, else a sample. */
export function examinedLocales({ isShort }) {
  return isShort ? ['en', 'ar'] : ['en', 'de', ...OTHER_LANGUAGES.filter((_, index) => index % 6 === 0), 'ar'];
}

export async function addAdministrator(latchkey) {
  await latchkey.command(
    ['manage', 'register-user', '--yes', '--admin', '--password-file', '-', ADMINISTRATOR],
    PASSWORD,
  );
}

async function addUsers(latchkey) {
  await latchkey.sql(
    `insert into users (id, username, username_key, created_at, locked_at)
     select gen_random_uuid(), 'crew-' || n, 'crew-' || n, now() - n * interval '1 hour', case when n % 10 = 0 then now() end
       from generate_series(1, $1::integer) n`,
    [USERS],
  );
}

/** Opens a browser that is signed in, on a page of the area. */
export async function enter({ browser, latchkey }, path, options = {}) {
  const context = await browser.newContext({ locale: 'en', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !STATUS.test(message.text())) troubles.push(message.text());
  });
  await page.goto(`${latchkey.base}admin/${path}`);
  await page.locator('input[name=username]').fill(ADMINISTRATOR);
  await page.locator('input[name=password]').fill(PASSWORD);
  await page.locator('form:has(input[name=password]) button[type=submit]').first().click();
  await page.waitForURL(/\/admin\//);
  if (path !== '') await page.goto(`${latchkey.base}admin/${path}`);
  return { context, page, troubles };
}

export async function inArea(how, path, work, options) {
  const { context, page, troubles } = await enter(how, path, options);
  try {
    await work(page, context);
    assert.deepEqual(troubles, []);
  } finally {
    await context.close();
  }
}

export const rows = (page) => page.locator('table.data tbody tr');

async function lockByKeyboard(how) {
  await inArea(how, 'users', async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('crew-17');
    await page.waitForURL(/search=crew-17/);
    await rows(page).nth(1).waitFor({ state: 'detached' });
    const search = page.getByRole('searchbox');
    assert.ok(await search.evaluate((input) => input === document.activeElement), 'typing keeps the focus');
    await tabTo(page, page.getByRole('link', { name: 'crew-17' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'crew-17' }).waitFor();
    for (const [button, result] of [
      ['Lock account', 'crew-17 is locked.'],
      ['Unlock account', 'crew-17 is unlocked.'],
    ]) {
      await tabTo(page, page.getByRole('button', { name: button }));
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await tabTo(page, dialog.getByRole('button', { name: button }));
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('status').filter({ hasText: result }).waitFor();
    }
    // Nothing of the session outlives the tab.
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
  });
}

async function walkList(how) {
  await inArea(how, 'users', async (page) => {
    await rows(page).nth(24).waitFor();
    const [first] = await rows(page).allInnerTexts();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/after=/);
    await page.waitForFunction((text) => document.querySelector('tbody tr').innerText !== text, first);
    await page.goBack();
    await page.waitForFunction((text) => document.querySelector('tbody tr').innerText === text, first);
    await page.getByLabel('Status').selectOption('locked');
    await page.waitForURL(/status=locked/);
    await page.getByText(`${USERS / 10} users`).waitFor();
    await page.reload();
    await page.getByText(`${USERS / 10} users`).waitFor();
    assert.equal(await rows(page).count(), USERS / 10);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL(/\/admin\/users$/);
  });
}

/** Waits until no part of the page is loading. */
export async function untilLoaded(page) {
  await page.locator('.fact-list').nth(1).waitFor();
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}

export async function openUser(page, name) {
  await page.getByRole('searchbox').fill(name);
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

async function loseNetwork(how) {
  await inArea(how, 'users', async (page, context) => {
    await openUser(page, 'crew-3');
    await page.getByRole('button', { name: 'Lock account' }).click();
    const dialog = page.getByRole('dialog');
    await context.setOffline(true);
    await dialog.getByRole('button', { name: 'Lock account' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
    await context.setOffline(false);
    await dialog.getByRole('button', { name: 'Lock account' }).click();
    await page.getByRole('status').filter({ hasText: 'crew-3 is locked.' }).waitFor();
  });
}

async function ageSignIn(how) {
  await inArea(how, 'users?status=locked', async (page) => {
    await rows(page).first().waitFor();
    await how.latchkey.sql(`update user_sessions set authenticated_at = now() - interval '31 minutes'`);
    await page.reload();
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/\/reauth\?kind=administer/);
    await page.locator('input[name=password]').fill(PASSWORD);
    await page.locator('form:has(input[name=password]) button[type=submit]').first().click();
    await page.waitForURL(/\/admin\/users\?status=locked/);
    await rows(page).first().waitFor();
  });
}

async function loseRight(how) {
  const { latchkey } = how;
  const set = (isAdmin) =>
    latchkey.sql('update users set can_request_admin = $1::boolean where username = $2', [isAdmin, ADMINISTRATOR]);
  try {
    await inArea(how, 'users', async (page) => {
      await openUser(page, 'crew-5');
      await untilLoaded(page);
      await page.getByRole('button', { name: 'Lock account' }).click();
      await set(false);
      await page.getByRole('dialog').getByRole('button', { name: 'Lock account' }).click();
      await page.getByRole('dialog', { name: 'You are no longer an administrator' }).waitFor();
      const answer = await page.goto(`${latchkey.base}admin/users`);
      assert.equal(answer.status(), 404);
    });
  } finally {
    await set(true);
  }
}

async function showHostileNames(how) {
  const name = '<img src=x onerror="document.title=1">\u202egnp.exe';
  await how.latchkey.sql(
    `insert into users (id, username, username_key, created_at) values (gen_random_uuid(), $1, $1, now())`,
    [name],
  );
  await inArea(how, 'users?search=onerror', async (page) => {
    const link = page.getByRole('link', { name: 'onerror' });
    await link.click();
    await page.getByRole('button', { name: 'Lock account' }).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.notEqual(await page.title(), '1');
  });
  await how.latchkey.sql('delete from users where username = $1', [name]);
}

async function showHostileAgents(how) {
  const hostile = '"><img src=x onerror="document.title=1">';
  const [{ id }] = await how.latchkey.sql(
    `insert into users (id, username, username_key, display_name, created_at)
     values (gen_random_uuid(), 'mallory', 'mallory', $1, now()) returning id`,
    [hostile],
  );
  await how.latchkey.sql(
    `insert into user_sessions (id, key_hash, user_id, created_at, authenticated_at, user_agent)
     values (gen_random_uuid(), sha256('mallory'), $1, now(), now(), $2)`,
    [id, hostile],
  );
  await how.latchkey.sql(
    `insert into audit_events (id, kind, user_id, user_agent, detail, created_at)
     values (gen_random_uuid(), 'login', $1, $2, jsonb_build_object('method', $2::text), now())`,
    [id, hostile],
  );
  const requireText = async (page) => {
    await page.getByText('onerror').first().waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.notEqual(await page.title(), '1');
  };
  await inArea(how, 'users?search=mallory', async (page) => {
    await page.getByRole('link', { name: 'mallory' }).waitFor();
    await requireText(page);
    await page.getByRole('link', { name: 'mallory' }).click();
    await page.getByRole('heading', { level: 1, name: 'mallory' }).waitFor();
    await untilLoaded(page);
    await requireText(page);
    await page.goto(`${how.latchkey.base}admin/sessions?tab=browsers`);
    await requireText(page);
    await page.goto(`${how.latchkey.base}admin/audit`);
    await rows(page).filter({ hasText: 'mallory' }).locator('a[href*="/audit/"]').first().click();
    await requireText(page);
  });
  await how.latchkey.sql('delete from users where id = $1', [id]);
}

/** Every page and dialog in every look, with pictures. */
async function examinePages(how, locale) {
  await inArea(
    how,
    '?range=quarter',
    async (page) => {
      await page.locator('.figure').first().waitFor();
      await rows(page).first().waitFor();
      await drawn(page);
      await page.locator('summary').first().click();
      await examine(how, page, `admin-overview-${locale}`);
      await page.goto(`${how.latchkey.base}admin/users`);
      await rows(page).nth(24).waitFor();
      await examine(how, page, `admin-users-${locale}`);
      await page.goto(`${how.latchkey.base}admin/users?search=nobody`);
      await page.locator('table.data').waitFor({ state: 'detached' });
      await page.locator('.filter-bar button').waitFor();
      await examine(how, page, `admin-users-none-${locale}`);
      await page.goto(`${how.latchkey.base}admin/users?search=crew-30`);
      await rows(page).first().locator('a').click();
      await untilLoaded(page);
      await examine(how, page, `admin-user-${locale}`);
      await page.locator('section .button').first().click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-user-dialog-${locale}`);
    },
    { locale },
  );
}

export async function examine({ pictures }, page, name) {
  for (const appearance of APPEARANCES) {
    await appear(page, appearance);
    // Plots are drawn again after the next frame, which a busy machine delays.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.plot')].every(({ clientWidth, scrollWidth }) => scrollWidth <= clientWidth + 1),
    );
    await checkWidth(page);
    await checkWithAxe(page);
    const look = `${appearance.colorScheme}-${appearance.viewport.width}`;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-${look}.png`), fullPage: true });
  }
  await checkFocus(page);
}
