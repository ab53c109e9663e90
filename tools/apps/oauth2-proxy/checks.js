import assert from 'node:assert/strict';
import { decide, signIn, subjectOf, textAt, USER } from '../user.js';

export function groupChecks() {
  return [
    [
      'a person refuses, and it is told so',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(await page.innerText('body'), /403/);
        assert.match(application.said, /access_denied/);
      },
    ],
    [
      'a person outside the group is refused',
      async ({ page, application, latchkey }) => {
        await latchkey.command(['manage', 'set-groups', USER.username, 'guests']);
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        assert.match(await page.innerText('body'), /403/);
      },
    ],
    [
      'a member of the group gets in, and it learns subject, username, email address and groups',
      async ({ page, application, latchkey }) => {
        await latchkey.command(['manage', 'set-groups', USER.username, 'guests', 'members']);
        await enter(page, application);
        await signIn(page, latchkey.base);
        const learned = JSON.parse(await textAt(page, application.base, '/oauth2/userinfo'));
        assert.deepEqual(learned, {
          user: subjectOf(latchkey),
          email: USER.email,
          groups: ['guests', 'members'],
          preferredUsername: USER.username,
        });
      },
    ],
  ];
}

async function enter(page, { base }) {
  await page.goto(`${base}/oauth2/start?rd=%2F`);
}
