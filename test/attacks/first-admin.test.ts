/** The first user to register on a new service does not become its administrator (S-172). */
import { expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { registerCompletely } from '#test/support/registering.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const service = await sharedByTests(
  startService(
    { account: { password_registration_enabled: true, password_registration_email_required: false } },
    {
      strengthWorker: await bundleWorker(
        new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
      ),
    },
  ),
);

test('a new installation has no account, and so no default password (S-172)', async () => {
  expect(await sql(service.database, 'select from users')).toEqual([]);
});

test('no page can create an administrator (S-172)', async () => {
  for (const path of ['/setup', '/install', '/api/admin/v1/setup', '/init', '/first-run']) {
    for (const method of ['GET', 'POST']) {
      expect((await fetch(service.address + path, { method })).status, `${method} ${path}`).toBe(404);
    }
  }
});

test('the admin area leads a visitor to the sign-in page (S-172)', async () => {
  for (const path of ['/admin', '/admin/', '/admin/setup']) {
    expect(new URL((await fetch(service.address + path)).url).pathname, path).toBe('/login');
    expect((await fetch(service.address + path, { method: 'POST' })).status, path).toBe(405);
  }
});

test('the first user to register has no additional rights (S-172)', async () => {
  await registerCompletely(new Browser({ listener: service.address, publicBase: service.publicBase }), 'quick');
  expect(await sql(service.database, 'select username, can_request_admin from users')).toEqual([
    { username: 'quick', can_request_admin: false },
  ]);
});
