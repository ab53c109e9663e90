import assert from 'node:assert/strict';
import { decide, signIn, textAt, USER } from '../user.js';

export function readerChecks() {
  return [
    [
      'a person refuses, and gets no account',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(application.said, /No code received on OAuth2 callback/);
        assert.equal(await page.locator('form[action*="login"]').count(), 1);
      },
    ],
    [
      'a person signs in, and gets an account with the username',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        // Signed-out visitors are sent to the sign-in page.
        await textAt(page, application.base, '/settings');
        assert.equal(new URL(page.url()).pathname, '/settings');
        const line = new RegExp(`authenticated successfully using OAuth2.* username=${USER.username}\\b`);
        assert.match(application.said, line);
      },
    ],
  ];
}

async function enter(page, { base }) {
  await page.goto(`${base}/`);
  await page.getByRole('link', { name: 'Latchkey' }).click();
}
