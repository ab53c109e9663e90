/** Applications whose operator made a mistake: the application, the page or the log has to tell which. */
import assert from 'node:assert/strict';
import { applications } from './applications.js';
import { decide, signIn, textAt } from './person.js';

/**
 * @param name of the application and its mistake; @param mistake what differs: `settings` of the application, or its
 * `client` in the configuration of Latchkey; @param checks a claim and its check
 */
function withMistake(folder, name, mistake, ...checks) {
  const application = applications.find((one) => one.folder === folder);
  return { ...application, name: `${application.name}, ${name}`, ...mistake, checks: () => [checks] };
}

export const misconfigured = [
  withMistake(
    'go-oidc',
    'with a wrong secret',
    { settings: { CLIENT_SECRET: 'another-secret-of-some-length' } },
    'it shows the description, and the log says that the secret is wrong',
    async ({ page, application, latchkey }) => {
      const shown = await signInAndConsent(page, application, latchkey);
      assert.match(shown, /"invalid_client" "The client is unknown, or its credentials or their method are not those/);
      const line = refusal(latchkey, application);
      assert.match(line, /reason=bad_client_secret .*method=client_secret_\w+ registered=client_secret_basic/);
    },
  ),
  withMistake(
    'go-oidc',
    'whose client has no secret',
    { isPublic: true },
    'it shows the description, and the log says which method came and which is registered',
    async ({ page, application, latchkey }) => {
      const shown = await signInAndConsent(page, application, latchkey);
      assert.match(shown, /"invalid_client" "The client is unknown, or its credentials or their method are not those/);
      assert.match(
        refusal(latchkey, application),
        /reason=wrong_auth_method .*method=client_secret_\w+ registered=none/,
      );
    },
  ),
  withMistake(
    'go-oidc',
    'whose client may not ask for profile and email',
    { client: { scope: 'openid' } },
    'it signs in and learns the subject alone',
    async ({ page, application, latchkey }) => {
      await signInAndConsent(page, application, latchkey);
      const { sub, name, email } = JSON.parse(await textAt(page, application.base, '/me'));
      assert.deepEqual([sub === undefined, name, email], [false, '', '']);
    },
  ),
];

/** @returns what the application shows then */
async function signInAndConsent(page, application, latchkey) {
  await page.goto(`${application.base}/login`);
  await signIn(page, latchkey.base);
  await decide(page, latchkey.base, 'consent');
  await page.waitForURL((url) => url.href.startsWith(application.base));
  return await page.innerText('body');
}

/** The last line of the log that tells why a request of an application was refused. */
function refusal(latchkey, { clientId }) {
  return (
    latchkey.logLines().findLast((line) => / auth\.refused /.test(line) && line.includes(` client=${clientId}`)) ?? ''
  );
}
