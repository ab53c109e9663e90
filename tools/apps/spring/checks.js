import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { clientToken, statusWith } from '../access-tokens.js';
import { signInChecks } from '../sign-in-checks.js';
import { signIn, subjectOf, textAt } from '../user.js';

const LOGOUT_LIMIT_MS = 60_000;

export function springChecks(definition) {
  const enter = (page, base) => page.goto(`${base}/oauth2/authorization/latchkey`);
  return [
    ...signInChecks({ ...definition, enter, refusal: /Sign in|Login with/i }),
    [
      'its session ends when the person signs out of Latchkey',
      async ({ page, application, latchkey }) => {
        await enter(page, application.base);
        await signIn(page, latchkey.base);
        const { sub } = JSON.parse(await textAt(page, application.base, '/me'));
        assert.equal(sub, subjectOf(latchkey));
        await page.goto(`${latchkey.base}oauth2/logout`);
        await page.locator('main button[type=submit]').first().click();
        await page.waitForLoadState();
        const deadline = performance.now() + LOGOUT_LIMIT_MS;
        while ((await page.request.get(`${application.base}/me`, { maxRedirects: 0 })).status() === 200) {
          assert.ok(performance.now() < deadline, 'the session of the application goes on');
          await pause(500);
        }
      },
    ],
    ...[
      ['opaque', 'jwt', [200, 403, 401]],
      ['jwt', 'opaque', [200, 401, 401]],
    ].map(([kind, other, expected]) => [
      `its API for ${kind} tokens takes the right ones alone`,
      async ({ application, latchkey }) => {
        const token = (name) =>
          clientToken(latchkey, application, { scope: `${name}.read`, resource: `https://${name}.example.org/` });
        const right = await token(kind);
        const statuses = [];
        for (const one of [right, await token(other), `${right}x`]) {
          statuses.push(await statusWith(`${application.base}/${kind}`, one));
        }
        // The introspection endpoint accepts tokens of both APIs; those of the other API lack the scope.
        assert.deepEqual(statuses, expected);
      },
    ]),
  ];
}
