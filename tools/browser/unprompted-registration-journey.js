import assert from 'node:assert/strict';
import { watch } from './journey.js';
import { press, pressEnter, typeInto } from './keyboard.js';
import { signInAtProvider } from './upstream-provider.js';
import { blockFonts } from './upstream-services.js';

const STEP = '/register/steps/[0-9A-HJKMNP-TV-Z]{26}';

/**
 * A user signs in at another service, and an account is created here without a prompt. If that service has not verified
 * the address, a mailed code comes in between.
 * @param login user at the other service
 * @param mails undefined: no mail is expected
 */
export async function registerUnprompted({ browser, latchkey, mails, javaScriptEnabled, login }) {
  const context = await browser.newContext({ javaScriptEnabled, locale: 'en' });
  try {
    const page = await context.newPage();
    const browserErrors = watch(page);
    await blockFonts(page);
    await page.goto(`${latchkey.base}login`);
    await press(page, page.getByRole('link', { name: 'Continue with Quayside Club' }));
    await signInAtProvider(page, login);
    const username = login.split('@')[0];
    if (mails !== undefined) {
      await page.waitForURL(new RegExp(`${STEP}/verify-email$`));
      assert.deepEqual(await addressesOf(latchkey, username), [], 'no account before the address is proven');
      const [code] = /\b\d{6}\b/.exec((await mails.next()).subject) ?? assert.fail('a mail with a code');
      await typeInto(page, page.locator('input[name=code]'), code);
      await pressEnter(page);
    }
    await page.waitForURL(latchkey.base);
    assert.match(await page.getByRole('main').innerText(), new RegExp(username));
    assert.deepEqual(await addressesOf(latchkey, username), [login.includes('@') ? login : `${username}@mail.example`]);
    assert.deepEqual(browserErrors, []);
  } finally {
    await context.close();
  }
}

async function addressesOf(latchkey, username) {
  const own = 'select e.email from user_emails e join users u on u.id = e.user_id where u.username = $1';
  return (await latchkey.sql(own, [username])).map(({ email }) => email);
}
