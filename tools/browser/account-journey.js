import assert from 'node:assert/strict';
import { ACTIVITY_OPERATIONS, lookAtActivity } from './account-activity.js';
import { APPLICATION_OPERATIONS, revokeApplications } from './account-applications.js';
import { DATA_OPERATIONS, takeDataAlong } from './account-data.js';
import { enterDetails } from './account-details.js';
import { changeEmails, EMAIL_OPERATIONS } from './account-emails.js';
import { SECURITY_OPERATIONS, signOutEverywhere } from './account-security.js';
import { nameSessions, SESSION_OPERATIONS } from './account-sessions.js';
import { meetTroubles } from './account-states.js';
import { setUpApp, TOTP_OPERATIONS } from './account-totp.js';
import { ANNOUNCED, hearAnnouncements } from './announcements.js';
import { watch } from './journey.js';
import { press, tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { PASSWORD } from './settings.js';

/** A user agent that the service displays as Firefox. */
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const NEW_PASSWORD = 'seven purple walruses sing quietly';

/** Operations that the log must contain at least once (account-graphql 6). */
const OPERATIONS = [
  ...ACTIVITY_OPERATIONS,
  ...APPLICATION_OPERATIONS,
  ...DATA_OPERATIONS,
  ...EMAIL_OPERATIONS,
  ...SECURITY_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...TOTP_OPERATIONS,
  'AppSessionsList',
  'BrowserSessionList',
  'ChangePassword',
  'CurrentUserGreeting',
  'CurrentViewer',
  'DeviceRedirect',
  'EndBrowserSession',
  'EndCompatSession',
  'Footer',
  'PasswordChange',
  'PlanManagementTab',
  'SessionDetail',
  'SessionsOverview',
  'SetProfile',
  'UserProfile',
];

/**
 * A user manages an account by keyboard alone: downloads the data, changes email addresses, names sessions, signs out
 * another browser, a chat client and this browser, and changes the password.
 */
export async function lookAfterAccount({ browser, latchkey, mails, username }) {
  const { base } = latchkey;
  await latchkey.command(['manage', 'issue-compatibility-token', username, 'OLDPHONE']);
  const other = await browser.newContext({ locale: 'en', userAgent: FIREFOX });
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  try {
    await signIn(await other.newPage(), base, username);
    const browserErrors = watch(page);
    const heard = await hearAnnouncements(page);
    await signIn(page, base, username);
    // Before there is an address that would be notified.
    await takeDataAlong({ page, base });
    await changeEmails({ page, latchkey, mails, username });
    await enterDetails({ page, base });
    await meetTroubles({ page, base });

    await page.goto(`${base}account/`);
    await heading(page, 'Profile');
    await follow(page, page.getByRole('link', { name: 'Devices' }), 'Where you are signed in');
    await signOutFirefox(page);
    await lookForFormerPaths(page, base);

    await nameSessions({ page, latchkey, username });
    await revokeApplications({ page, latchkey, username });
    await signOutChatClient(page, base);
    await lookAtMissing(page, base);
    await lookForPlan(page, base);
    await lookAtActivity({ page, latchkey, username });
    await setUpApp({ page, base, username });
    await signOutEverywhere({
      ...{ page, latchkey, username },
      signIn: () => signIn(page, base, username),
      signInElsewhere: async () => {
        // The leftover cookies of the ended session would lead to a page that reports its end.
        await other.clearCookies();
        await signIn(await other.newPage(), base, username);
      },
    });

    await page.goto(`${base}account/`);
    await changePassword(page, base);
    await open(page, page.getByRole('button', { name: 'Sign out' }));
    const dialog = page.getByRole('dialog', { name: 'Sign out of this browser?' });
    await press(page, dialog.getByRole('button', { name: 'Sign out' }));
    await page.waitForURL(/\/login\?kind=manage_account/);
    heard.check(ANNOUNCED.account);
    // Chromium logs these errors for mocked responses.
    assert.deepEqual(
      browserErrors.filter((text) => !/status of (?:404|503)/.test(text)),
      [],
    );
  } catch (error) {
    const told = await page.locator('dialog, [role=alert]').allInnerTexts();
    const shown = await page.locator('body').innerText();
    throw new Error(`${error.message}\n${page.url()} tells: ${told.join(' | ')}\nand shows: ${shown}`, {
      cause: error,
    });
  } finally {
    await other.close();
    await context.close();
  }
}

async function signIn(page, base, username) {
  await page.goto(`${base}account/`);
  await typeInto(page, page.getByLabel('Username'), username);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Sign in', exact: true }));
  assert.equal(page.url(), `${base}account/`);
  await heading(page, 'Profile');
}

/** Navigates to another page of the area; focus and title must follow. */
async function follow(page, link, title) {
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await heading(page, title);
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.equal(await page.title(), `${title} – example.org`);
}

async function heading(page, title) {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}

async function open(page, button) {
  await button.waitFor();
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.closest('dialog') !== null), true, 'focus inside');
}

