/** Checks of every application that signs users in on its server. */
import assert from 'node:assert/strict';
import { decide, signIn, subjectOf, textAt, USER } from './user.js';

/**
 * @param definition of the application
 * @returns pairs of a claim and its check
 */
export function signInChecks({ enter = (page, base) => page.goto(`${base}/login`), me = '/me', refusal }) {
  return [
    [
      'a person refuses, and it is told so',
      async ({ page, application, latchkey }) => {
        const answers = errorAnswers(page, application);
        await enter(page, application.base);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.waitForURL((url) => url.href.startsWith(application.base));
        const [{ searchParams }] = answers;
        assert.equal(searchParams.get('error'), 'access_denied');
        assert.equal(searchParams.get('iss'), latchkey.base.slice(0, -1));
        assert.match(await page.innerText('body'), refusal);
      },
    ],
    [
      'a person signs in, and it learns subject, name and e-mail address',
      async ({ page, application, latchkey }) => {
        await enter(page, application.base);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        const learned = JSON.parse(await textAt(page, application.base, me));
        assert.deepEqual(learned, { sub: subjectOf(latchkey), name: USER.name, email: USER.email });
      },
    ],
  ];
}

/** Collects error responses that the browser carries from Latchkey to an application. */
function errorAnswers(page, { base }) {
  const answers = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.href.startsWith(base) && url.searchParams.has('error')) answers.push(url);
  });
  return answers;
}
