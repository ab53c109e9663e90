import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the title of a page with errors begins with. */
const TITLES_OF_ERRORS = { en: 'Error: ', de: 'Fehler: ', es: 'Error: ', fr: 'Erreur : ', ar: 'خطأ: ' };

const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 900 };

/** Every way in which a page is shown in one language. */
export const APPEARANCES = ['light', 'dark'].flatMap((colorScheme) =>
  [WIDE, NARROW].map((viewport) => ({ colorScheme, viewport })),
);

export async function appear(page, { colorScheme, viewport }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
}

/** Nothing found by any rule of axe, nor anything that it leaves for a person to judge. */
export async function checkWithAxe(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations, incomplete } = await globalThis.axe.run(document, {
      resultTypes: ['violations', 'incomplete'],
      // What is in a frame is somebody else's.
      iframes: false,
      rules: { 'target-size': { enabled: true }, 'frame-tested': { enabled: false } },
    });
    return [...violations, ...incomplete].map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  assert.deepEqual(found, []);
}

/** Nothing to the side of the window, and no text that its own box cuts off (WCAG 2.2 1.4.10). */
export async function checkWidth(page) {
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    // An input scrolls what is typed into it; a line of text has no box of its own.
    const boxes = [...document.querySelectorAll('body *:not(input)')].filter((element) => {
      return getComputedStyle(element).display !== 'inline';
    });
    const isWide = (element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > root.clientWidth || element.scrollWidth > element.clientWidth + 1;
    };
    const names = boxes.filter(isWide).map((element) => element.outerHTML.slice(0, 120));
    return root.scrollWidth > root.clientWidth ? [`the page is ${root.scrollWidth} px wide`, ...names] : names;
  });
  assert.deepEqual(wide, []);
}

/** Tab reaches everything that can be used, each with a ring of at least 2 px, within the window (2.1.1, 2.4.7). */
export async function checkFocus(page) {
  const usable = await page.evaluate(() => {
    // Of a page behind an open question, nothing can be used.
    const place = document.querySelector('dialog[open]') ?? document;
    const controls = 'a[href], button:enabled, summary, input:not([type=hidden]), textarea, [tabindex="0"]';
    const candidates = [...place.querySelectorAll(controls)];
    const visible = candidates.filter((element) => element.checkVisibility());
    globalThis.reached = new Set();
    return visible.length;
  });
  const complaints = new Set();
  for (let presses = 0; presses < usable + 3; presses += 1) {
    await page.keyboard.press('Tab');
    const complaint = await unseenFocus(page);
    if (complaint !== undefined) complaints.add(complaint);
  }
  assert.deepEqual([...complaints], []);
  assert.equal(await page.evaluate(() => globalThis.reached.size), usable, 'the keyboard reaches everything');
}

/** The element with the focus, unless a ring of at least 2 px shows it within the window (2.4.7). */
export async function unseenFocus(page) {
  return await page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return undefined;
    // Chromium stops at a question that is higher than the window, so that the keys scroll it.
    if (element instanceof HTMLDialogElement) return undefined;
    // What has the focus in a frame is somebody else's.
    if (element instanceof HTMLIFrameElement) return undefined;
    globalThis.reached?.add(element);
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { top, bottom } = element.getBoundingClientRect();
    const hasRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
    // Chromium scrolls by whole pixels.
    const isShown = top > -1 && bottom < innerHeight + 1;
    return hasRing && isShown
      ? undefined
      : `${element.outerHTML} at ${top} to ${bottom}, ${outlineStyle} ${outlineWidth}`;
  });
}

/** Runs in the page. */
function isFocused(id) {
  return globalThis.document.activeElement?.id === id;
}

/**
 * One heading, a title that says whether the form was rejected, and nothing inline (browser-flows 2.3, 12.2). In the
 * account area the first wrong field has the focus, and the title names the page (account-graphql 8.7).
 * @param allowed what the policy of this page has besides that of all pages
 */
export async function checkDocument(page, response, locale, allowed = '') {
  const document = await page.evaluate(() => ({
    headings: globalThis.document.querySelectorAll('h1').length,
    isArea: globalThis.document.querySelector('#root') !== null,
    firstWrong: globalThis.document.querySelector('[aria-invalid]')?.id,
    inline: globalThis.document.querySelectorAll('style, [style], script:not([src])').length,
    changedFields: [
      ...globalThis.document.querySelectorAll('input:is([type=text], [type=email], [type=password]):not([hidden])'),
    ]
      .filter(
        (input) =>
          input.getAttribute('autocorrect') !== 'off' ||
          input.getAttribute('spellcheck') !== 'false' ||
          !['none', 'characters'].includes(input.getAttribute('autocapitalize')),
      )
      .map(({ name }) => name),
    brokenImages: [...globalThis.document.images]
      .filter(({ complete, naturalWidth }) => complete && naturalWidth === 0)
      .map(({ src }) => src),
    hasAlert: globalThis.document.querySelector('[role=alert]') !== null,
    isAlertFocused: globalThis.document.activeElement?.getAttribute('role') === 'alert',
  }));
  assert.equal(document.headings, 1, 'one h1');
  assert.deepEqual(document.changedFields, [], 'browsers do not change what is typed');
  assert.deepEqual(document.brokenImages, [], 'every image is shown');
  assert.equal(document.inline, 0, 'no inline script or style');
  const title = await page.title();
  assert.match(title, / – example\.org$/);
  if (document.isArea) {
    // Its forms are not loaded again: the message is read out, and the first wrong field gets the focus.
    if (document.firstWrong !== undefined) await page.waitForFunction(isFocused, document.firstWrong);
  } else {
    assert.equal(document.isAlertFocused, document.hasAlert, 'the errors have the focus');
    const rejected = TITLES_OF_ERRORS[locale];
    const isRejected = title.startsWith(rejected);
    assert.equal(isRejected, document.hasAlert, `the title of a rejected form begins with "${rejected}"`);
  }
  const headers = response.headers();
  const policy = headers['content-security-policy'].replaceAll(allowed, '');
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|nonce|\*/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['content-language'], locale);
}
