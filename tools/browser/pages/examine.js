import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 900 };

/** Every way in which a page is shown. */
export const APPEARANCES = ['light', 'dark'].flatMap((colorScheme) =>
  [WIDE, NARROW].flatMap((viewport) => ['ltr', 'rtl'].map((direction) => ({ colorScheme, viewport, direction }))),
);

export async function appear(page, { colorScheme, viewport, direction }) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await page.evaluate((dir) => {
    document.documentElement.dir = dir;
  }, direction);
}

/** Nothing found by any rule of axe, nor anything that it leaves for a person to judge. */
export async function checkWithAxe(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations, incomplete } = await globalThis.axe.run(document, {
      resultTypes: ['violations', 'incomplete'],
      rules: { 'target-size': { enabled: true } },
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
    const candidates = [...document.querySelectorAll('a[href], button, input:not([type=hidden])')];
    const visible = candidates.filter((element) => element.checkVisibility());
    globalThis.reached = new Set();
    return visible.length;
  });
  const complaints = new Set();
  for (let presses = 0; presses < usable + 3; presses += 1) {
    await page.keyboard.press('Tab');
    const complaint = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return undefined;
      globalThis.reached.add(element);
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const { top, bottom } = element.getBoundingClientRect();
      const hasRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
      const isShown = top >= 0 && bottom <= innerHeight;
      return hasRing && isShown ? undefined : element.outerHTML;
    });
    if (complaint !== undefined) complaints.add(complaint);
  }
  assert.deepEqual([...complaints], []);
  assert.equal(await page.evaluate(() => globalThis.reached.size), usable, 'the keyboard reaches everything');
}

/** One heading, a title that says whether the form was rejected, and nothing inline (browser-flows 2.3, 12.2). */
export async function checkDocument(page, response, locale) {
  const document = await page.evaluate(() => ({
    headings: globalThis.document.querySelectorAll('h1').length,
    inline: globalThis.document.querySelectorAll('style, [style], script:not([src])').length,
    hasAlert: globalThis.document.querySelector('[role=alert]') !== null,
    isAlertFocused: globalThis.document.activeElement?.getAttribute('role') === 'alert',
  }));
  assert.equal(document.headings, 1, 'one h1');
  assert.equal(document.inline, 0, 'no inline script or style');
  assert.equal(document.isAlertFocused, document.hasAlert, 'the errors have the focus');
  const rejected = { en: 'Error: ', de: 'Fehler: ' }[locale];
  const title = await page.title();
  assert.match(title, / – example\.org$/);
  assert.equal(title.startsWith(rejected), document.hasAlert, `the title of a rejected form begins with "${rejected}"`);
  const headers = response.headers();
  assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(headers['content-security-policy'], /unsafe|nonce|\*/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['content-language'], locale);
}
