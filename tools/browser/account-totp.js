import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkMessages } from './account-mocked-responses.js';
import { activate, heading } from './account-steps.js';
import { tabTo, typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';

/** Operations of these pages (account-graphql 7.2). */
export const TOTP_OPERATIONS = [
  'CompleteTotpEnrolment',
  'RegenerateRecoveryCodes',
  'RemoveTotp',
  'StartTotpEnrolment',
  'TotpStatus',
];

/** Sets up an authenticator app by its link, saves the recovery codes, regenerates them, and removes the app. */
export async function setUpApp({ page, base, username }) {
  await page.goto(`${base}account/security`);
  await activate(page, page.getByRole('link', { name: 'Set up an authenticator app' }));
  await heading(page, 'Authenticator app');
  const begin = page.getByRole('button', { name: 'Show QR code' });
  await begin.waitFor();
  await tabTo(page, begin);
  const nothing = { enrolmentId: null, secret: null, otpauthUrl: null, expiresAt: null };
  await checkMessages(page, 'StartTotpEnrolment', {
    'Your account already has an authenticator app.': {
      startTotpEnrolment: { status: 'ALREADY_ENROLLED', ...nothing },
    },
    'You are not allowed to do this.': { startTotpEnrolment: { status: 'DISABLED', ...nothing } },
    'Something went wrong. Please retry later.': { startTotpEnrolment: { status: 'OF_A_LATER_VERSION', ...nothing } },
    'Too many attempts.': 'RATE_LIMITED',
  });
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await checkWithAxe(page);
  const link = new URL(await page.getByRole('link', { name: 'Open in an app' }).getAttribute('href'));
  assert.equal(link.protocol, 'otpauth:');
  assert.match(link.href, new RegExp(`^otpauth://totp/example\\.org:${username}\\?`));
  const secret = link.searchParams.get('secret');
  assert.equal((await page.locator('.secret-key').innerText()).replaceAll(' ', ''), secret);

  const code = page.getByRole('textbox', { name: 'Code from the app' });
  await typeInto(page, code, '12 34');
  await page.keyboard.press('Enter');
  await page.getByText('Enter the 6 digits from the app.').waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'code');
  await typeInto(page, code, '000000');
  await checkMessages(page, 'CompleteTotpEnrolment', {
    'That code is incorrect.': { completeTotpEnrolment: { status: 'INVALID_CODE', recoveryCodes: null } },
    'Something went wrong. Please retry later.': {
      completeTotpEnrolment: { status: 'OF_A_LATER_VERSION', recoveryCodes: null },
    },
  });
  await typeInto(page, code, codeOfApp(secret));
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('The authenticator app is set up.').waitFor();
  const codes = await keepCodes(page, username);
  await heading(page, 'Security');
  await page.getByText('10 recovery codes left.').waitFor();
  await checkWithAxe(page);
  await makeOthers(page, username, codes);
  await remove(page);
}

/**
 * The page continues only after the user confirms that the codes are saved.
 * @returns the downloaded text
 */
async function keepCodes(page, username) {
  const shown = await page.locator('.recovery-codes code').allInnerTexts();
  assert.equal(shown.length, 10);
  const arriving = page.waitForEvent('download');
  await activate(page, page.getByRole('link', { name: 'Download codes' }));
  const download = await arriving;
  assert.equal(download.suggestedFilename(), 'recovery-codes.txt');
  const text = readFileSync(await download.path(), 'utf8');
  assert.deepEqual(text.split('\r\n'), [`Recovery codes for ${username} at example.org`, '', ...shown, '']);
  await activate(page, page.getByRole('button', { name: 'Copy codes' }));
  await page
    .getByRole('status')
    .getByText(/Codes copied\.|Your browser could not copy/)
    .waitFor();
  await activate(page, page.getByRole('button', { name: 'Done' }));
  await page.getByRole('alert').getByText('Save the codes, then').waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'codes_saved');
  await checkWithAxe(page);
  await page.keyboard.press('Space');
  await activate(page, page.getByRole('button', { name: 'Done' }));
  return shown;
}

async function makeOthers(page, username, former) {
  await activate(page, page.getByRole('button', { name: 'Create new codes' }));
  const dialog = page.getByRole('dialog', { name: 'Create new recovery codes?' });
  await dialog.waitFor();
  await checkWithAxe(page);
  await activate(page, dialog.getByRole('button', { name: 'Create new codes' }));
  await page.locator('.recovery-codes').waitFor();
  const made = await keepCodes(page, username);
  assert.deepEqual(
    made.filter((code) => former.includes(code)),
    [],
  );
  await page.getByText('10 recovery codes left.').waitFor();
}

async function remove(page) {
  await activate(page, page.getByRole('button', { name: 'Remove app' }));
  const dialog = page.getByRole('dialog', { name: 'Remove the authenticator app?' });
  const confirm = dialog.getByRole('button', { name: 'Remove app' });
  await confirm.waitFor();
  await tabTo(page, confirm);
  await checkMessages(page, 'RemoveTotp', {
    'so you cannot remove it.': { removeTotp: { status: 'REQUIRED_BY_POLICY' } },
    'Something went wrong. Please retry later.': { removeTotp: { status: 'OF_A_LATER_VERSION' } },
  });
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Authenticator app removed.').waitFor();
  await page.getByRole('link', { name: 'Set up an authenticator app' }).waitFor();
}

/** Returns the current code of an app with this base32 secret (RFC 6238). */
export function codeOfApp(secret) {
  const bits = [...secret].map((digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  );
  const key = Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)
      .map((byte) => Number.parseInt(byte, 2)),
  );
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac('sha1', key).update(step).digest();
  const number = digest.readUInt32BE(digest.at(-1) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
