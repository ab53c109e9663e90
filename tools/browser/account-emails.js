import assert from 'node:assert/strict';
import { answering } from './account-answers.js';
import { tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

/** Operations of these pages (account-graphql 6). */
export const EMAIL_OPERATIONS = [
  'AddEmail',
  'DoVerifyEmail',
  'RemoveEmail',
  'ResendEmailAuthenticationCode',
  'SetPrimaryEmail',
  'UserEmailList',
  'VerifyEmail',
];

/** Adds two addresses with mailed codes, is notified of one that another account has, and removes one. */
export async function changeEmails({ page, latchkey, mails, username }) {
  await page.getByText('Your account has no e-mail address.').waitFor();
  await beginToAdd(page, latchkey, username);
  await proveAddress(page, mails);
  await page.getByText('lotte@mail.example', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 0, 'the only address stays');

  await findTaken({ page, latchkey, mails });
  await removeAddress(page, latchkey, username);
}

async function beginToAdd(page, latchkey, username) {
  const dialog = await openDialog(page);
  await typeInto(page, dialog.getByLabel('E-mail address'), 'lotte.mail.example');
  await typeInto(page, password(dialog), 'not the password');
  await expectRefused(page, dialog, 'E-mail address', 'This is not a complete e-mail address.');
  await typeInto(page, dialog.getByLabel('E-mail address'), ' lotte@mail.example ');
  await expectRefused(page, dialog, 'Your password', 'This is not your password.');
  await checkWithAxe(page);
  assert.equal(await password(dialog).inputValue(), '', 'a wrong password is not kept');

  await typeInto(page, password(dialog), PASSWORD);
  await answering(page, 'AddEmail', {
    'Too many tries': { startEmailAuthentication: { status: 'RATE_LIMITED' } },
    'Not this domain.': { startEmailAuthentication: { status: 'DENIED', violations: ['Not this domain.'] } },
    'do not allow this': { startEmailAuthentication: { status: 'DENIED', violations: null } },
    'That did not work': { startEmailAuthentication: { status: 'OF_A_LATER_VERSION' } },
  });
  await tabTo(page, dialog.getByRole('button', { name: 'Show Your password' }));
  await page.keyboard.press('Space');
  assert.equal(await password(dialog).getAttribute('type'), 'text');
  await tabTo(page, password(dialog));
  await page.keyboard.press('Enter');
  await heading(page, 'Check your mail');
  assert.match(page.url(), /\/account\/emails\/user_email_authentication:[0-9A-Z]{26}\/verify$/);
  assert.deepEqual(await emailsOf(latchkey, username), [], 'no address before the code');
}

/** Uses the second code, because the first one is no longer valid. */
async function proveAddress(page, mails) {
  const first = codeIn(await mails.next());
  const field = page.getByLabel('Code from the mail');
  await typeInto(page, field, '12345');
  await expectRefused(page, page, 'Code from the mail', 'Enter the 6 digits from the mail.');
  await typeInto(page, field, '123-456');
  await answering(page, 'DoVerifyEmail', {
    'This code is not valid any more.': { completeEmailAuthentication: { status: 'CODE_EXPIRED' } },
    'Too many tries': { completeEmailAuthentication: { status: 'RATE_LIMITED' } },
    'That did not work': { completeEmailAuthentication: { status: 'OF_A_LATER_VERSION' } },
  });
  await tabTo(page, page.getByRole('button', { name: 'Send another code' }));
  await answering(page, 'ResendEmailAuthenticationCode', {
    'A code was sent a short while ago.': { resendEmailAuthenticationCode: { status: 'RATE_LIMITED' } },
    'No more codes can be tried': { resendEmailAuthenticationCode: { status: 'COMPLETED' } },
    'That did not work': { resendEmailAuthenticationCode: { status: 'OF_A_LATER_VERSION' } },
  });
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Another code is on its way.').waitFor();
  const second = codeIn(await mails.next());
  if (first !== second) {
    await typeInto(page, field, first);
    await expectRefused(page, page, 'Code from the mail', 'This code is not right, or not valid any more.');
  }
  await checkWithAxe(page);
  // With a space, as users may type it.
  await typeInto(page, field, `${second.slice(0, 3)} ${second.slice(3)}`);
  const proved = page.url();
  await page.keyboard.press('Enter');
  await heading(page, 'Profile');
  await page.getByRole('status').getByText('lotte@mail.example was added.').waitFor();

  await page.goto(proved);
  await heading(page, 'Profile');
  assert.match(page.url(), /\/account\/$/, 'what is done leads to the profile');
  await page.goto(proved.replace(/verify$/, 'in-use'));
  await heading(page, 'Profile');
  assert.match(page.url(), /\/account\/$/, 'nobody else has it');
}

/** Another account has the address; only the recipient of its mails learns this. */
async function findTaken({ page, latchkey, mails }) {
  await latchkey.sql(
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), id, 'tilda@mail.example', 'tilda@mail.example', now() from users
      where username = 'tilda'`,
  );
  const dialog = await openDialog(page);
  await typeInto(page, dialog.getByLabel('E-mail address'), 'lotte@MAIL.example');
  await typeInto(page, password(dialog), PASSWORD);
  await expectRefused(page, dialog, 'E-mail address', 'Your account has this address already.');
  await typeInto(page, dialog.getByLabel('E-mail address'), 'tilda@mail.example');
  await page.keyboard.press('Enter');
  await heading(page, 'Check your mail');
  const verifyAddress = page.url();
  await page.goto(verifyAddress.replace(/verify$/, 'in-use'));
  await page.waitForURL(verifyAddress);
  await heading(page, 'Check your mail');

  await typeInto(page, page.getByLabel('Code from the mail'), codeIn(await mailTo(mails, 'tilda@mail.example')));
  await page.keyboard.press('Enter');
  await heading(page, 'The address is in use');
  assert.match(page.url(), /\/in-use$/);
  await checkWithAxe(page);
  await page.reload();
  await heading(page, 'The address is in use');
  await page.goto(verifyAddress.replace(/:[0-9A-Z]{26}/, ':01JD3Q5Z8W2N4K6M7P9R0S1T2V'));
  await heading(page, 'Page not found');
}

async function removeAddress(page, latchkey, username) {
  await latchkey.sql(
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), u.id, n || '@mail.example', n || '@mail.example', now()
       from users u, generate_series(1, 7) n where username = $1`,
    [username],
  );
  await page.goto(`${latchkey.base}account/`);
  const older = page.getByRole('button', { name: 'Older' });
  await older.waitFor();
  await tabTo(page, older);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Newer' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 2, 'six addresses on a page');
  await choosePrimary(page, latchkey, username);

  const [email] = await page.locator('.rows bdi').allInnerTexts();
  const button = page.getByRole('button', { name: `Remove ${email}` });
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: `Remove ${email}?` });
  await dialog.waitFor();
  await tabTo(page, password(dialog));
  await expectRefused(page, dialog, 'Your password', 'Enter your password.');
  await typeInto(page, password(dialog), PASSWORD);
  await answering(page, 'RemoveEmail', {
    'This is not your password.': { removeEmail: { status: 'INCORRECT_PASSWORD', user: null } },
  });
  await typeInto(page, password(dialog), PASSWORD);
  await answering(page, 'RemoveEmail', {
    'does not have this address any more': { removeEmail: { status: 'NOT_FOUND', user: null } },
    'That did not work': { removeEmail: { status: 'OF_A_LATER_VERSION', user: null } },
    'This address is your only way back': 'LAST_EMAIL',
  });
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await button.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.equal((await emailsOf(latchkey, username)).includes(email), false);
}

