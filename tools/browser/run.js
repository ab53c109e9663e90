/** The journeys of a person in a real browser against the built program, then every page under a magnifying glass. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { branding, templates } from './brand.js';
import { Checks, say } from './checks.js';
import { launchChromium } from './chromium.js';
import { travel } from './journey.js';
import { Latchkey } from './latchkey.js';
import { checkPages } from './pages/check-pages.js';
import { RelyingParty } from './relying-party.js';
import { checkRequestLines } from './request-lines.js';
import { brandedSettings, closedSettings, PASSWORD, settings } from './settings.js';

const LIMIT_MS = 10 * 60_000;

/** `--quick`: the journeys alone; a word: the pages alone whose names hold it. */
const [only] = process.argv.slice(2);
const QUICK = '--quick';

const checks = new Checks();
setTimeout(() => {
  say(`not done after ${LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, LIMIT_MS).unref();
const folder = mkdtempSync(join(tmpdir(), 'latchkey-browser-'));
// Run by root, the database has an account of its own, which has to get there.
chmodSync(folder, 0o711);
const relyingParty = await RelyingParty.listen();
const browser = await launchChromium();
try {
  if (only === undefined || only === QUICK) await checkJourneys();
  if (only !== QUICK) await checkEveryPage();
} finally {
  await browser.close();
  await relyingParty.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = checks.close();

async function checkJourneys() {
  const latchkey = await Latchkey.start(folder, 'journeys', settings(relyingParty.callback));
  await relyingParty.discover(latchkey.base);
  const expected = [];
  for (const [colorScheme, javaScriptEnabled, username] of [
    ['light', true, 'eno'],
    ['dark', true, 'femi'],
    ['light', false, 'gus'],
    ['dark', false, 'hana'],
  ]) {
    const claim = `a person signs up, in and out by keyboard (${colorScheme}, scripts ${javaScriptEnabled ? 'on' : 'off'})`;
    const how = { browser, base: latchkey.base, relyingParty, colorScheme, javaScriptEnabled, username };
    await checks.that(claim, async () => {
      expected.push(...(await travel(how)));
    });
  }
  await checks.that('the program ends with 0 when it is told to stop', async () => {
    assert.equal(await latchkey.stop(), 0);
  });
  await checks.that('the log tells each request of the journeys, in order, and who made it', async () => {
    await checkRequestLines(latchkey.logLines(), expected);
  });
}

async function checkEveryPage() {
  const latchkey = await Latchkey.start(folder, 'pages', settings(relyingParty.callback));
  const closed = await Latchkey.start(folder, 'closed', closedSettings(relyingParty.callback));
  const looks = brandedSettings(relyingParty.callback, branding(folder), templates(folder));
  const branded = await Latchkey.start(folder, 'branded', looks);
  try {
    await relyingParty.discover(latchkey.base);
    for (const [username, ...options] of [['amira', '--display-name', 'Amira Okafor'], ['bo'], ['faro']]) {
      await latchkey.command(
        ['manage', 'register-user', '--yes', '--password-file', '-', ...options, username],
        PASSWORD,
      );
    }
    const pictures = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'latchkey-screenshots-'));
    const site = { latchkey, base: latchkey.base, closedBase: closed.base, brandedBase: branded.base, relyingParty };
    await checkPages(checks, browser, site, { pictures, only });
    say(`screenshots are in ${pictures}`);
  } finally {
    await branded.stop();
    await closed.stop();
    await latchkey.stop();
  }
}
