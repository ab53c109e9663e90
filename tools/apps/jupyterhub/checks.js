import assert from 'node:assert/strict';
import { decide, signIn, USER } from '../user.js';

export function hubChecks() {
  return [
    [
      'a person refuses, and it is told so',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(await page.innerText('body'), /the user canceled the request/);
      },
    ],
    [
      'a person outside the groups is refused',
      async ({ page, application, latchkey }) => {
        await latchkey.command(['manage', 'set-groups', USER.username, 'guests']);
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(await page.innerText('body'), /403/);
      },
    ],
    ...[
      ['members', false],
      ['admins', true],
    ].map(([group, isAdmin]) => [
      `a person in the group ${group} gets in ${isAdmin ? 'as an administrator' : 'as a user'}`,
      async ({ page, application, latchkey }) => {
        await latchkey.command(['manage', 'set-groups', USER.username, group]);
        await enter(page, application);
        await signIn(page, latchkey.base);
        await page.waitForURL((url) => url.href.startsWith(`${application.base}/hub/home`));
        assert.match(await page.innerText('body'), new RegExp(`\\b${USER.username}\\b`));
        assert.equal(await page.getByRole('link', { name: 'Admin' }).count(), isAdmin ? 1 : 0);
      },
    ]),
  ];
}

async function enter(page, { base }) {
  await page.goto(`${base}/hub/oauth_login?next=%2Fhub%2Fhome`);
}
