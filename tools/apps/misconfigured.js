/** Applications with a configuration mistake: the application, the page or the log must show what is wrong. */
import assert from 'node:assert/strict';
import { applications } from './applications.js';
import { decide, signIn, textAt } from './user.js';

/**
 * @param name of the application and its mistake
 * @param mistake what differs: `settings` of the application, computed from the issuer, or its `client` in the
 * configuration of Latchkey
 * @param checks pairs of a claim and its check
 */
function withMistake(folder, name, mistake, ...checks) {
  const application = applications.find((one) => one.folder === folder);
  return {
    ...application,
    preset: undefined,
    name: `${application.name}, ${name}`,
    ...mistake,
    checks: () => [checks],
  };
}

export const misconfigured = [
  withMistake(
    'go-oidc',
    'with a wrong secret',
    { settings: () => ({ CLIENT_SECRET: 'another-secret-of-some-length' }) },
    'it shows the description, and the log says that the secret is wrong',
    async ({ page, application, latchkey }) => {
      const shown = await signInAndConsent(page, application, latchkey);
      assert.match(
        shown,
        /"invalid_client" "The client is unknown, or its credentials or authentication method do not match/,
      );
      const line = refusal(latchkey, application);
      assert.match(line, /code=bad_client_secret .*method=client_secret_\w+ registered=client_secret_basic/);
    },
  ),
  withMistake(
    'go-oidc',
    'whose client has no secret',
    { isPublic: true },
    'it shows the description, and the log says which method came and which is registered',
    async ({ page, application, latchkey }) => {
      const shown = await signInAndConsent(page, application, latchkey);
      assert.match(
        shown,
        /"invalid_client" "The client is unknown, or its credentials or authentication method do not match/,
      );
      assert.match(refusal(latchkey, application), /code=wrong_auth_method .*method=client_secret_\w+ registered=none/);
    },
  ),
  withMistake(
    'go-oidc',
    'whose client may not ask for profile and email',
    { client: () => ({ scope: 'openid' }) },
    'it signs in and learns the subject alone',
    async ({ page, application, latchkey }) => {
      await signInAndConsent(page, application, latchkey);
      const { sub, name, email } = JSON.parse(await textAt(page, application.base, '/me'));
      assert.deepEqual([sub === undefined, name, email], [false, '', '']);
    },
  ),
  withMistake('go-oidc', 'with a final slash that the issuer does not have', {
    settings: (issuer) => ({ ISSUER: `${issuer}/` }),
    startFailure:
      /\("http:\/\/localhost:\d+\/"\) did not match the issuer URL returned by provider \("http:\/\/localhost:\d+"\)/,
  }),
  withMistake(
    'passport-openidconnect',
    'whose client has no secret, without PKCE',
    { isPublic: true },
    'it shows that PKCE is to be turned on, and the log says what was expected and received',
    async ({ page, application, latchkey }) => {
      await page.goto(`${application.base}/login`);
      assert.match(await page.innerText('body'), /code_challenge is required for this client: enable PKCE with S256/);
      const line = refusal(latchkey, application);
      assert.match(line, /expected="code_challenge_method=S256 with a code_challenge of 43 characters"/);
      assert.match(line, /received="no code_challenge, no code_challenge_method"/);
    },
  ),
  withMistake(
    'django-allauth',
    'whose callback is registered without its final slash',
    { callback: '/accounts/oidc/latchkey/login/callback' },
    'the page tells developers what is wrong, and the log says which address came and which is registered',
    async ({ page, application, latchkey }) => {
      const { enter } = applications.find(({ folder }) => folder === 'django-allauth');
      await enter(page, application.base);
      const shown = await page.innerText('main');
      assert.match(shown, /invalid_redirect_uri/);
      assert.match(shown, /redirect_uri must exactly match one of the URIs registered for the client/);
      const callback = `${application.base}/accounts/oidc/latchkey/login/callback`;
      const line = refusal(latchkey, application);
      assert.ok(line.includes(` redirect_uri=${callback}/ `), line);
      const [, registered = ''] = line.split(' registered=');
      assert.ok(registered.includes(callback) && !registered.includes(`${callback}/`), line);
    },
  ),
  withMistake(
    'go-oidc',
    'with a client id of its own invention',
    { settings: () => ({ CLIENT_ID: 'my-app' }) },
    'the page tells developers where to look, and the log says what a client id is',
    async ({ page, application, latchkey }) => {
      await page.goto(`${application.base}/login`);
      assert.match(await page.innerText('main'), /its client_id is unknown; the server log shows/);
      assert.match(refusal(latchkey, application), /expected="a configured client_id of 26 characters"/);
    },
  ),
];

/** @returns what the application then shows */
async function signInAndConsent(page, application, latchkey) {
  await page.goto(`${application.base}/login`);
  await signIn(page, latchkey.base);
  await decide(page, latchkey.base, 'consent');
  await page.waitForURL((url) => url.href.startsWith(application.base));
  return await page.innerText('body');
}

/** Returns the last log line with the reason for a rejected request of an application. */
function refusal(latchkey, { clientId }) {
  return (
    latchkey.logLines().findLast((line) => / auth\.refused /.test(line) && line.includes(` client=${clientId}`)) ?? ''
  );
}
