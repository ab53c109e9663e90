import assert from 'node:assert/strict';
import { join } from 'node:path';
import { OTHER_LANGUAGES } from '../settings.js';
import { accountPages } from './account.js';
import { authorizationPages } from './authorization.js';
import { brandedPages, checkBrand } from './branded.js';
import { captchaPages, checkCaptchas } from './captcha.js';
import { chatSsoPages } from './chat-sso.js';
import { devicePages } from './device.js';
import { APPEARANCES, appear, checkDocument, checkFocus, checkTargets, checkWidth, checkWithAxe } from './examine.js';
import { checkLayout } from './layout.js';
import { passwordChangePages } from './password-change.js';
import { playgroundPages } from './playground.js';
import { problemPages } from './problems.js';
import { recoveryPages } from './recovery.js';
import { registrationPages } from './registration.js';
import { secondFactorPages } from './second-factor.js';
import { signInPages } from './sign-in.js';
import { upstreamRegisterPages } from './upstream-register.js';
import { upstreamSignInPages } from './upstream-sign-in.js';

const PAGES = [
  ...signInPages,
  ...secondFactorPages,
  ...upstreamSignInPages,
  ...upstreamRegisterPages,
  ...passwordChangePages,
  ...recoveryPages,
  ...registrationPages,
  ...captchaPages,
  ...authorizationPages,
  ...devicePages,
  ...chatSsoPages,
  ...accountPages,
  ...playgroundPages,
  ...problemPages,
  ...brandedPages,
];

// Axe is slow: each color scheme and each width is checked once in each text direction.
const [BRIGHT_WIDE, BRIGHT_NARROW, DARK_WIDE, DARK_NARROW] = APPEARANCES;

const NORMAL = { colorScheme: 'light', viewport: { width: 1280, height: 800 } };
const NARROW = { ...NORMAL, viewport: { width: 320, height: 640 } };

const PICTURES = [
  ['light', NORMAL],
  ['dark', { ...NORMAL, colorScheme: 'dark' }],
  ['narrow', NARROW],
];

/** Pages with long texts, or many words in little space. */
const LONG_SAMPLE = new Set([
  'login-to-application',
  'register-refused',
  'verify-email',
  'upstream-choice',
  'upstream-register-refused',
  'upstream-link-named',
  'recover-link',
  'login-setup',
  'login-setup-codes',
  'password-change-wrong',
  'consent-dangerous',
  'device-unconfirmed',
  'account-sessions',
  'account-email-verify-refused',
]);

/**
 * Opens every page of the service and checks it in every appearance; then also in German, which has long words, in
 * Arabic, which is written from right to left, and in one of the other languages, which take turns. The short form
 * checks each page in one language besides English: German, another, Arabic, another, and so on.
 * @param site the services and the relying party
 * @param only part of the names of the pages to visit
 * @param share which of this number of equal parts
 * @param pictures folder for screenshots, if wanted
 */
export async function checkPages(
  checks,
  browser,
  site,
  { only = '', share, shares, isShort, isAccepting, isComparing, pictures },
) {
  if (share === 0 && !isAccepting && !isComparing) {
    await checks.that('other sites cannot show a page in a frame', () => checkFrame(browser, site));
    await checks.that('logo and colors of the operator are shown, and no script of a logo runs', () =>
      checkBrand(browser, site),
    );
    await checks.that('puzzles of each service are let in by the policy of their pages', () =>
      checkCaptchas(browser, site),
    );
  }
  const picture = async (page, name) => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  };
  const named = PAGES.filter(({ name }) => name.includes(only));
  if (named.length === 0) throw new Error(`no page has a name that holds "${only}"`);
  for (const [index, entry] of named.filter((_, place) => place % shares === share).entries()) {
    const languages = isShort ? [languageOfPlace(index)] : languagesOf(entry, index);
    await checks.group(entry.name, (own) =>
      isAccepting || isComparing
        ? visit(own, browser, 'en', entry, site, (page) =>
            own.that(`${entry.name}: the layout is the accepted one`, () => checkLayout(page, entry.name, isAccepting)),
          )
        : checkPage(own, browser, site, entry, languages, picture),
    );
  }
}

/** Every second page in German or Arabic, and each of the others in the next of the other languages. */
function languageOfPlace(index) {
  if (index % 2 === 1) return otherLanguage((index - 1) / 2);
  return index % 4 === 0 ? 'de' : 'ar';
}

