import assert from 'node:assert/strict';
import { signInChecks } from '../sign-in-checks.js';
import { signIn, USER } from '../user.js';

/** The user has already consented to the scopes in one of the earlier checks. */
export function groupChecks(definition) {
  return [
    ...signInChecks(definition),
    [
      'a page for a group is open to its members alone, as they are at the sign-in',
      async ({ page, application, latchkey }) => {
        for (const [groups, statuses] of [
          [[], [401, 403]],
          [['guests', 'members'], [200]],
          [['guests'], [401, 403]],
        ]) {
          await latchkey.command(['manage', 'set-groups', USER.username, ...groups]);
          await page.context().clearCookies();
          await page.goto(`${application.base}/club/`);
          const [answer] = await Promise.all([
            page.waitForResponse((response) => new URL(response.url()).href === `${application.base}/club/`),
            signIn(page, latchkey.base),
          ]);
          assert.ok(statuses.includes(answer.status()), `groups "${groups.join()}": ${answer.status()}`);
          if (answer.ok()) assert.match(await page.innerText('body'), /members only/);
        }
      },
    ],
  ];
}
