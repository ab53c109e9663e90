/** Signs a chat client in through its homeserver, until the client holds an access token of Synapse. */
import assert from 'node:assert/strict';
import { decide, signIn, USER } from '../user.js';

export function homeserverChecks() {
  return [
    [
      'a person signs in to a chat client, and the homeserver takes over name, display name and e-mail address',
      async ({ page, application, latchkey }) => {
        const client = `${application.base}/chat-client`;
        await startAt(page, application, client);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        const link = page.getByRole('link', { name: 'Continue' });
        await link.waitFor();
        const account = await redeem(application, client, await link.getAttribute('href'));
        assert.equal(account.user_id, `@${USER.username}:localhost`);
        const { displayname } = await call(application, 'GET', `profile/${encodeURIComponent(account.user_id)}`);
        assert.equal(displayname, USER.name);
        const { threepids } = await call(application, 'GET', 'account/3pid', undefined, account.access_token);
        assert.deepEqual(
          threepids.map(({ address }) => address),
          [USER.email],
        );
      },
    ],
    ...['the login page', 'the consent page'].map((last) => [
      `from ${last} the browser goes by redirects over the homeserver to a chat client of another origin`,
      async ({ page, application, latchkey }) => {
        const client = `${application.base.replace('localhost', '127.0.0.1')}/chat-client`;
        if (last === 'the consent page') await forgetConsents(latchkey);
        await startAt(page, application, client);
        await signIn(page, latchkey.base);
        if (last === 'the consent page') await decide(page, latchkey.base, 'consent');
        await page.waitForURL((url) => url.href.startsWith(client));
        await redeem(application, client, page.url());
      },
    ]),
  ];
}

async function startAt(page, { base }, client) {
  const query = new URLSearchParams({ redirectUrl: client });
  await page.goto(`${base}/_matrix/client/v3/login/sso/redirect/oidc-latchkey?${query}`);
}

/**
 * Redeems the login token like a chat client.
 * @returns the response with its access token
 */
async function redeem(application, client, address) {
  const { origin, pathname, searchParams } = new URL(address);
  assert.equal(origin + pathname, client);
  const token = searchParams.get('loginToken');
  return await call(application, 'POST', 'login', { type: 'm.login.token', token });
}

async function forgetConsents(latchkey) {
  await latchkey.sql('delete from oauth2_consents');
}

async function call({ base }, method, path, body, token) {
  const response = await fetch(`${base}/_matrix/client/v3/${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer;
}