async function signOutFirefox(page) {
  const button = page.getByRole('button', { name: 'Sign out Firefox on Linux' });
  const dialog = page.getByRole('dialog', { name: 'Sign out Firefox on Linux?' });
  await open(page, button);
  await checkWithAxe(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Sign out Firefox on Linux');

  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await tabTo(page, dialog.getByRole('button', { name: 'Sign out' }));
  await page.keyboard.press('Enter');
  await button.waitFor({ state: 'detached' });
  // The chat client and this browser are left.
  await page.getByText('2 sessions', { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
}

/** Links to the former list of browsers, and those of chat clients, lead to the one list. */
async function lookForFormerPaths(page, base) {
  for (const path of ['sessions/browsers', '?action=org.chat.sessions_list', '?action=org.chat.devices_list']) {
    await page.goto(`${base}account/${path}`);
    await heading(page, 'Where you are signed in');
    await page.getByText('This device', { exact: true }).waitFor();
    assert.equal(
      await page.getByRole('link', { name: 'Inactive for 90 days or more' }).count(),
      0,
      'nothing to filter',
    );
  }
}

/** Opens the URL that a chat client sends users to. Nothing ends before the user confirms. */
async function signOutChatClient(page, base) {
  await page.goto(`${base}account/?action=org.chat.session_end&device_id=OLDPHONE&other=dropped`);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  assert.match(page.url(), /\/account\/sessions\/compat_session:[0-9A-Z]{26}\?dialog=end$/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await open(page, page.getByRole('button', { name: /^Sign out/ }));
  await tabTo(page, dialog.getByRole('button', { name: 'Sign out' }));
  await page.keyboard.press('Enter');
  await page.getByText('This session ended on').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Sign out/ }).count(), 0);
}

/** First with a wrong password, then with two different new passwords, then correctly. */
async function changePassword(page, base) {
  await follow(page, page.getByRole('link', { name: 'Security' }), 'Security');
  await follow(page, page.getByRole('link', { name: 'Change your password' }), 'Change your password');
  await typeInto(page, field(page, 'Current password'), 'not the password');
  await typeInto(page, field(page, 'New password'), NEW_PASSWORD);
  await page.getByRole('meter', { name: 'Password strength' }).waitFor();
  await page.getByText('Very good', { exact: true }).waitFor();
  await typeInto(page, field(page, 'Confirm new password'), 'another one');
  await page.keyboard.press('Tab');
  await page.getByText('The passwords do not match.').waitFor();
  await typeInto(page, field(page, 'Confirm new password'), NEW_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('That password is incorrect.').waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'current_password');
  await typeInto(page, field(page, 'Current password'), PASSWORD);
  await page.keyboard.press('Enter');
  await heading(page, 'Your password was changed');
  assert.equal(page.url(), `${base}account/password/change/success`);
  await follow(page, page.getByRole('link', { name: 'Go to your account' }), 'Profile');
}

function field(page, name) {
  return page.getByRole('textbox', { name, exact: true });
}

/** Without plan management, the page redirects to the profile, and the back button does not return to it. */
async function lookForPlan(page, base) {
  await page.goto(`${base}account/sessions`);
  await heading(page, 'Where you are signed in');
  await page.goto(`${base}account/plan`);
  await heading(page, 'Profile');
  assert.equal(page.url(), `${base}account/`);
  await page.goBack();
  await heading(page, 'Where you are signed in');
}

/** The service is unreachable for a short time. */
async function lookAtMissing(page, base) {
  await page.goto(`${base}account/sessions`);
  await heading(page, 'Where you are signed in');
  // The count is requested after the list is shown.
  await page.getByText('1 session', { exact: true }).waitFor();
  await page.route('**/graphql', (route) => route.fulfill({ status: 503, body: '{"errors":[]}' }));
  await follow(page, page.getByRole('link', { name: 'Apps', exact: true }), 'Apps');
  await page.getByRole('alert').waitFor();
  await checkWithAxe(page);
  await page.unroute('**/graphql');
  await tabTo(page, page.getByRole('button', { name: 'Retry' }));
  await page.keyboard.press('Enter');
  await page.getByText('Apps that you sign in to with this account will appear here.').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
}

/** Checks that the log names every operation of the journey. */
export function checkOperations(log, operations = OPERATIONS) {
  const named = new Set(log.flatMap((line) => / graphql\.operation\.name=(\w+)/.exec(line)?.[1] ?? []));
  assert.deepEqual(
    operations.filter((name) => !named.has(name)),
    [],
  );
}
