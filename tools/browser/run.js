/**
 * The journeys of a person in a real browser against the built program, and every page under a magnifying glass; two
 * parts at a time.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checks, say } from './checks.js';
import { launchChromium } from './chromium.js';
import {
  checkAccountJourney,
  checkApiReference,
  checkChatAccountJourney,
  checkFirstPaint,
  checkJoining,
  checkJourneys,
  checkLinkedAccounts,
  checkPasskeys,
  checkRecovery,
  checkUnasked,
  checkUpstreamJourneys,
} from './journeys.js';
import { checkEveryPage } from './pages/every-page.js';
import { RelyingParty } from './relying-party.js';

const LIMIT_MS = 40 * 60_000;
const LANES = 2;

/** Those that are timed are asked for by their flag alone, on a machine without other work. */
const JOURNEYS = [
  { name: 'account', flag: '--account', check: checkAccountJourney },
  { name: 'journeys', check: checkJourneys },
  { name: 'joining', flag: '--mails', check: (checks, place) => checkJoining(checks, place, false) },
  { name: 'invited', flag: '--mails', check: (checks, place) => checkJoining(checks, place, true) },
  { name: 'upstream', flag: '--upstream', check: checkUpstreamJourneys },
  { name: 'recovery', flag: '--mails', check: checkRecovery },
  { name: 'reference', flag: '--admin', check: checkApiReference },
  { name: 'unasked', flag: '--mails', check: checkUnasked },
  { name: 'linked', flag: '--account', check: checkLinkedAccounts },
  { name: 'passkeys', flag: '--passkeys', check: checkPasskeys },
  { name: 'paint', flag: '--paint', check: checkFirstPaint, isTimed: true },
  { name: 'chat', flag: '--account', check: checkChatAccountJourney },
];

/**
 * `--short`: everything, but pages in fewer languages; `--quick`: the journeys alone; `--mails`: those with mails;
 * `--upstream`: those through another service; `--account`: those of the account area; `--admin`: that of the admin API;
 * `--passkeys`: those with passkeys; `--paint`: how soon pages of the account area show something; a word: the pages alone
 * whose names hold it.
 */
const [only] = process.argv.slice(2);
const isShort = only === '--short';
const isWhole = only === undefined || isShort;

const checks = new Checks();
setTimeout(() => {
  say(`not done after ${LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, LIMIT_MS).unref();
const browser = await launchChromium();
const pictures = process.env.SCREENSHOTS;
if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
const waiting = parts();
try {
  await Promise.all(Array.from({ length: LANES }, work));
} finally {
  await browser.close();
}
process.exitCode = checks.close();

async function work() {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const started = performance.now();
    await part.run();
    say(`${part.name}: ${Math.round((performance.now() - started) / 1000)} s`);
  }
}

/** What is to be done, that which takes longest first. */
function parts() {
  const journeys = JOURNEYS.filter(
    ({ flag, isTimed }) => only === flag || (isTimed !== true && (isWhole || only === '--quick')),
  );
  const word = isWhole ? undefined : only;
  const isOfPages = isWhole || !only.startsWith('--');
  const shares = isOfPages
    ? Array.from({ length: LANES }, (_, share) => ({ only: word, isShort, share, shares: LANES }))
    : [];
  return [
    // A page that fails is examined once more by itself.
    ...shares.map((which) => ({
      name: `pages ${which.share + 1} of ${LANES}`,
      run: () => inPlace((place) => checkEveryPage(checks, place, which)),
    })),
    ...journeys.map(({ name, check }) => ({
      name,
      run: () => checks.group(name, (own) => inPlace((place) => check(own, place))),
    })),
  ];
}

/** Gives work a folder for its services, and an application that people sign in to. */
async function inPlace(work) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-browser-'));
  // Run by root, the database has an account of its own, which has to get there.
  chmodSync(folder, 0o711);
  const relyingParty = await RelyingParty.listen();
  try {
    await work({ browser, folder, relyingParty, pictures });
  } finally {
    await relyingParty.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
