import assert from 'node:assert/strict';
import { checkMessages } from './account-mocked-responses.js';
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
  await page.getByText('Your account has no email address.').waitFor();
  await beginToAdd(page, latchkey, username);
  await proveAddress(page, mails);
  await page.getByText('lotte@mail.example', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Remove/ }).count(), 0, 'the only address stays');

  await findTaken({ page, latchkey, mails });
  await removeAddress(page, latchkey, username);
}

async function beginToAdd(page, latchkey, username) {
  const dialog = await openDialog(page);
  await typeInto(page, dialog.getByLabel('Email address'), 'lotte.mail.example');
  await typeInto(page, password(dialog), 'not the password');
  await expectRefused(page, dialog, 'Email address', 'Enter a valid email address.');
  await typeInto(page, dialog.getByLabel('Email address'), ' lotte@mail.example ');
  await expectRefused(page, dialog, 'Your password', 'That password is incorrect.');
  await checkWithAxe(page);
  assert.equal(await password(dialog).inputValue(), '', 'a wrong password is not kept');

  await typeInto(page, password(dialog), PASSWORD);
  await checkMessages(page, 'AddEmail', {
    'Too many attempts': { startEmailAuthentication: { status: 'RATE_LIMITED' } },
    'Not this domain.': { startEmailAuthentication: { status: 'DENIED', violations: ['Not this domain.'] } },
    'You are not allowed to do this': { startEmailAuthentication: { status: 'DENIED', violations: null } },
    'Something went wrong': { startEmailAuthentication: { status: 'OF_A_LATER_VERSION' } },
  });
  await tabTo(page, dialog.getByRole('button', { name: 'Show Your password' }));
  await page.keyboard.press('Space');
  assert.equal(await password(dialog).getAttribute('type'), 'text');
  await tabTo(page, password(dialog));
  await page.keyboard.press('Enter');
  await heading(page, 'Check your email');
  assert.match(page.url(), /\/account\/emails\/user_email_authentication:[0-9A-Z]{26}\/verify$/);
  assert.deepEqual(await emailsOf(latchkey, username), [], 'no address before the code');
}

/** Uses the second code, because the first one is no longer valid. */
async function proveAddress(page, mails) {
  const first = codeIn(await mails.next());
  const field = page.getByLabel('Code from the email');
  await typeInto(page, field, '12345');
  await expectRefused(page, page, 'Code from the email', 'Enter the 6-digit code from the email.');
  await typeInto(page, field, '123-456');
  await checkMessages(page, 'DoVerifyEmail', {
    'This code has expired.': { completeEmailAuthentication: { status: 'CODE_EXPIRED' } },
    'Too many attempts': { completeEmailAuthentication: { status: 'RATE_LIMITED' } },
    'Something went wrong': { completeEmailAuthentication: { status: 'OF_A_LATER_VERSION' } },
  });
  await tabTo(page, page.getByRole('button', { name: 'Resend code' }));
  await checkMessages(page, 'ResendEmailAuthenticationCode', {
    'We just sent you a code.': { resendEmailAuthenticationCode: { status: 'RATE_LIMITED' } },
    'Too many incorrect codes': { resendEmailAuthenticationCode: { status: 'COMPLETED' } },
    'Something went wrong': { resendEmailAuthenticationCode: { status: 'OF_A_LATER_VERSION' } },
  });
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('We sent a new code.').waitFor();
  const second = codeIn(await mails.next());
  if (first !== second) {
    await typeInto(page, field, first);
    await expectRefused(page, page, 'Code from the email', 'That code is incorrect or has expired.');
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
  await typeInto(page, dialog.getByLabel('Email address'), 'lotte@MAIL.example');
  await typeInto(page, password(dialog), PASSWORD);
  await expectRefused(page, dialog, 'Email address', 'This email address is already in your account.');
  await typeInto(page, dialog.getByLabel('Email address'), 'tilda@mail.example');
  await page.keyboard.press('Enter');
  await heading(page, 'Check your email');
  const verifyAddress = page.url();
  await page.goto(verifyAddress.replace(/verify$/, 'in-use'));
  await page.waitForURL(verifyAddress);
  await heading(page, 'Check your email');

  await typeInto(page, page.getByLabel('Code from the email'), codeIn(await mailTo(mails, 'tilda@mail.example')));
  await page.keyboard.press('Enter');
  await heading(page, 'Email address already in use');
  assert.match(page.url(), /\/in-use$/);
  await checkWithAxe(page);
  await page.reload();
  await heading(page, 'Email address already in use');
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
  await checkMessages(page, 'RemoveEmail', {
    'That password is incorrect.': { removeEmail: { status: 'INCORRECT_PASSWORD', user: null } },
  });
  await typeInto(page, password(dialog), PASSWORD);
  await checkMessages(page, 'RemoveEmail', {
    'is no longer in your account': { removeEmail: { status: 'NOT_FOUND', user: null } },
    'Something went wrong': { removeEmail: { status: 'OF_A_LATER_VERSION', user: null } },
    'This email address is the only way to recover': 'LAST_EMAIL',
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
  await checkMessages(page, 'SetPrimaryEmail', {
    'is no longer in your account': { setPrimaryEmail: { status: 'NOT_FOUND', user: null } },
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
  const button = page.getByRole('button', { name: 'Add email address' });
  await button.waitFor();
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add email address' });
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
