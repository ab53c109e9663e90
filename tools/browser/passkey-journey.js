import assert from 'node:assert/strict';
import { join } from 'node:path';
import { activate, heading, signIn } from './account-steps.js';
import { ANNOUNCED, hearAnnouncements } from './announcements.js';
import { watch } from './journey.js';
import { APPEARANCES, appear, checkFocus, checkTargets, checkWidth, checkWithAxe } from './pages/examine.js';

/** Simulates the authenticator of a phone: its keys sync to other devices, and it verifies the user. */
const AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
  defaultBackupEligibility: true,
  defaultBackupState: true,
};

/** A user adds a passkey, signs in with it, reauthenticates with it, uses it as a second factor, and removes it. */
export async function usePasskeys({ browser, latchkey, username, pictures, restart }) {
  let { base } = latchkey;
  // Without transitions, so that no color is checked halfway through a change.
  const context = await browser.newContext({ locale: 'en', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const browserErrors = watch(page);
  const heard = await hearAnnouncements(page);
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  // It responds immediately, so that a page with passkey autofill continues automatically.
  const authenticator = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: AUTHENTICATOR });
  await page.addInitScript(() => {
    if (location.hash === '#unasked') PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
  const use = async (address) => {
    await activate(page, page.getByRole('button', { name: 'Use a passkey' }));
    await page.waitForURL(address);
  };
  const show = async (name) => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `passkeys-${name}.png`), fullPage: true });
  };
  try {
    await page.goto(`${base}login?kind=manage_account#unasked`);
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await checkWithAxe(page);
    await show('login');
    await page.locator('[name=passkey_capable][value=on]').waitFor({ state: 'attached' });
    await signIn(page, username);
    await heading(page, 'Sign in faster next time');
    await examineOffer(page, show);
    await activate(page, page.getByRole('button', { name: 'Add a passkey' }));
    await page.waitForURL(/\/account\/$/);
    assert.equal((await latchkey.sql('delete from user_passkeys returning id')).length, 1);
    await devtools.send('WebAuthn.clearCredentials', authenticator);
    await page.goto(`${base}account/security`);
    await activate(page, page.getByRole('button', { name: 'Add a passkey' }));
    await page.getByRole('status').getByText('Passkey added.').waitFor();
    await page.getByText('Synced across devices').waitFor();
    await checkWithAxe(page);
    await show('security');
    await rename(page);
    await signOut(page);

    await page.goto(`${base}login?kind=change_password#unasked`);
    await use(/\/account\/password\/change$/);
    assert.deepEqual(await newest(latchkey, username), { acr: 'phr', amr: ['swk', 'user', 'mfa'], kinds: ['passkey'] });

    await page.goto(`${base}reauth?kind=manage_account`);
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await checkWithAxe(page);
    await show('reauth');
    await use(/\/account\/$/);
    assert.deepEqual((await newest(latchkey, username)).kinds, ['passkey', 'passkey']);
    await signOut(page);

    // Autofill for the username: no button is pressed.
    await page.goto(`${base}login?kind=change_password`);
    await page.waitForURL(/\/account\/password\/change$/);
    await signOut(page);

    // The same passkey, because the host name stays the same.
    await page.goto('about:blank');
    const strict = await restart();
    base = strict.base;
    await page.goto(`${base}login?kind=manage_account#unasked`);
    await signIn(page, username);
    await page.waitForURL(/\/login\/passkey/);
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await checkWithAxe(page);
    await show('second-factor');
    await use(/\/account\/$/);
    assert.deepEqual((await newest(strict, username)).kinds, ['password', 'passkey']);

    await remove(page, base);
    heard.check(ANNOUNCED.passkeys);
    assert.deepEqual(browserErrors, []);
  } catch (error) {
    const shown = await page.locator('body').innerText();
    throw new Error(`${error.message}\n${page.url()} shows: ${shown}\n${browserErrors.join('\n')}`, { cause: error });
  } finally {
    await context.close();
  }
}

async function examineOffer(page, show) {
  for (const appearance of APPEARANCES) {
    await appear(page, appearance);
    await checkWidth(page);
    if (appearance.viewport.width === 320) await checkTargets(page);
    await checkWithAxe(page);
    await show(`offer-${appearance.colorScheme}-${appearance.viewport.width}`);
  }
  await checkFocus(page);
}

async function rename(page) {
  await activate(page, page.getByRole('button', { name: /^Rename / }));
  const dialog = page.getByRole('dialog', { name: 'Rename this passkey' });
  await dialog.getByLabel('Name').fill('Blue telephone');
  await activate(page, dialog.getByRole('button', { name: 'Save' }));
  await page.getByText('Blue telephone').waitFor();
}

async function remove(page, base) {
  await page.goto(`${base}account/security`);
  await heading(page, 'Security');
  await activate(page, page.getByRole('button', { name: 'Remove Blue telephone' }));
  const dialog = page.getByRole('dialog', { name: 'Remove the passkey' });
  await dialog.waitFor();
  await checkWithAxe(page);
  await activate(page, dialog.getByRole('button', { name: 'Remove' }));
  await page.getByRole('button', { name: 'Remove Blue telephone' }).waitFor({ state: 'detached' });
}

/** The sign-in page behind a button would offer the passkey, and the authenticator would respond immediately. */
async function signOut(page) {
  await page.context().clearCookies();
}

/** Returns the user's newest session. */
async function newest(latchkey, username) {
  const [row] = await latchkey.sql(
    `select s.acr, s.amr,
            array(select a.kind from user_session_authentications a where a.user_session_id = s.id order by a.id) as kinds
       from user_sessions s join users u on u.id = s.user_id where u.username = $1 order by s.id desc limit 1`,
    [username],
  );
  return row;
}
