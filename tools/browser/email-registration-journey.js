import assert from 'node:assert/strict';
import { watch } from './journey.js';
import { press, pressEnter, tabTo, typeInto } from './keyboard.js';
import { PASSWORD } from './settings.js';

const STEP = '/register/steps/[0-9A-HJKMNP-TV-Z]{26}';

/**
 * A user registers with an email address, by keyboard alone: mistypes the code, requests another one, and is signed in
 * with the code of the second mail.
 * @param token registration token, if required
 * @returns the received mails
 */
export async function registerByEmail({ browser, latchkey, mails, javaScriptEnabled, locale, username, token }) {
  const { base } = latchkey;
  const context = await browser.newContext({ javaScriptEnabled, locale });
  try {
    const page = await context.newPage();
    const browserErrors = watch(page);
    await begin(page, base, username);
    if (token !== undefined) await showToken(page, token);
    expectStep(page, 'verify-email');
    const form = page.url();
    const first = await mails.next();
    await mistypeCode(page, codeIn(first, username));

    await press(page, page.locator('button[value=resend]'));
    expectStep(page, 'verify-email');
    assert.equal(await page.locator('[role=status][data-notice=code_sent]').count(), 1, 'a code was sent');
    const second = await mails.next();
    const code = codeIn(second, username);
    // With a space, as users may type it.
    await typeInto(page, page.locator('input[name=code]'), `${code.slice(0, 3)} ${code.slice(3)}`);
    await pressEnter(page);

    expectStep(page, 'display-name');
    assert.deepEqual(await emailsOf(latchkey, username), [], 'no account before the last step');
    await typeInto(page, page.locator('input[name=display_name]'), `${username} of the Harbour`);
    await pressEnter(page);
    await expectSignedIn(page, base, username);
    assert.deepEqual(await emailsOf(latchkey, username), [addressOf(username)]);

    await page.goto(form);
    assert.equal(await page.locator('input[name=code]').count(), 0, 'a registration ends once');
    await signInAgain(page, base, username);
    assert.deepEqual(browserErrors, []);
    return [first, second];
  } finally {
    await context.close();
  }
}

function addressOf(username) {
  return `${username}@mail.example`;
}

function expectStep(page, name) {
  assert.match(new URL(page.url()).pathname, new RegExp(`^${STEP}/${name}$`));
}

async function begin(page, base, username) {
  await page.goto(base);
  await press(page, page.locator('a[href="/register"]'));
  await typeInto(page, page.locator('input[name=username]'), username);
  await typeInto(page, page.locator('input[name=email]'), addressOf(username));
  await typeInto(page, page.locator('input[name=password]'), PASSWORD);
  await tabTo(page, page.locator('input[name=accept_terms]'));
  await page.keyboard.press('Space');
  await pressEnter(page);
}

/** Enters a wrong token first. */
async function showToken(page, token) {
  expectStep(page, 'token');
  await typeInto(page, page.locator('input[name=token]'), `not-${token}`);
  await pressEnter(page);
  await expectRejected(page, 'input[name=token]');
  await typeInto(page, page.locator('input[name=token]'), token);
  await pressEnter(page);
}

async function mistypeCode(page, code) {
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  await typeInto(page, page.locator('input[name=code]'), wrong);
  await pressEnter(page);
  expectStep(page, 'verify-email');
  await expectRejected(page, 'input[name=code]');
}

/** The error has the focus, and the input allows another try. */
async function expectRejected(page, input) {
  const alert = page.getByRole('alert');
  assert.ok(await alert.evaluate((element) => element === document.activeElement), 'the errors have the focus');
  assert.equal(await page.locator(input).inputValue(), '');
  assert.equal(await page.locator(input).getAttribute('aria-invalid'), 'true');
}

/** @returns the code, which is the same in subject, text and HTML */
function codeIn(mail, username) {
  assert.ok(mail.headers.to.includes(addressOf(username)), `for ${username}: ${mail.headers.to}`);
  const [code] = /\b\d{6}\b/.exec(mail.subject) ?? assert.fail(`no code in ${mail.subject}`);
  assert.ok(mail.text.includes(code) && mail.html.includes(code), 'the mail tells the code of its subject');
  return code;
}

async function expectSignedIn(page, base, username) {
  assert.equal(page.url(), base);
  assert.match(await page.getByRole('main').innerText(), new RegExp(`${username} of the Harbour`));
}

async function emailsOf(latchkey, username) {
  const own = 'select e.email from user_emails e join users u on u.id = e.user_id where u.username = $1';
  return (await latchkey.sql(own, [username])).map(({ email }) => email);
}

/** With the password from the first page. */
async function signInAgain(page, base, username) {
  await page.goto(base);
  await press(page, page.locator('form[action="/logout"] button'));
  assert.equal(page.url(), `${base}login`);
  await typeInto(page, page.locator('input[name=username]'), username);
  await typeInto(page, page.locator('input[name=password]'), PASSWORD);
  await pressEnter(page);
  await expectSignedIn(page, base, username);
}
