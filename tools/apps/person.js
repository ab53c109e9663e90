/** A person in Chromium, at the pages of Latchkey. */
import assert from 'node:assert/strict';

export const PERSON = { username: 'amira', name: 'Amira Okafor', email: 'amira@example.org' };
export const PASSWORD = 'plum granite lantern 47';

/** The identifier of the account, as the log tells it. */
export function subjectOf(latchkey) {
  const pattern = new RegExp(`requester=user:(\\w+)\\(${PERSON.username}\\)`);
  const [, subject] =
    latchkey
      .logLines()
      .map((line) => pattern.exec(line))
      .findLast((found) => found !== null) ?? [];
  assert.ok(subject, 'the person is in the log');
  return subject;
}

/** Types name and password at the login form. */
export async function signIn(page, base) {
  await page.waitForURL((url) => url.href.startsWith(`${base}login`));
  await page.locator('[name=username]').fill(PERSON.username);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.locator('main form:has([name=password]) button[type=submit]').last().click();
}

/** Answers the consent page. @param button its `value`: `consent` or `cancel` */
export async function decide(page, base, button) {
  await page.waitForURL((url) => url.href.startsWith(`${base}consent/`));
  await page.locator(`main button[value="${button}"]`).click();
}

/** A page of an application, once the browser is back there. @returns its text */
export async function textAt(page, base, path) {
  await page.waitForURL((url) => url.href.startsWith(base));
  const shown = await page.innerText('body');
  const response = await page.goto(base + path);
  assert.equal(response.status(), 200, `${path} of the application; before it showed: ${shown.slice(0, 1_500)}`);
  return await page.innerText('body');
}
