/** What several pages of the account area are reached by. */
import assert from 'node:assert/strict';

/** What comes last is there. */
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

/** These fields are said to be wrong, and no others. */
export async function wrong(page, names) {
  await page.locator(`#${names[0]}[aria-invalid]`).waitFor();
  const found = await page.locator('[aria-invalid]').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(found, names);
}

/** Has an operation answered with data of the test. */
export async function answering(page, operation, data, work) {
  await replying(page, operation, { status: 200, json: { data } }, work);
}

/** Has an operation refused by a limit. */
export async function limiting(page, operation, work) {
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
