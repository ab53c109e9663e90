/** A new password ends the sessions of chat clients along with those of applications (chat-compat 10.2). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changePassword } from '#test/support/account-operations.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const PASSWORD = 'correct horse battery staple';

let service: TestService;

beforeAll(async () => {
  const strengthWorker = await bundleWorker(
    new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url),
  );
  service = await startService({}, { strengthWorker });
});
afterAll(async () => await service.stop());

test.each([
  ['ends them where the person wants it', true, 401],
  ['leaves them alone otherwise', false, 200],
])('a new password %s', async (what, endApplicationSessions, status) => {
  const username = what.startsWith('ends') ? 'amira' : 'bela';
  await service.registerUser(username, PASSWORD);
  await service.registerUser(`not-${username}`, PASSWORD);
  const chat = new ChatClient(service);
  const own = await chat.login(username, PASSWORD, { refresh_token: true });
  const other = await chat.login(`not-${username}`, PASSWORD, { refresh_token: true });
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get('/login');
  await browser.submit({ username, password: PASSWORD });
  const newPassword = 'seven purple walruses sing quietly';
  const change = { oldPassword: PASSWORD, newPassword, endApplicationSessions };
  expect(await changePassword(browser, change)).toBe('ALLOWED');

  expect((await chat.post('/refresh', { refresh_token: own.refreshToken })).status).toBe(status);
  expect((await chat.post('/refresh', { refresh_token: other.refreshToken })).status).toBe(200);
  const events = await sql(
    service.database,
    `select u.username, e.detail from audit_events e join users u on u.id = e.user_id
      where e.kind = 'session_ended' and u.username in ($1::text, 'not-' || $1::text)`,
    [username],
  );
  const ended = { username, detail: { reason: 'password_changed', sessions: 1 } };
  expect(events).toEqual(status === 200 ? [] : [ended]);
});
