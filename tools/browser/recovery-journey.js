import assert from 'node:assert/strict';
import { press, pressEnter, typeInto } from './keyboard.js';
import { PASSWORD } from './settings.js';

const NEW_PASSWORD = 'seven purple walruses sing quietly';

/**
 * A user resets a forgotten password with the link of a mail, by keyboard alone, and signs in with the new one.
 * @returns the received mails
 */
export async function recover({ browser, base, mails, username, locale = 'en' }) {
  const context = await browser.newContext({ locale });
  try {
    const page = await context.newPage();
    await page.goto(`${base}login`);
    await press(page, page.locator('a[href="/recover"]'));
    await typeInto(page, page.locator('input[name=email]'), `${username}@mail.example`);
    await pressEnter(page);
    assert.match(new URL(page.url()).pathname, /^\/recover\/progress\//);
    const mail = await mails.next();
    const [link] = /http:\S+ticket=\w{32}/.exec(mail.text) ?? assert.fail('a mail without a link');
    await page.goto(link);
    await page.locator('input[name=new_password]').waitFor();
    assert.equal(page.url().includes('ticket='), false, 'the address bar forgets the ticket');
    await typeInto(page, page.locator('input[name=new_password]'), NEW_PASSWORD);
    await typeInto(page, page.locator('input[name=new_password_confirm]'), NEW_PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/login?kind=manage_account');
    await page.locator('[data-notice=password_recovered]').waitFor();
    const notice = await mails.next();
    await page.goto(link);
    await page.locator('main a[href="/recover"]').waitFor();
    assert.equal(await page.locator('input[name=new_password]').count(), 0, 'a link works once');
    await page.goto(`${base}login`);
    await typeInto(page, page.locator('input[name=username]'), username);
    await typeInto(page, page.locator('input[name=password]'), PASSWORD);
    await pressEnter(page);
    assert.equal(await page.getByRole('alert').count(), 1, 'the old password is worth nothing');
    await typeInto(page, page.locator('input[name=password]'), NEW_PASSWORD);
    await pressEnter(page);
    assert.equal(page.url(), base);
    return [mail, notice];
  } finally {
    await context.close();
  }
}
