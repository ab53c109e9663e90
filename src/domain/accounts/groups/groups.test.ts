import { describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { setGroups } from '../set-groups.ts';
import { findOrCreateGroups, groupsNamed, namesOfGroups } from './group.ts';

const now = Date.UTC(2026, 0, 5);
const db = await sharedByTests(createTestDatabase());

const inTransaction = <T>(work: Parameters<typeof db.database.transaction<T>>[0]): Promise<T> =>
  db.database.transaction(work);
const named = (...names: string[]) => inTransaction((transaction) => groupsNamed(transaction, names, now));

async function groupsOf(user: UserId): Promise<readonly string[] | null> {
  const [row] = await sql<{ groups: string[] | null }>(db.database, 'select groups from users where id = $1::uuid', [
    toUuid(user),
  ]);
  return row?.groups ?? null;
}

describe('names of groups', () => {
  test('create missing records once, and keep the order of the names', async () => {
    const [crew, deck] = await named('crew', 'deck');
    expect([crew?.name, deck?.name]).toEqual(['crew', 'deck']);
    expect(await named('deck', 'Deck', 'crew')).toEqual([
      deck,
      { id: expect.any(String), name: 'Deck', isBeingDeleted: false },
      crew,
    ]);
    const names = await namesOfGroups(
      db.database,
      [crew, deck].flatMap((group) => group?.id ?? []),
    );
    expect([...names.values()].sort()).toEqual(['crew', 'deck']);
  });

  test('of one group from before and after a rename are the same group; those of a deleted one are rejected', async () => {
    const [group] = await named('pump');
    if (group === undefined) throw new Error('no group');
    await sql(db.database, `update user_groups set name = 'pumps', former_name = 'pump' where id = $1::uuid`, [
      toUuid(group.id),
    ]);
    expect((await named('pump', 'pumps')).map(({ id, name }) => [id, name])).toEqual([
      [group.id, 'pumps'],
      [group.id, 'pumps'],
    ]);
    const user = await insertUser(db.database, now);
    await inTransaction((transaction) => setGroups(transaction, { user, groups: ['pump', 'new here'], now }));
    expect(await groupsOf(user)).toEqual(['new here', 'pumps']);

    await sql(db.database, `update user_groups set deleted_at = now() where id = $1::uuid`, [toUuid(group.id)]);
    await expect(named('pump')).rejects.toMatchObject({ code: 'group_exists' });
    const found = await inTransaction((transaction) => findOrCreateGroups(transaction, ['pumps'], now));
    expect(found).toMatchObject([{ id: group.id, isBeingDeleted: true }]);
    expect(await namesOfGroups(db.database, [group.id])).toEqual(new Map());
  });

  test('are created once by concurrent changes', async () => {
    const names = ['c', 'a', 'b'].map((name) => `${name}-${newId(now)}`);
    const results = await Promise.all([names, names.toReversed(), names].map((given) => named(...given)));
    const ids = results.map((groups) => groups.map(({ id }) => id).sort());
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
  });
});
