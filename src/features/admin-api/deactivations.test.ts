/** When the homeserver is notified once more that an account is deactivated (operations 4.4). */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { AdminClient } from '#test/support/admin-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { CLIENT, startAdministeredService, type TestUser } from './administered-service.test-support.ts';

let admin: AdminClient;
let leaver: TestUser;

const administered = await sharedByTests(
  startAdministeredService({}, [CLIENT], ['homeserver.refused', 'job.failed', 'job.dead']),
);

beforeAll(async () => {
  admin = await administered.adminOf(CLIENT);
});
beforeEach(async () => {
  await administered.homeserver.setFault(undefined);
  leaver = await administered.person();
});

async function deactivate(body: { readonly skip_erase?: boolean } = {}): Promise<void> {
  expect((await admin.post(`users/${leaver.id}/deactivate`, body)).status).toBe(200);
}
const run = async () => await notifyHomeserver(administered.service.core);
const waiting = async () => (await administered.jobsOf(leaver.uuid, 'deactivate-user')).map(({ payload }) => payload);
const erasing = (erase: boolean) => expect.objectContaining({ erase });

test('an account already deactivated at the homeserver is not sent again until it is used again', async () => {
  await deactivate();
  await run();
  expect(administered.homeserver.user(leaver.username)?.isDeactivated).toBe(true);
  await deactivate();
  await deactivate({ skip_erase: true });
  expect(await waiting()).toEqual([]);
  expect((await admin.post(`users/${leaver.id}/reactivate`)).status).toBe(200);
  await deactivate();
  expect(await waiting()).toEqual([erasing(true)]);
});

test('a deactivation that failed permanently is sent again', async () => {
  await administered.homeserver.setFault({ kind: 'answer', path: '/delete_user', status: 400 });
  await deactivate();
  await run();
  expect(await waiting()).toEqual([]);
  await administered.homeserver.setFault(undefined);
  await deactivate();
  expect(await waiting()).toEqual([erasing(true)]);
  await run();
  await deactivate();
  expect(await waiting()).toEqual([]);
});

test('a queued or running deactivation is not sent twice', async () => {
  await deactivate();
  await deactivate();
  await deactivate({ skip_erase: true });
  expect(await waiting()).toEqual([erasing(true)]);
  let response = () => {};
  const until = new Promise<void>((resolve) => {
    response = resolve;
  });
  await administered.homeserver.setFault({ kind: 'wait', until });
  const requests = administered.homeserver.requests.length;
  const running = run();
  await expect.poll(() => administered.homeserver.requests.length).toBeGreaterThan(requests);
  await deactivate();
  expect(await waiting()).toEqual([erasing(true)]);
  response();
  await running;
  expect(await waiting()).toEqual([]);
});

test('erasure requested later is sent once', async () => {
  await deactivate({ skip_erase: true });
  await run();
  await deactivate({ skip_erase: true });
  expect(await waiting()).toEqual([]);
  await deactivate();
  await deactivate();
  expect(await waiting()).toEqual([erasing(true)]);
  await run();
  await deactivate();
  expect(await waiting()).toEqual([]);
});

test('an account with an unknown homeserver state is sent once more', async () => {
  await deactivate();
  await sql(administered.service.database, 'delete from queue_jobs');
  await deactivate();
  expect(await waiting()).toEqual([erasing(true)]);
});
