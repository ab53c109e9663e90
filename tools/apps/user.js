/** A user in Chromium, on the pages of Latchkey. */
import assert from 'node:assert/strict';

export const USER = { username: 'amira', name: 'Amira Okafor', email: 'amira@example.org' };
export const PASSWORD = 'plum granite lantern 47';

/** Returns the user ID from the log. */
export function subjectOf(latchkey) {
  const pattern = new RegExp(`requester=user:(\\w+)\\(${USER.username}\\)`);
  const [, subject] =
    latchkey
      .logLines()
      .map((line) => pattern.exec(line))
      .findLast((found) => found !== null) ?? [];
  assert.ok(subject, 'the log names the user');
  return subject;
}

/** Enters username and password in the sign-in form. */
export async function signIn(page, base) {
  await page.waitForURL((url) => url.href.startsWith(`${base}login`));
  await page.locator('[name=username]').fill(USER.username);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.locator('main form:has([name=password]) button[type=submit]').last().click();
}

/**
 * Submits the consent page.
 * @param button its `value`: `consent` or `cancel`
 */
export async function decide(page, base, button) {
  await page.waitForURL((url) => url.href.startsWith(`${base}consent/`));
  await page.locator(`main button[value="${button}"]`).click();
}

/**
 * Waits until the browser is back at the application, and opens one of its pages.
 * @returns its text
 */
export async function textAt(page, base, path) {
  await page.waitForURL((url) => url.href.startsWith(base));
  const shown = await page.innerText('body');
  const response = await page.goto(base + path);
  assert.equal(response.status(), 200, `${path} of the application; before it showed: ${shown.slice(0, 1_500)}`);
  return await page.innerText('body');
}
