import assert from 'node:assert/strict';
import { PASSWORD } from '../settings.js';

/** Pages of a service with a custom logo, favicon and accent color. */
export const brandedPages = [
  { name: 'branded-index', reach: (page, { brandedBase }) => page.goto(brandedBase) },
  { name: 'branded-login', reach: (page, { brandedBase }) => page.goto(`${brandedBase}login`) },
  {
    name: 'branded-register',
    reach: async (page, { brandedBase }) => {
      await page.goto(`${brandedBase}register`);
      await page.locator('[name=password]').fill(PASSWORD);
      await page.locator('[role=meter][aria-valuenow="4"]').waitFor();
    },
  },
  {
    name: 'branded-not-found',
    status: 404,
    codes: ['not_found'],
    reach: (page, { brandedBase }) => page.goto(`${brandedBase}no/such/page`),
  },
];

/** Checks the logo and the colors of both themes, and that an SVG opened directly runs no script. */
export async function checkBrand(browser, { brandedBase }) {
  for (const [colorScheme, logo, button] of [
    ['light', /\/assets\/logo-[0-9a-f]{8}\.svg$/, 'rgb(138, 28, 124)'],
    ['dark', /\/assets\/logo-dark-[0-9a-f]{8}\.svg$/, undefined],
  ]) {
    const context = await browser.newContext({ colorScheme });
    try {
      const page = await context.newPage();
      await page.goto(`${brandedBase}login`);
      const shown = await page.getByRole('img', { name: 'example.org' }).evaluate((image) => ({
        address: image.currentSrc,
        isDrawn: image.complete && image.naturalWidth > 0,
        height: image.clientHeight,
      }));
      assert.match(shown.address, logo);
      assert.ok(shown.isDrawn);
      assert.equal(shown.height, 48);
      assert.ok(await page.getByRole('link', { name: 'Back to the harbour' }).isVisible(), 'the template is theirs');
      const color = await page
        .locator('.button-primary')
        .evaluate((element) => getComputedStyle(element).backgroundColor);
      if (button !== undefined) assert.equal(color, button);
      else assert.notEqual(color, 'rgb(82, 205, 180)', 'not the bundled color');

      const drawing = await page.goto(shown.address);
      assert.equal(drawing.headers()['content-type'], 'image/svg+xml');
      assert.equal(await page.evaluate(() => globalThis.logoRan), undefined, 'no script of a drawing runs');
    } finally {
      await context.close();
    }
  }
}
