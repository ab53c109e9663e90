/** Checks of a page without a backend: the browser sends every request, cross-origin. */
import assert from 'node:assert/strict';
import { decide, signIn, subjectOf, USER } from '../user.js';

export function singlePageChecks() {
  return [
    [
      'a person signs in, and the page learns subject, name and e-mail address',
      async ({ page, application, latchkey }) => {
        const profile = await signInAtPage(page, application, latchkey);
        assert.equal(profile.sub, subjectOf(latchkey));
        assert.equal(profile.name, USER.name);
        assert.equal(profile.email, USER.email);
      },
    ],
    [
      'a person signs in in a pop-up window, which closes',
      async ({ page, application, latchkey }) => {
        await openPage(page, application);
        const opened = page.waitForEvent('popup');
        const signedIn = page.evaluate(async () => (await globalThis.manager.signinPopup()).profile);
        const popup = await opened;
        const closed = popup.waitForEvent('close');
        await signIn(popup, latchkey.base);
        assert.equal((await signedIn).name, USER.name);
        await closed;
      },
    ],
    [
      'it renews with its refresh token, and learns of the person again',
      async ({ page, application, latchkey }) => {
        await signInAtPage(page, application, latchkey);
        const before = await tokens(page);
        await page.evaluate(() => globalThis.manager.signinSilent());
        const after = await tokens(page);
        assert.notEqual(after.access_token, before.access_token);
        assert.notEqual(after.id_token, before.id_token);
        // The library keeps the first profile, so the check reads the token itself.
        assert.equal(claimsOf(after.id_token).name, USER.name);
      },
    ],
    [
      'it renews in a frame with prompt=none, without any page',
      async ({ page, application, latchkey }) => {
        await signInAtPage(page, application, latchkey);
        const before = await tokens(page);
        await page.evaluate(() => globalThis.manager.signinSilent({ forceIframeAuth: true }));
        const after = await tokens(page);
        assert.notEqual(after.refresh_token, before.refresh_token);
        assert.equal(after.profile.sub, before.profile.sub);
      },
    ],
    [
      'on another site its frame is told login_required, and its refresh token renews',
      async ({ page, application, latchkey }) => {
        // The same server under a name that browsers treat as another site.
        await signInAtPage(page, { base: application.base.replace('localhost', '127.0.0.1') }, latchkey);
        const refusal = await page.evaluate(() =>
          globalThis.manager.signinSilent({ forceIframeAuth: true }).catch(({ error }) => error),
        );
        assert.equal(refusal, 'login_required');
        const before = await tokens(page);
        await page.evaluate(() => globalThis.manager.signinSilent());
        const after = await tokens(page);
        assert.notEqual(after.access_token, before.access_token);
      },
    ],
    [
      'it signs out of the page: its tokens are worthless, and it is told login_required once the browser signed out',
      async ({ page, application, latchkey }) => {
        await signInAtPage(page, application, latchkey);
        const { access_token } = await tokens(page);
        assert.equal(await userInfoStatus(latchkey, access_token), 200);
        await page.evaluate(async () => {
          await globalThis.manager.revokeTokens();
          await globalThis.manager.removeUser();
        });
        assert.equal(await userInfoStatus(latchkey, access_token), 401);
        await page.goto(latchkey.base);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL(`${latchkey.base}login`);
        await openPage(page, application);
        const refusal = await page.evaluate(() =>
          globalThis.manager.signinSilent({ forceIframeAuth: true }).catch(({ error }) => error),
        );
        assert.equal(refusal, 'login_required');
      },
    ],
    [
      'it signs the person out of Latchkey as well by discovery, and gets the browser back',
      async ({ page, application, latchkey }) => {
        await signInAtPage(page, application, latchkey);
        const { access_token } = await tokens(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL((url) => url.href === `${application.base}/signed-out`);
        assert.equal(await userInfoStatus(latchkey, access_token), 401);
        await page.goto(latchkey.base);
        assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0);
      },
    ],
  ];
}

async function openPage(page, { base }) {
  await page.goto(base);
  await page.waitForFunction(() => globalThis.manager !== undefined);
}

/** @returns the claims that the page received */
async function signInAtPage(page, application, latchkey) {
  await openPage(page, application);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await signIn(page, latchkey.base);
  await page.waitForURL((url) => url.href.startsWith(application.base) || url.pathname.startsWith('/consent/'));
  if (page.url().startsWith(latchkey.base)) await decide(page, latchkey.base, 'consent');
  await page.waitForFunction(() => globalThis.manager !== undefined);
  assert.equal(await page.innerText('#state'), `Hello ${USER.name}`);
  return (await tokens(page)).profile;
}

async function tokens(page) {
  return await page.evaluate(async () => {
    const { access_token, refresh_token, id_token, profile } = await globalThis.manager.getUser();
    return { access_token, refresh_token, id_token, profile };
  });
}

function claimsOf(idToken) {
  return JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url').toString());
}

async function userInfoStatus({ base }, token) {
  const { status } = await fetch(`${base}oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  return status;
}