/** In addition to English. */
function languagesOf({ name }, index) {
  const others = [
    otherLanguage(index),
    ...(LONG_SAMPLE.has(name) ? [1, 2, 3].map((more) => otherLanguage(index + more)) : []),
  ];
  return ['de', ...new Set(others), 'ar'];
}

function otherLanguage(index) {
  return OTHER_LANGUAGES[index % OTHER_LANGUAGES.length];
}

async function checkPage(checks, browser, site, entry, languages, picture) {
  const { name } = entry;
  await visit(checks, browser, 'en', entry, site, async (page) => {
    await checkAppearances(checks, page, name, [BRIGHT_WIDE, DARK_NARROW]);
    for (const [look, appearance] of PICTURES) {
      await appear(page, appearance);
      await picture(page, `${name}-${look}`);
    }
    await checks.that(`${name}: Tab reaches everything, and the focus is seen`, () => checkFocus(page));
  });
  for (const language of languages) {
    await visit(checks, browser, language, entry, site, async (page) => {
      if (language === 'ar') {
        await checkAppearances(checks, page, `${name}, Arabic`, [DARK_WIDE, BRIGHT_NARROW]);
        await appear(page, NORMAL);
      } else {
        await appear(page, NARROW);
        await checks.that(`${name}: ${language} at 320 px`, async () => {
          await checkWidth(page);
          if (language !== 'de') await checkWithAxe(page);
        });
      }
      await picture(page, `${name}-${language}`);
    });
  }
}

/** @param withAxe appearances that axe checks, which is slow */
async function checkAppearances(checks, page, name, withAxe) {
  for (const appearance of APPEARANCES) {
    await checks.that(`${name}: ${appearance.colorScheme}, ${appearance.viewport.width} px`, async () => {
      await appear(page, appearance);
      await checkWidth(page);
      if (appearance.viewport.width === NARROW.viewport.width) await checkTargets(page);
      if (withAxe.includes(appearance)) await checkWithAxe(page);
    });
  }
}

async function checkFrame(browser, { base, relyingParty }) {
  const page = await browser.newPage();
  try {
    const query = new URLSearchParams({ src: `${base}login` });
    await page.goto(new URL(`/frame?${query}`, relyingParty.callback).href);
    assert.equal(page.frames().length, 2);
    assert.equal(await page.frames()[1].locator('form').count(), 0, 'the frame stays empty');
  } finally {
    await page.close();
  }
}

/** Opens a separate browser, navigates to a page, verifies that it is this page, and examines it. */
async function visit(checks, browser, locale, entry, site, examine) {
  const context = await browser.newContext({
    locale,
    ...(entry.userAgent !== undefined && { userAgent: entry.userAgent }),
    // Without transitions, so that no color is checked halfway through a change.
    reducedMotion: 'reduce',
  });
  try {
    const page = await context.newPage();
    if (entry.isScriptWithheld) await context.route('**/assets/*.js', (route) => route.fulfill(NO_SCRIPT));
    const seen = watch(page);
    const isThere = await checks.that(`${entry.name}: is reached (${locale}), and is what it should be`, async () => {
      await entry.reach(page, site);
      assert.equal(seen.response.status(), entry.status ?? 200);
      assert.deepEqual(await errorCodes(page), entry.codes ?? []);
      await checkDocument(page, seen.response, locale, entry.allowed);
      assert.deepEqual(seen.browserErrors, []);
    });
    if (isThere) await examine(page);
  } finally {
    await context.close();
  }
}

const NO_SCRIPT = { contentType: 'text/javascript', body: '' };
// Chromium logs the status of an error page like this.
const STATUS = /^Failed to load resource: the server responded with a status of \d/;

/** Records the last loaded page, and browser errors on the way, such as policy violations. */
function watch(page) {
  const seen = { response: undefined, browserErrors: [] };
  page.on('response', (response) => {
    // A framed page belongs to a third party.
    const isOwn = response.frame() === page.mainFrame();
    if (isOwn && response.request().isNavigationRequest()) seen.response = response;
  });
  page.on('pageerror', (error) => seen.browserErrors.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (!STATUS.test(message.text())) seen.browserErrors.push(`console: ${message.text()}`);
  });
  return seen;
}

async function errorCodes(page) {
  return await page.locator('[data-error-code]').evaluateAll((all) => all.map((one) => one.dataset.errorCode));
}
