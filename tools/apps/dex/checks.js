import assert from 'node:assert/strict';
import { decide, signIn, USER } from '../user.js';

const CALLBACK = 'http://program.example/callback';
/** As in the configuration of dex. */
const BELA = { email: 'bela@example.org', password: 'password', username: 'bela' };

export function dexChecks() {
  return [
    [
      'a person refuses, and it is told so',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(application.said, /access_denied: the user canceled the request/);
      },
    ],
    [
      'a person signs in with Latchkey to a program that uses dex, which learns name and email address',
      async ({ page, application, latchkey }) => {
        // Nothing listens at this URL; the request of the browser is enough.
        const request = page.waitForRequest((asked) => asked.url().startsWith(CALLBACK));
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        const { name, email, email_verified } = await redeem(application, (await request).url());
        assert.deepEqual([name, email, email_verified], [USER.name, USER.email, true]);
      },
    ],
    [
      'a person signs in to Latchkey with dex, and gets an account',
      async ({ page, application, latchkey }) => {
        await page.goto(`${latchkey.base}login`);
        await page.getByRole('link', { name: 'Company dex' }).click();
        await page.waitForURL((url) => url.href.startsWith(application.base));
        await page.getByRole('link', { name: 'Log in with Email' }).click();
        await page.locator('[name=login]').fill(BELA.email);
        await page.locator('[name=password]').fill(BELA.password);
        await page.locator('button[type=submit]').click();
        await page.waitForURL((url) => url.href.startsWith(latchkey.base));
        const accounts = await latchkey.sql('select username from users where username = $1', [BELA.username]);
        assert.deepEqual(accounts, [{ username: BELA.username }]);
        assert.match(await page.innerText('body'), /bela/);
      },
    ],
  ];
}

/** Signs in to a client of dex through Latchkey. */
async function enter(page, { base }) {
  const query = new URLSearchParams({
    client_id: 'program',
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid profile email',
    state: 'state-of-the-program',
  });
  await page.goto(`${base}/dex/auth?${query}`);
  await page.getByRole('link', { name: 'Log in with Latchkey' }).click();
}

/**
 * Redeems the code like the client.
 * @returns the claims of the ID token
 */
async function redeem({ base }, address) {
  const response = await fetch(`${base}/dex/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('program:a-secret-of-at-least-16-characters').toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: new URL(address).searchParams.get('code'),
      redirect_uri: CALLBACK,
    }),
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return JSON.parse(Buffer.from(answer.id_token.split('.')[1], 'base64url').toString());
}
