/** Writes the screenshots that the guides show, in `docs/guides/images/`. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, fillSeries } from './admin-overview.js';
import { Latchkey } from './latchkey.js';
import { authorizationPages } from './pages/authorization.js';
import { devicePages } from './pages/device.js';
import { registrationPages } from './pages/registration.js';
import { secondFactorPages } from './pages/second-factor.js';
import { signInPages } from './pages/sign-in.js';
import { signInAtHome } from './pages/steps.js';
import { PASSWORD, pageSettings, strictSettings } from './settings.js';

const FOLDER = join(import.meta.dirname, '../../docs/guides/images');
const MAX_BYTES = 60 * 1024;
const QUALITY = 75;
const PAGES = [...signInPages, ...secondFactorPages, ...registrationPages, ...authorizationPages, ...devicePages];

const FORM = { width: 560, height: 300, scale: 1.5 };
const WIDE = { width: 880, height: 300, scale: 1.5 };
const AREA = { width: 1000, height: 300, scale: 1 };
const ADMINISTRATOR = 'nadia';
const USERS = [
  ['amira', '--display-name', 'Amira Okafor', '--email', 'amira@example.org'],
  ['hana'],
  ['idris'],
  [ADMINISTRATOR, '--admin'],
];

const IMAGES = [
  { name: 'sign-in', reach: reachOf('login-to-application') },
  { name: 'consent', reach: reachOf('consent') },
  { name: 'registration', reach: reachOf('register-strength-good') },
  { name: 'second-factor', reach: reachOf('login-totp') },
  { name: 'passkey', reach: reachOf('login-passkey') },
  { name: 'device-code', reach: reachOf('device') },
  { name: 'account-area', reach: openAccountArea, viewport: WIDE },
  { name: 'admin-new-application', reach: fillApplication, viewport: AREA },
  { name: 'admin-connect', reach: openConnect, viewport: AREA },
  { name: 'admin-invitation', reach: openInvitation, viewport: AREA },
  { name: 'admin-overview', reach: openOverview, viewport: AREA, quality: 60 },
  { name: 'admin-policy-data', reach: comparePolicyData, viewport: AREA },
];

export async function writeGuideImages(checks, { browser, folder, relyingParty }) {
  // Passkeys need a host name.
  const start = (name, settings) => Latchkey.start(folder, name, settings(relyingParty.callback), 'localhost');
  const latchkey = await start('images', pageSettings);
  const strict = await start('images-strict', strictSettings);
  try {
    await relyingParty.discover(latchkey.base);
    for (const [username, ...options] of USERS) {
      const command = ['manage', 'register-user', '--yes', '--password-file', '-', ...options, username];
      await latchkey.command(command, PASSWORD);
    }
    const site = { latchkey, base: latchkey.base, strictBase: strict.base, relyingParty };
    mkdirSync(FOLDER, { recursive: true });
    for (const image of IMAGES) await checks.that(`${image.name}.webp is small`, () => write(browser, site, image));
  } finally {
    await strict.stop();
    await latchkey.stop();
  }
}

async function write(browser, site, { name, reach, viewport: { scale, ...viewport } = FORM, quality = QUALITY }) {
  const context = await browser.newContext({ locale: 'en', colorScheme: 'light', viewport });
  try {
    const page = await context.newPage();
    await reach(page, site);
    await page.evaluate(hideMachine);
    // The whole page, without scrollbars.
    const height = await page.evaluate(() => globalThis.document.documentElement.scrollHeight);
    await page.setViewportSize({ ...viewport, height });
    const devtools = await context.newCDPSession(page);
    const clip = { x: 0, y: 0, width: viewport.width, height, scale };
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality, clip });
    const content = Buffer.from(data, 'base64');
    writeFileSync(join(FOLDER, `${name}.webp`), content);
    assert.ok(content.length <= MAX_BYTES, `${content.length} bytes`);
  } finally {
    await context.close();
  }
}

/** Replaces what differs on every machine and in every run, and hides the text cursor. Runs in the page. */
function hideMachine() {
  const { document, NodeFilter } = globalThis;
  document.activeElement?.blur();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null) {
    const text = texts.currentNode;
    text.data = text.data.replace(/(?:127\.0\.0\.1|localhost):\d+/g, 'app.harbour.example');
  }
}

async function openAccountArea(page, site) {
  await signInAtHome(page, site, 'amira');
  await page.goto(`${site.base}account/`);
  await page.locator('.fact-list').first().waitFor();
  await page.locator('.foot a').first().waitFor();
}

async function openAdminArea(page, site, path) {
  await signInAtHome(page, site, ADMINISTRATOR);
  await page.goto(`${site.base}admin/${path}`);
  await page.locator('main h1').waitFor();
}

async function fillApplication(page, site) {
  await openAdminArea(page, site, 'applications/new?kind=server');
  await page.getByLabel('Name').fill('Team wiki');
  await page.getByLabel('Redirect URIs', { exact: true }).fill('https://wiki.example.org/callback');
}

async function openConnect(page, site) {
  await fillApplication(page, site);
  await page.getByRole('button', { name: 'Add application' }).click();
  await page.waitForURL(/\/connect$/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Run test' }).waitFor();
}

async function openInvitation(page, site) {
  await openAdminArea(page, site, 'invitations');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.locator('#note').fill('New colleagues');
  await page.getByRole('button', { name: 'Create invitation' }).click();
  await page.getByRole('heading', { level: 1, name: 'New colleagues' }).waitFor();
  await page.locator('.qr-code, svg').first().waitFor();
}

async function comparePolicyData(page, site) {
  await openAdminArea(page, site, 'settings/policy-data');
  const data = {
    banned_domains: ['trash.example', '*.spam.example'],
    registration: { banned_usernames: { prefixes: ['bot-'] } },
  };
  await page.locator('#policy-data').fill(JSON.stringify(data, null, 2));
  await page.getByRole('button', { name: 'Check and compare' }).click();
  await page.getByRole('button', { name: 'Save and apply' }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
}

/** Shows a service that has been used for a while. */
async function openOverview(page, site) {
  await fillSeries(site.latchkey);
  await openAdminArea(page, site, '');
  await page.locator('.figure').first().waitFor();
  await drawn(page);
}

function reachOf(name) {
  return PAGES.find((page) => page.name === name).reach;
}