/** Until now the oldest address is primary. */
async function choosePrimary(page, latchkey, username) {
  const primary = page.locator('.row', { has: page.locator('.badge') });
  assert.match(await primary.innerText(), /^lotte@mail\.example\s+Primary/);
  const button = page.getByRole('button', { name: /^Make primary: / });
  assert.equal(await button.count(), 1);
  await tabTo(page, button);
  await answering(page, 'SetPrimaryEmail', {
    'does not have this address any more': { setPrimaryEmail: { status: 'NOT_FOUND', user: null } },
  });
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('is now your primary address.').waitFor();
  await page.getByRole('button', { name: 'Make primary: lotte@mail.example' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  const [{ email }] = await latchkey.sql(
    'select email from user_emails e join users u on u.id = e.user_id where u.username = $1 and e.is_primary',
    [username],
  );
  assert.match(await primary.innerText(), new RegExp(`^${email}\\s+Primary`));
  await checkWithAxe(page);
}

async function openDialog(page) {
  const button = page.getByRole('button', { name: 'Add an address' });
  await button.waitFor();
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add an address' });
  await dialog.waitFor();
  return dialog;
}

/** Submits the form; the error is shown at its field, which has the focus. */
async function expectRefused(page, place, label, error) {
  await page.keyboard.press('Enter');
  await place.getByRole('alert').getByText(error).waitFor();
  const field = place.getByRole('textbox', { name: label, exact: true });
  const wanted = await field.elementHandle();
  await page.waitForFunction((element) => element === document.activeElement, wanted);
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
}

function password(dialog) {
  return dialog.getByRole('textbox', { name: 'Your password', exact: true });
}

async function heading(page, title) {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}

/** Returns the next mail to this address, because other addresses of the account get notices. */
async function mailTo(mails, address) {
  for (;;) {
    const mail = await mails.next();
    if (mail.headers.to.includes(address)) return mail;
  }
}

function codeIn(mail) {
  const [code] = /\b\d{6}\b/.exec(mail.subject) ?? assert.fail(`no code in ${mail.subject}`);
  return code;
}

async function emailsOf(latchkey, username) {
  const own = 'select e.email from user_emails e join users u on u.id = e.user_id where u.username = $1';
  return (await latchkey.sql(own, [username])).map(({ email }) => email);
}
