/** Steps shared by several journeys through the account area. */
import { watch } from './journey.js';
import { press, tabTo, typeInto } from './keyboard.js';
import { PASSWORD } from './settings.js';

const LIMIT_MS = 60_000;

/** Opens a separate browser. `work` gets the page, and a list of its errors. */
export async function withPage(browser, work) {
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  try {
    await work(page, watch(page));
  } catch (error) {
    const shown = await page.locator('body').innerText();
    throw new Error(`${error.message}\n${page.url()} shows: ${shown}`, { cause: error });
  } finally {
    await context.close();
  }
}

export async function signIn(page, username) {
  await page.getByLabel('Username').waitFor();
  await typeInto(page, page.getByLabel('Username'), username);
  await typeInto(page, page.getByRole('textbox', { name: 'Password', exact: true }), PASSWORD);
  await press(page, page.getByRole('button', { name: 'Sign in', exact: true }));
}

export async function heading(page, title) {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
}

/** Waits for a link or button and activates it, without waiting for the result. */
export async function activate(page, locator) {
  await locator.waitFor();
  await tabTo(page, locator);
  await page.keyboard.press('Enter');
}

export async function until(isSo) {
  const end = Date.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not so after ${LIMIT_MS / 1000} s: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
