/**
 * Runs user journeys in a real browser against the built program, and examines every page; several parts run in
 * parallel.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checks, say } from './checks.js';
import { launchChromium } from './chromium.js';
import { writeGuideImages } from './guide-images.js';
import {
  checkAccountJourney,
  checkAdminApplications,
  checkAdminArea,
  checkAdminInvitations,
  checkAdminProviders,
  checkAdminSettings,
  checkApiReference,
  checkChatAccountJourney,
  checkEmailRegistration,
  checkFirstPaint,
  checkJourneys,
  checkLinkedAccounts,
  checkPasskeys,
  checkRecovery,
  checkUnpromptedRegistration,
  checkUpstreamJourneys,
} from './journeys.js';
import { checkEveryPage } from './pages/every-page.js';
import { RelyingParty } from './relying-party.js';

const LIMIT_MS = 40 * 60_000;
/** More than the cores of a small machine: most steps wait for a frame of the browser, a response or a mail. */
const LANES = 4;
/** Parts that share the pages. Each starts its own services. */
const SHARES_OF_PAGES = 2;

/** Separate ones run only by their flag: a timed one needs an otherwise idle machine, and images are written to `docs`. */
const JOURNEYS = [
  { name: 'account', flag: '--account', check: checkAccountJourney },
  { name: 'journeys', check: checkJourneys },
  { name: 'registration', flag: '--mails', check: (checks, place) => checkEmailRegistration(checks, place, false) },
  {
    name: 'registration by invitation',
    flag: '--mails',
    check: (checks, place) => checkEmailRegistration(checks, place, true),
  },
  { name: 'upstream', flag: '--upstream', check: checkUpstreamJourneys },
  { name: 'recovery', flag: '--mails', check: checkRecovery },
  { name: 'reference', flag: '--admin', check: checkApiReference },
  { name: 'admin area', flag: '--admin-area', check: checkAdminArea },
  { name: 'applications', flag: '--admin-area', check: checkAdminApplications },
  { name: 'invitations', flag: '--admin-area', check: checkAdminInvitations },
  { name: 'providers', flag: '--providers', check: checkAdminProviders },
  { name: 'settings', flag: '--admin-area', check: checkAdminSettings },
  { name: 'unprompted registration', flag: '--mails', check: checkUnpromptedRegistration },
  { name: 'linked', flag: '--account', check: checkLinkedAccounts },
  { name: 'passkeys', flag: '--passkeys', check: checkPasskeys },
  { name: 'paint', flag: '--paint', check: checkFirstPaint, isSeparate: true },
  { name: 'images', flag: '--images', check: writeGuideImages, isSeparate: true },
  { name: 'chat', flag: '--account', check: checkChatAccountJourney },
];

/**
 * `--short`: everything, but pages in fewer languages; `--quick`: only journeys; `--mails`: journeys with mails;
 * `--upstream`: journeys through another service; `--account`: the account area; `--admin`: the admin API;
 * `--admin-area`: the admin area; `--providers`: its pages of sign-in providers; `--passkeys`: passkeys; `--paint`: time until pages of the account area show content;
 * `--images`: the screenshots of the guides; `--layouts` and `--accept`,
 * maybe with a word: compares layouts of pages with the accepted ones, or writes these; a word: only pages whose names contain it.
 */
const isAccepting = process.argv[2] === '--accept';
const isComparing = process.argv[2] === '--layouts';
const [only = isAccepting || isComparing ? '' : undefined] = process.argv.slice(isAccepting || isComparing ? 3 : 2);
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

/** The selected parts, slowest first. */
function parts() {
  const journeys = JOURNEYS.filter(
    ({ flag, isSeparate }) => only === flag || (isSeparate !== true && (isWhole || only === '--quick')),
  );
  const word = isWhole ? undefined : only;
  const isOfPages = isWhole || !only.startsWith('--');
  const shares = isOfPages
    ? Array.from({ length: SHARES_OF_PAGES }, (_, share) => ({
        ...{ only: word, isShort, isAccepting, isComparing, share },
        shares: SHARES_OF_PAGES,
      }))
    : [];
  return [
    // A failed page is examined once more alone.
    ...shares.map((which) => ({
      name: `pages ${which.share + 1} of ${SHARES_OF_PAGES}`,
      run: () => inPlace((place) => checkEveryPage(checks, place, which)),
    })),
    ...journeys.map(({ name, check }) => ({
      name,
      run: () => checks.group(name, (own) => inPlace((place) => check(own, place))),
    })),
  ];
}

/** Provides a folder for services, and an application that users sign in to. */
async function inPlace(work) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-browser-'));
  // As root, the database runs under a different account, which needs access.
  chmodSync(folder, 0o711);
  const relyingParty = await RelyingParty.listen();
  try {
    await work({ browser, folder, relyingParty, pictures, isShort });
  } finally {
    await relyingParty.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
