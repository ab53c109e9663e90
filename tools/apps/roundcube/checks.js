import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { until } from '../../cluster/processes.js';
import { decide, signIn, USER } from '../user.js';

/** Checks that users who sign in here can read their mail there, without a password for the mail server. */
export function mailChecks() {
  return [
    [
      'a person refuses, and it is told so',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'cancel');
        await page.getByText('the user canceled the request').waitFor();
      },
    ],
    [
      'a person signs in, and their mailbox is open until their sessions end',
      async ({ page, application, latchkey }) => {
        await enter(page, application);
        await signIn(page, latchkey.base);
        await decide(page, latchkey.base, 'consent');
        const inbox = page.locator('#mailboxlist').getByText('Inbox');
        await inbox.waitFor();
        assert.match(application.said, new RegExp(`Login: user=<${USER.username}>, method=XOAUTH2`));
        await latchkey.command(['manage', 'kill-sessions', USER.username]);
        await page.reload();
        const refused = new RegExp(`auth failed.* user=<${USER.username}>, method=XOAUTH2`);
        await until(() => refused.test(application.said), 'the refusal of the token by Dovecot');
        assert.equal(await inbox.count(), 0);
      },
    ],
    [
      'the mailbox is closed to tokens without its scope, and to those of others',
      async ({ application, latchkey }) => {
        const { username } = USER;
        const issue = async (scope) => {
          const args = ['--actor', username, '--name', 'Mail program', '--scope', scope];
          return (await latchkey.command(['manage', 'issue-personal-token', ...args])).trim();
        };
        const [good, other] = [await issue('mail'), await issue('openid')];
        assert.equal(await authenticate(application, username, good), 'OK');
        assert.equal(await authenticate(application, username, other), 'NO');
        assert.equal(await authenticate(application, 'somebody-else', good), 'NO');
      },
    ],
  ];
}

async function enter(page, { base }) {
  await page.goto(base);
  await page.getByRole('link', { name: 'Latchkey' }).click();
}

/** @returns the IMAP response to the token, sent as XOAUTH2: `OK` or `NO` */
async function authenticate({ settings }, username, token) {
  const credentials = Buffer.from(`user=${username}\u0001auth=Bearer ${token}\u0001\u0001`).toString('base64');
  const socket = connect(Number(settings.IMAP_PORT), '127.0.0.1');
  try {
    socket.write(`a AUTHENTICATE XOAUTH2 ${credentials}\r\n`);
    for await (const line of createInterface({ input: socket })) {
      // A rejection starts with a challenge, which gets an empty response.
      if (line.startsWith('+')) socket.write('\r\n');
      const [tag, answer] = line.split(' ');
      if (tag === 'a') return answer;
    }
    throw new Error('the mail server closed the connection');
  } finally {
    socket.destroy();
  }
}
