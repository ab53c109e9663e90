import { beforeEach, describe, expect, test } from 'vitest';
import { KeyRing } from '#platform/base/sealing.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { randomRoot, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { verifyServerState } from './server-state.ts';

const testDatabase = await sharedByTests(createTestDatabase());
beforeEach(async () => {
  await sql(testDatabase.database, 'truncate server_state');
});

const start = (...roots: readonly [current: Buffer, ...previous: Buffer[]]) =>
  verifyServerState(testDatabase.database, new KeyRing(roots[0], roots.slice(1)), 'chat');

describe('the root key of a database (S-166, operations 2.2)', () => {
  const first = randomRoot();
  const second = randomRoot();

  test('rejects a different one at startup', async () => {
    await start(first);
    await start(first);
    await expect(start(second)).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining('Restore') });
  });

  test('can be replaced by one with it as a previous key, and is needed from then on', async () => {
    await start(first);
    await start(second, first);
    await start(second, first);
    await expect(start(second)).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('secrets.encryption_previous'),
    });
  });

  test('rejects a start without the newest one, and the order can be reversed', async () => {
    await start(first);
    await start(second, first);
    await expect(start(first)).rejects.toMatchObject({ exitCode: 78 });
    await start(first, second);
  });

  test('instances that replace it simultaneously record it once', async () => {
    await start(first);
    await Promise.all([start(second, first), start(second, first), start(second, first)]);
    const [row] = await sql<{ bytes: number }>(
      testDatabase.database,
      `select length(value) as bytes from server_state where key = 'encryption-key-check'`,
    );
    expect(row?.bytes).toBe(64);
  });

  test('values sealed with the former one open under the new one', async () => {
    const sealed = new KeyRing(first).seal('column', 'secret', 'table|column|row');
    expect(new KeyRing(second, [first]).open('column', sealed, 'table|column|row')?.toString()).toBe('secret');
    expect(new KeyRing(second).open('column', sealed, 'table|column|row')).toBeUndefined();
  });
});
