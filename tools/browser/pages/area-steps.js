/** Steps to reach several pages of the account area. */
import assert from 'node:assert/strict';

/** Waits until the last part of the page is shown. */
export async function shown(page) {
  await page.locator('.foot a').first().waitFor();
  await page.locator('main h1').waitFor();
}

export async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name=${name}]`).fill(value);
}

export async function press(page) {
  await page.locator('main form button[type=submit]').click();
}

/** Checks that exactly these fields are marked as invalid. */
export async function wrong(page, names) {
  await page.locator(`#${names[0]}[aria-invalid]`).waitFor();
  const found = await page.locator('[aria-invalid]').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(found, names);
}

/** Mocks the response to an operation. */
export async function respondingWith(page, operation, data, work) {
  await replying(page, operation, { status: 200, json: { data } }, work);
}

/** Mocks a rate limit error for an operation. */
export async function limitingRate(page, operation, work) {
  const error = { message: 'rate limited', extensions: { code: 'RATE_LIMITED', retryAfter: 120 } };
  await replying(page, operation, { status: 200, json: { data: null, errors: [error] } }, work);
}

async function replying(page, operation, answer, work) {
  await page.route('**/graphql', async (route) => {
    const { query } = route.request().postDataJSON();
    if (query.includes(` ${operation}(`)) await route.fulfill(answer);
    else await route.fallback();
  });
  const answered = page.waitForResponse('**/graphql');
  await work();
  await answered;
}
