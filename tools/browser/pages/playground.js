import assert from 'node:assert/strict';
import { signInAtHome } from './steps.js';

/** The page to try API documents. */
export const playgroundPages = [{ name: 'playground', allowed: "'unsafe-inline'", reach: tryDocuments }];

/**
 * Runs a document as the signed-in user, then with a token in a header; reads the schema. The Content-Security-Policy
 * blocks nothing.
 */
async function tryDocuments(page, site) {
  await signInAtHome(page, site, 'bo');
  await page.goto(`${site.base}graphql/playground`);
  await page.evaluate(() => {
    globalThis.refused = [];
    addEventListener('securitypolicyviolation', ({ violatedDirective }) => refused.push(violatedDirective));
  });
  await page.locator('#document').press('Control+Enter');
  await holds(page, 'answer', '"username": "bo"');
  await page.locator('#headers').fill('{"authorization": "Bearer mat_none"}');
  await page.locator('.playground .button').click();
  await holds(page, 'answer', 'INVALID_TOKEN');
  await page.locator('#variables').fill('[]');
  await page.locator('.playground .button').click();
  await page.locator('.playground [role=status]', { hasText: 'JSON' }).waitFor();
  await page.locator('#variables').fill('{}');
  await page.locator('#headers').fill('');
  await page.locator('.playground summary').click();
  await holds(page, 'schema', 'type Query');
  assert.match(await page.locator('#schema').inputValue(), /\n {2}oauth2Session\(id: ID!\): Oauth2Session\n/);
  assert.deepEqual(await page.evaluate(() => globalThis.refused), []);
}

async function holds(page, id, text) {
  await page.waitForFunction(([name, wanted]) => document.getElementById(name).value.includes(wanted), [id, text]);
}
