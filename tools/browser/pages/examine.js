import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns the prefix of the title of a page with errors. */
function titleOfErrors(language) {
  const texts = JSON.parse(readFileSync(new URL(`../../../locales/${language}.json`, import.meta.url), 'utf8'));
  return texts['page.title_error'].replace('{title}', '');
}

const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 900 };

/** All appearances of a page in one language. */
export const APPEARANCES = ['light', 'dark'].flatMap((colorScheme) =>
  [WIDE, NARROW].map((viewport) => ({ colorScheme, viewport })),
);

export async function appear(page, { colorScheme, viewport }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
}

/** Checks that no rule of axe reports a violation or an item for manual review. */
export async function checkWithAxe(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations, incomplete } = await globalThis.axe.run(document, {
      resultTypes: ['violations', 'incomplete'],
      // Framed content belongs to a third party.
      iframes: false,
      rules: { 'target-size': { enabled: true }, 'frame-tested': { enabled: false } },
    });
    // Colors of tabs that are scrolled out of view cannot be measured; at a larger width they are in view.
    const isMeasurable = (id, { target }) =>
      id !== 'color-contrast' || document.querySelector(target.at(-1))?.closest('.tabs') == null;
    const unclear = incomplete
      .map(({ id, nodes }) => ({ id, nodes: nodes.filter((node) => isMeasurable(id, node)) }))
      .filter(({ nodes }) => nodes.length > 0);
    return [...violations, ...unclear].map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  assert.deepEqual(found, []);
}

/** Checks that nothing overflows the window horizontally, and that no box clips its text (WCAG 2.2 1.4.10). */
export async function checkWidth(page) {
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    // Inputs scroll their value, inline text has no box, and Chromium measures hidden content late.
    const boxes = [...document.querySelectorAll('body *:not(input)')].filter((element) => {
      // Tabs scroll sideways, and text for screen readers is clipped.
      if (element.closest('.tabs, .visually-hidden') !== null) return false;
      return getComputedStyle(element).display !== 'inline' && element.checkVisibility();
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

/**
 * Checks that no button, field or checkbox with its text is lower than 44 px at this width, and no text link lower than
 * 24 px (browser-flows 12.2).
 */
export async function checkTargets(page) {
  const small = await page.evaluate(() => {
    const place = document.querySelector('dialog[open]') ?? document;
    const isText = (element) => element.matches('a:not([class*=button]), .button-quiet');
    const heightOf = (element) => {
      const boxes = [element, ...(element.matches('[type=checkbox], [type=radio]') ? element.labels : [])];
      return Math.max(...boxes.map((box) => box.getBoundingClientRect().height));
    };
    const controls = 'a[href], button, summary, input:not([type=hidden]), select, textarea';
    return [...place.querySelectorAll(controls)]
      .filter((element) => element.checkVisibility() && heightOf(element) > 1)
      .map((element) => [heightOf(element), isText(element) ? 24 : 44, element.outerHTML.slice(0, 160)])
      .filter(([height, least]) => height < least - 0.5)
      .map(([height, least, html]) => `${height} px, not ${least}: ${html}`);
  });
  assert.deepEqual(small, []);
}

/**
 * Checks that Tab reaches every interactive element, each with a focus ring of at least 2 px within the window (WCAG 2.2
 * 2.1.1, 2.4.7).
 */
export async function checkFocus(page) {
  const usable = await page.evaluate(() => {
    // Behind an open dialog, the page is inert.
    const place = document.querySelector('dialog[open]') ?? document;
    const controls =
      'a[href], button:enabled, summary, input:not([type=hidden]), select:enabled, textarea, [tabindex="0"]';
    const candidates = [...place.querySelectorAll(controls)];
    const visible = candidates.filter((element) => element.checkVisibility());
    globalThis.reached = new Set();
    return visible.length;
  });
  const problemsIn = new Set();
  for (let presses = 0; presses < usable + 3; presses += 1) {
    await page.keyboard.press('Tab');
    const complaint = await unseenFocus(page);
    if (complaint !== undefined) problemsIn.add(complaint);
  }
  assert.deepEqual([...problemsIn], []);
  assert.equal(await page.evaluate(() => globalThis.reached.size), usable, 'the keyboard reaches everything');
}

/** Returns the focused element unless it has a ring of at least 2 px within the window (WCAG 2.2 2.4.7). */
export async function unseenFocus(page) {
  return await page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return undefined;
    // Chromium makes a dialog focusable if it is taller than the window, so that the keyboard can scroll it.
    if (element instanceof HTMLDialogElement) return undefined;
    // A focused element in a frame belongs to a third party.
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
 * Checks for one heading, a title that shows whether the form was rejected, and no inline code (browser-flows 2.3,
 * 12.2). In the account area the first invalid field has the focus, and the title names the page (account-graphql 8.7).
 * @param allowed additions of this page to the common Content-Security-Policy
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
    // Its forms do not reload the page: the message is announced, and the first invalid field gets the focus.
    if (document.firstWrong !== undefined) await page.waitForFunction(isFocused, document.firstWrong);
  } else {
    assert.equal(document.isAlertFocused, document.hasAlert, 'the errors have the focus');
    const rejected = titleOfErrors(locale);
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
