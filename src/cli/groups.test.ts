/** Commands for groups (administration A-15). */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { toUuid } from '#platform/base/ids.ts';
import { insertClient, insertUser, sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import {
  addToGroupCommand,
  createGroupCommand,
  deleteGroupCommand,
  listGroupsCommand,
  removeFromGroupCommand,
} from './groups.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';

let service: TestService;
let printed: Printed;

beforeAll(async () => {
  service = await startService({});
  for (const username of ['amira', 'jonas']) await insertUser(service.database, 0, { username });
});
afterAll(async () => await service.stop());
beforeEach(() => {
  printed = { out: '', err: '' };
});

const deps = () => manageDeps(service, printed);

test('create, list, fill, empty and delete groups, and are recorded', async () => {
  await createGroupCommand(deps(), { name: 'harbor crew', description: 'Deck\u001b[2J', json: false });
  const id = printed.out.trim();
  await createGroupCommand(deps(), { name: 'Bridge', json: true });
  await addToGroupCommand(deps(), { group: 'harbor crew', users: ['amira', 'jonas'], json: false });
  await addToGroupCommand(deps(), { group: 'harbor crew', users: ['amira'], json: true });
  expect(printed.out).toContain('2 added, 0 already in harbor crew\n{"group":"harbor crew","added":0,"already":1}\n');
  printed.out = '';
  await listGroupsCommand(deps(), { limit: 10, json: false });
  expect(printed).toMatchObject({
    out: expect.stringMatching(/^ID +MEMBERS +SOURCE +NAME\n\S+ +0 +here +Bridge\n\S+ +2 +here +harbor crew\n$/),
    err: 'total: 2\n',
  });
  printed.out = '';
  await listGroupsCommand(deps(), { limit: 10, search: 'CREW', json: true });
  expect(JSON.parse(printed.out)).toEqual({
    ...{ id, name: 'harbor crew', description: 'Deck\u001b[2J', external: false, member_count: 2 },
  });
  printed.out = '';
  await removeFromGroupCommand(deps(), { group: 'harbor crew', users: ['jonas'], json: false });
  await removeFromGroupCommand(deps(), { group: 'harbor crew', users: ['jonas', 'amira'], json: false });
  expect(printed.out).toBe('1 removed from harbor crew, 0 not in it\n1 removed from harbor crew, 1 not in it\n');
  await deleteGroupCommand(deps(), { group: 'harbor crew', isForced: false, json: false });
  const actions = await sql<{ operation: string; target: string }>(
    service.database,
    `select detail ->> 'operation' as operation, detail ->> 'target' as target
       from audit_events where kind = 'admin_action' and detail ->> 'target' = $1::text order by id`,
    [id],
  );
  expect(actions.map(({ operation }) => operation)).toEqual([
    ...['create-group', 'add-to-group', 'remove-from-group', 'remove-from-group', 'delete-group'],
  ]);
});

test('change nothing if one user or the group does not exist, or clients are limited to the group', async () => {
  const run = (work: Promise<void>) => expect(work).rejects;
  await createGroupCommand(deps(), { name: 'used', json: false });
  await run(createGroupCommand(deps(), { name: 'used', json: false })).toMatchObject({
    ...{ exitCode: 1, message: 'another group has this name' },
  });
  await run(createGroupCommand(deps(), { name: ' x', json: false })).toMatchObject({ exitCode: 1 });
  await run(addToGroupCommand(deps(), { group: 'used', users: ['amira', 'nobody'], json: false })).toMatchObject({
    ...{ exitCode: 1, message: 'user not found' },
  });
  await run(addToGroupCommand(deps(), { group: 'Used', users: ['amira'], json: false })).toMatchObject({
    ...{ exitCode: 1, message: 'group not found; names are compared exactly' },
  });
  const client = await insertClient(service.database, service.core.keyRing, 0, { isStatic: false });
  await sql(
    service.database,
    `update oauth2_clients set allowed_groups = array(select id from user_groups where name = 'used') where id = $1::uuid`,
    [toUuid(client)],
  );
  await run(deleteGroupCommand(deps(), { group: 'used', isForced: false, json: false })).toMatchObject({
    ...{ exitCode: 1, message: `clients are limited to this group: ${client}. Use --force to delete it` },
  });
  await deleteGroupCommand(deps(), { group: 'used', isForced: true, json: false });
  const [kept] = await sql<{ count: number }>(
    service.database,
    'select cardinality(allowed_groups) as count from oauth2_clients where allowed_groups is not null',
  );
  expect(kept?.count, 'the client stays limited').toBe(1);
});
