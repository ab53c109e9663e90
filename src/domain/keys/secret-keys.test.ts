import { beforeEach, describe, expect, test } from 'vitest';
import { KeyRing } from '#platform/base/sealing.ts';

import { openDatabase } from '#platform/postgres/open-database.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { randomRoot, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { openSecretKeys } from './secret-keys.ts';

const clock = new FakeClock();
const root = randomRoot();
const keyRing = new KeyRing(root);

const testDatabase = await sharedByTests(createTestDatabase());
const second = await sharedByTests(
  openDatabase({ connection: parseConnectionUri(testDatabase.connectionString), log: silentLog, clock }),
);
beforeEach(async () => {
  await sql(testDatabase.database, 'truncate secret_keys');
});

describe('keys that survive a change of the root key (oauth 3.4)', () => {
  test('are generated once: a later start reads the same', async () => {
    const deps = { database: testDatabase.database, keyRing, clock };
    const { pairwiseSubjects } = await openSecretKeys(deps);
    expect(pairwiseSubjects).toHaveLength(32);
    expect((await openSecretKeys(deps)).pairwiseSubjects).toEqual(pairwiseSubjects);
  });

  test('are the same for instances that start simultaneously', async () => {
    const made = await Promise.all(
      [testDatabase.database, second, testDatabase.database, second].map((database) =>
        openSecretKeys({ database, keyRing, clock }),
      ),
    );
    expect(new Set(made.map(({ pairwiseSubjects }) => pairwiseSubjects.toString('hex'))).size).toBe(1);
  });

  test('are stored sealed, and bound to their row', async () => {
    const { database } = testDatabase;
    const { pairwiseSubjects } = await openSecretKeys({ database, keyRing, clock });
    const [row] = await sql<{ key_sealed: Buffer }>(
      database,
      "select key_sealed from secret_keys where purpose = 'pairwise-subjects'",
    );
    expect(row?.key_sealed.includes(pairwiseSubjects)).toBe(false);
    expect(keyRing.open('column', row?.key_sealed ?? Buffer.alloc(0), 'secret_keys|key_sealed|other')).toBeUndefined();
  });

  test('stay the same under a new root key that knows the former one, and need it', async () => {
    const { database } = testDatabase;
    const before = await openSecretKeys({ database, keyRing, clock });
    const next = randomRoot();
    const after = await openSecretKeys({ database, keyRing: new KeyRing(next, [root]), clock });
    expect(after).toEqual(before);
    await expect(openSecretKeys({ database, keyRing: new KeyRing(next), clock })).rejects.toThrow(
      /pairwise-subjects .* secrets\.encryption_previous/,
    );
  });
});
