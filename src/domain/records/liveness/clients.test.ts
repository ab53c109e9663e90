import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { groupsOfUser } from '../user-facts.ts';

const NAMES = ['crew', 'deck', 'Deck', 'crew '] as const;
const GROUPS = NAMES.map((_, index) => toUuid(newId(1000 + index)));
const [ENABLED, DISABLED] = [toUuid(newId(2000)), toUuid(newId(3000))];
const NOBODY = toUuid(newId(4000));
let user: string;

const db = await sharedByTests(createTestDatabase());

beforeAll(async () => {
  user = toUuid(await insertUser(db.database, 0));
  for (const [index, id] of [ENABLED, DISABLED].entries()) {
    await sql(
      db.database,
      `insert into upstream_providers (id, client_id, ui_order, created_at, disabled_at)
       values ($1::uuid, 'x', $2::integer, now(), case when $2::integer = 1 then now() end)`,
      [id, index],
    );
    await sql(
      db.database,
      `insert into upstream_links (id, provider_id, user_id, subject, created_at)
       values ($1::uuid, $1::uuid, $2::uuid, 'x', now())`,
      [id, user],
    );
  }
});

const someNames = fc.option(fc.subarray([...NAMES, 'unrecorded']), { nil: null });
const worlds = fc.record({
  own: someNames,
  enabled: someNames,
  disabled: someNames,
  deleted: fc.subarray([...GROUPS]),
  allowed: fc.subarray([...GROUPS, NOBODY]),
});

test('user_may_use_client admits exactly the users whose groups contain an allowed one that exists', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ own, enabled, disabled, deleted, allowed }) => {
      await sql(db.database, 'update users set groups = $2::text[] where id = $1::uuid', [user, own]);
      await sql(
        db.database,
        'update upstream_links set groups = case when id = $1::uuid then $2::text[] else $3::text[] end',
        [ENABLED, enabled, disabled],
      );
      await sql(
        db.database,
        `insert into user_groups (id, name, created_at, deleted_at)
         select id, name, now(), case when id = any($3::uuid[]) then now() end
           from unnest($1::uuid[], $2::text[]) as g(id, name)
         on conflict (id) do update set deleted_at = excluded.deleted_at`,
        [GROUPS, NAMES, deleted],
      );
      const [row] = await sql<{ admitted: boolean; groups: string[] }>(
        db.database,
        `select user_may_use_client(u.id, u.groups, $2::uuid[]) as admitted,
                array(${groupsOfUser('u.id', 'u.groups')}) as groups
           from users u where u.id = $1::uuid`,
        [user, allowed],
      );
      const names = NAMES.filter(
        (_, index) => allowed.includes(GROUPS[index] ?? '') && !deleted.includes(GROUPS[index] ?? ''),
      );
      expect(row?.admitted).toBe(names.some((name) => row?.groups.includes(name)));
    }),
    { numRuns: 200 },
  );
});
