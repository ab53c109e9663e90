import assert from 'node:assert/strict';
import { addAdministrator, examine, examinedLocales, inArea, rows } from './admin-area-journey.js';
import { tabTo, typeInto } from './keyboard.js';
import { PASSWORD } from './settings.js';

const GUEST = 'lotte@mail.example';

/** The pages Invitations: an invitation by email, from its creation to the account, and one for anybody. */
export async function administerInvitations(checks, how) {
  await addAdministrator(how.latchkey);
  await checks.that('an invitation is sent by keyboard, and creates an account in its groups', () => inviteOne(how));
  await checks.that('a link for several accounts has a QR code, and is revoked and restored', () => inviteMany(how));
  await checks.that('a problem is shown at its field, and nothing that was typed is lost', () => keepInput(how));
  await checks.that('notes and groups are text, whatever they contain', () => showHostileNames(how));
  for (const locale of examinedLocales(how)) {
    await checks.that(`the pages of invitations are accessible in every look (${locale})`, () =>
      examinePages(how, locale),
    );
  }
}

async function inviteOne(how) {
  await inArea(how, 'invitations', async (page) => {
    await page.getByText('No invitations match.').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Invite' }));
    await page.keyboard.press('Enter');
    await typeInto(page, page.locator('#email'), GUEST);
    await typeInto(page, page.locator('#groups'), 'crew');
    await page.keyboard.press('Enter');
    await page.keyboard.type('deck');
    await typeInto(page, page.locator('#note'), 'Starts in May');
    await tabTo(page, page.getByRole('button', { name: 'Create and send' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: GUEST }).waitFor();
    await page.getByText('crew, deck').waitFor();
    await page.getByText('Not used yet').waitFor();
    const mail = await how.mails.next();
    assert.match(mail.subject, /^Your invitation to /);
    const [link] = /http\S+register\?token=\S+/.exec(mail.text) ?? [];
    await register(how, link);
    await page.reload();
    await page.getByText('Used up').waitFor();
    await page.getByRole('link', { name: 'lotte' }).click();
    await page.getByRole('heading', { level: 1, name: 'lotte' }).waitFor();
    await page.getByText(GUEST).waitFor();
    await page.getByText('deck').waitFor();
  });
}

/** Follows the link of the mail in another browser: no code is needed. */
async function register({ browser }, link) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(link);
    const email = page.locator('input[name=email]');
    assert.equal(await email.inputValue(), GUEST);
    assert.equal(await email.isEditable(), false);
    await page.locator('input[name=username]').fill('lotte');
    await page.locator('input[name=password]').fill(PASSWORD);
    await page.locator('input[name=accept_terms]').check();
    await page.locator('form:has(input[name=password]) button[type=submit]').first().click();
    await page.waitForURL(/\/display-name$/);
    await page.locator('button[value=skip]').click();
    await page.waitForURL((url) => !url.pathname.includes('/register'));
  } finally {
    await context.close();
  }
}

async function inviteMany(how) {
  await inArea(
    how,
    'invitations',
    async (page) => {
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByLabel('Number of accounts').fill('12');
      await page.locator('#note').fill('Spring course');
      await page.getByRole('button', { name: 'Create invitation' }).click();
      await page.getByRole('heading', { level: 1, name: 'Spring course' }).waitFor();
      await page.getByRole('img', { name: 'QR code of the registration link' }).waitFor();
      await page.getByRole('button', { name: 'Copy Registration link' }).click();
      await page.getByRole('status').filter({ hasText: 'Copied: Registration link' }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(copied, /\/register\?token=[A-Za-z0-9]{12}$/);
      await act(page, 'Revoke');
      await page.getByText('Revoked', { exact: true }).waitFor();
      assert.equal(await page.getByText(copied).count(), 0, 'the link is no longer shown');
      await act(page, 'Restore');
      await page.getByText(copied).waitFor();
      await page.getByRole('link', { name: 'All invitations' }).click();
      await rows(page).nth(1).waitFor();
      await page.getByLabel('Status').selectOption('valid');
      await rows(page).nth(1).waitFor({ state: 'detached' });
      assert.match(await rows(page).first().innerText(), /Spring course/);
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
}

async function act(page, name) {
  await page.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

async function keepInput(how) {
  await inArea(how, 'invitations', async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.locator('#email').fill('lotte at mail.example');
    await page.locator('#note').fill('Kept');
    await page.getByRole('button', { name: 'Create and send' }).click();
    await page.locator('#email[aria-invalid=true]').waitFor();
    assert.ok(await page.locator('#email').evaluate((input) => input === document.activeElement));
    await page.reload();
    await page.getByRole('button', { name: 'Invite' }).click();
    assert.equal(await page.locator('#note').inputValue(), 'Kept');
    await page.getByRole('button', { name: 'Cancel' }).click();
  });
}

async function showHostileNames(how) {
  const name = '<img src=x onerror="document.title=1">';
  await inArea(how, 'invitations', async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.locator('#groups').fill(name);
    await page.locator('#note').fill(name);
    await page.getByRole('button', { name: 'Create invitation' }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    assert.notEqual(await page.title(), '1');
  });
}

/** Every page and dialog in every look, with pictures. */
async function examinePages(how, locale) {
  await inArea(
    how,
    'invitations',
    async (page) => {
      await rows(page).nth(2).waitFor();
      await examine(how, page, `admin-invitations-${locale}`);
      await page.locator('.page-heading .button-primary').click();
      await page.locator('dialog[open]').waitFor();
      await page.locator('#groups').fill('crew');
      await page.locator('#groups').press('Enter');
      await page.locator('#email').fill(GUEST);
      await examine(how, page, `admin-invitation-new-${locale}`);
      await page.locator('dialog[open] .button-secondary').click();
      await page.getByRole('link', { name: 'Spring course' }).click();
      await page.locator('.qr-code').waitFor();
      await examine(how, page, `admin-invitation-${locale}`);
      await page.locator('.actions .button-danger').click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-invitation-dialog-${locale}`);
    },
    { locale },
  );
}
