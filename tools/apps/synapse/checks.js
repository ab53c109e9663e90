/** The sign-in of a chat client by its homeserver, to the end: until the client holds an access token of Synapse. */
import assert from 'node:assert/strict';
import { decide, PERSON, signIn } from '../person.js';

export function homeserverChecks() {
  return [
    [
      'a person signs in to a chat client, and the homeserver takes over name, display name and e-mail address',
      async ({ page, application, latchkey }) => {
        const client = `${application.base}/chat-client`;
        const start = new URLSearchParams({ redirectUrl: client });
        await page.goto(`${application.base}/_matrix/client/v3/login/sso/redirect/oidc-latchkey?${start}`);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        const link = page.getByRole('link', { name: 'Continue' });
        await link.waitFor();
        const returned = new URL(await link.getAttribute('href'));
        assert.equal(returned.origin + returned.pathname, client);
        const account = await call(application, 'POST', 'login', {
          type: 'm.login.token',
          token: returned.searchParams.get('loginToken'),
        });
        assert.equal(account.user_id, `@${PERSON.username}:localhost`);
        const { displayname } = await call(application, 'GET', `profile/${encodeURIComponent(account.user_id)}`);
        assert.equal(displayname, PERSON.name);
        const { threepids } = await call(application, 'GET', 'account/3pid', undefined, account.access_token);
        assert.deepEqual(
          threepids.map(({ address }) => address),
          [PERSON.email],
        );
      },
    ],
  ];
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
