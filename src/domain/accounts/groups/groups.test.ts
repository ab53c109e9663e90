import { describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { GroupId, UserId } from '#vocabulary/ids.ts';
import { setGroups } from '../set-groups.ts';
import { adoptGroupNamesQueue } from './adopt-names.ts';
import { changeGroup, type GroupOutcome } from './change-group.ts';
import { deleteGroup } from './delete-group.ts';
import { findOrCreateGroups, groupsNamed } from './group.ts';
import { addMembers, removeMember } from './group-members.ts';
import { rewriteGroupNames } from './rewrite-names.ts';

const now = Date.UTC(2026, 0, 5);

const unlimited = new AbortController().signal;
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
    await rewriteGroupNames({ database: db.database }, unlimited);
  });

  test('are created once by concurrent changes', async () => {
    const names = ['c', 'a', 'b'].map((name) => `${name}-${newId(now)}`);
    const results = await Promise.all([names, names.toReversed(), names].map((given) => named(...given)));
    const ids = results.map((groups) => groups.map(({ id }) => id).sort());
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
  });
});

/** Adds accounts that list a group, as an older version writes them. */
async function insertMembers(count: number, groups: readonly string[]): Promise<void> {
  await sql(
    db.database,
    `insert into users (id, username, username_key, created_at, groups)
     select gen_random_uuid(), name, name, now(), $2::text[]
       from (select 'member-' || gen_random_uuid() as name from generate_series(1, $1::integer)) made`,
    [count, groups],
  );
}

async function listedIn(name: string): Promise<number> {
  const [row] = await sql<{ listed: number }>(
    db.database,
    'select count(*)::integer as listed from users where groups @> array[$1::text]',
    [name],
  );
  return row?.listed ?? 0;
}

async function record(id: GroupId) {
  const [row] = await sql<{ name: string; former: string | null; external: boolean; deleted: boolean }>(
    db.database,
    `select name, former_name as former, is_external as external, deleted_at is not null as deleted
       from user_groups where id = $1::uuid`,
    [toUuid(id)],
  );
  return row;
}

const only = async (name: string): Promise<GroupId> => (await named(name))[0]?.id ?? expect.fail('no group');
/** Rolls back a refused change, as its callers do. */
async function rename(id: GroupId, name: string): Promise<GroupOutcome> {
  const outcomes: GroupOutcome[] = [];
  const renaming = inTransaction(async (transaction) => {
    const outcome = await changeGroup(transaction, { id, name, description: undefined, now });
    outcomes.push(outcome);
    if (!outcome.ok) throw new Error('rolled back');
  });
  await renaming.catch((error: unknown) => {
    if (outcomes[0]?.ok !== false) throw error;
  });
  return outcomes[0] ?? expect.fail('no outcome');
}

/** A database whose process is killed after this many writes. */
function killedAfter(writes: number): Queryable {
  let done = 0;
  return {
    rows: (made, parameters) => db.database.rows(made, parameters),
    first: (made, parameters) => db.database.first(made, parameters),
    execute: async (made, parameters) => {
      done += 1;
      if (done > writes) throw new Error('killed');
      return await db.database.execute(made, parameters);
    },
  };
}

describe('a rename', () => {
  test('of a group with few members rewrites their lists at once', async () => {
    const id = await only('few');
    await insertMembers(3, ['few', 'zz', 'Aa']);
    expect(await rename(id, 'many')).toEqual({ ok: true, changed: ['name'] });
    expect([await listedIn('few'), await listedIn('many'), await record(id)]).toEqual([
      ...[0, 3],
      { name: 'many', former: null, external: false, deleted: false },
    ]);
    expect(await rename(id, 'many')).toEqual({ ok: true, changed: [] });
    const [row] = await sql<{ groups: string[] }>(
      db.database,
      `select distinct groups from users where groups @> '{many}'`,
    );
    expect(row?.groups).toEqual(['Aa', 'many', 'zz']);
  });

  test('of a group with many members is continued by a job, which may stop anywhere and run twice at once', async () => {
    const id = await only('fleet');
    await insertMembers(1_201, ['fleet']);
    await rename(id, 'armada');
    expect([await listedIn('fleet'), (await record(id))?.former]).toEqual([1_201, 'fleet']);
    expect(await rename(id, 'navy')).toEqual({ ok: false, reason: 'pending' });
    expect(await rename(await only('other fleet'), 'fleet')).toEqual({ ok: false, reason: 'exists' });
    const jobs = await sql(db.database, `select id from queue_jobs where queue = 'rewrite-group-names'`);
    expect(jobs).toHaveLength(1);

    await expect(rewriteGroupNames({ database: killedAfter(1) }, unlimited)).rejects.toThrow('killed');
    expect([await listedIn('fleet'), await listedIn('armada')]).toEqual([701, 500]);
    expect(await only('fleet'), 'the former name is the same group').toBe(id);
    const runs = await Promise.all([1, 2].map(() => rewriteGroupNames({ database: db.database }, unlimited)));
    expect(runs).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect([await listedIn('fleet'), await listedIn('armada'), (await record(id))?.former]).toEqual([0, 1_201, null]);
    expect(await only('fleet'), 'the name is free again').not.toBe(id);
  });

  test('to a name that accounts list is refused, with or without a record', async () => {
    const id = await only('mine');
    await insertMembers(1, ['not adopted yet']);
    for (const name of ['not adopted yet', 'armada']) {
      expect(await rename(id, name)).toEqual({ ok: false, reason: 'exists' });
    }
    const [first, second] = [await only('race 1'), await only('race 2')];
    const outcomes = await Promise.all([first, second].map((group) => rename(group, 'won')));
    expect(outcomes.map(({ ok }) => ok).sort()).toEqual([false, true]);
  });

  test('and a change of an account at the same time leave the account in one group', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await only(`before ${round}`);
      const user = await insertUser(db.database, now);
      await Promise.all([
        rename(id, `after ${round}`),
        inTransaction((transaction) => setGroups(transaction, { user, groups: [`before ${round}`], now })),
      ]);
      const [listed = ''] = (await groupsOf(user)) ?? [];
      expect([`before ${round}`, `after ${round}`]).toContain(listed);
      expect((await record(await only(listed)))?.name).toBe(listed);
    }
  });
});

describe('a deletion', () => {
  const remove = (id: GroupId, isForced = false) =>
    inTransaction((transaction) => deleteGroup(transaction, { id, isForced, now }));

  test('removes the name from all members, at once or by a job', async () => {
    const [few, many] = [await only('two'), await only('thousands')];
    await insertMembers(2, ['two', 'kept']);
    await insertMembers(1_001, ['thousands']);
    expect([await remove(few), await remove(many)]).toEqual([{ ok: true }, { ok: true }]);
    expect([await listedIn('two'), await listedIn('kept'), await record(few)]).toEqual([0, 2, undefined]);
    expect([await listedIn('thousands'), (await record(many))?.deleted]).toEqual([1_001, true]);
    await expect(named('thousands')).rejects.toMatchObject({ code: 'group_exists' });
    expect([await remove(many), await rename(many, 'x')]).toEqual([
      { ok: false, reason: 'pending' },
      { ok: false, reason: 'pending' },
    ]);
    await rewriteGroupNames({ database: db.database }, unlimited);
    expect([await listedIn('thousands'), await record(many)]).toEqual([0, undefined]);
    expect(await only('thousands')).not.toBe(many);
    const [lists] = await sql<{ empty: number }>(
      db.database,
      `select count(*)::integer as empty from users where groups = '{}'`,
    );
    expect(lists?.empty).toBe(0);
  });
});

describe('members', () => {
  const by = { address: '192.0.2.7', detail: { actor: 'admin' } };
  const add = (group: GroupId, ...users: UserId[]) =>
    inTransaction((transaction) => addMembers(transaction, { group, users, by, now }));
  const drop = (group: GroupId, user: UserId) =>
    inTransaction((transaction) => removeMember(transaction, { group, user, by, now }));

  test('are added all or none, in their sorted lists, with one event each', async () => {
    const group = await only('members');
    const users = await Promise.all([1, 2, 3].map(() => insertUser(db.database, now)));
    const [first = expect.fail(), second = expect.fail(), third = expect.fail()] = users;
    await inTransaction((transaction) => setGroups(transaction, { user: first, groups: ['z', 'a'], now }));
    const absent = newId<'user'>(now);
    expect(await add(group, first, absent)).toEqual({ ok: false, reason: 'unknown-user', user: absent });
    expect(await groupsOf(first)).toEqual(['a', 'z']);
    expect(await add(group, first, second, first)).toEqual({ ok: true, added: 2, already: 0 });
    expect(await add(group, first, third)).toEqual({ ok: true, added: 1, already: 1 });
    expect(await groupsOf(first)).toEqual(['a', 'members', 'z']);
    const events = await sql<{ kind: string; ip: string }>(
      db.database,
      `select kind, host(ip) as ip from audit_events where user_id = any($1::uuid[]) and ip is not null`,
      [[first, second, third].map(toUuid)],
    );
    expect(events).toEqual(Array.from({ length: 3 }, () => ({ kind: 'groups_changed', ip: '192.0.2.7' })));
    await inTransaction((transaction) =>
      setGroups(transaction, { user: third, groups: Array.from({ length: 200 }, (_, index) => `g${index}`), now }),
    );
    expect(await add(group, second, third)).toEqual({ ok: false, reason: 'full', user: third });

    expect([await drop(group, first), await drop(group, first), await drop(group, absent)]).toEqual([
      ...['removed', 'no-member', 'unknown-user'],
    ]);
    expect([await groupsOf(first), await drop(group, second), await groupsOf(second)]).toEqual([
      ['a', 'z'],
      'removed',
      null,
    ]);
  });

  test('under the former name of a group are its members', async () => {
    const group = await only('renamed');
    const user = await insertUser(db.database, now);
    await add(group, user);
    await sql(db.database, `update user_groups set name = 'new', former_name = 'renamed' where id = $1::uuid`, [
      toUuid(group),
    ]);
    expect(await add(group, user)).toEqual({ ok: true, added: 0, already: 1 });
    expect([await drop(group, user), await groupsOf(user)]).toEqual(['removed', null]);
  });
});

describe('the job that adopts names', () => {
  const clock = { now: () => now };
  const run = async (payload: unknown = {}, signal = unlimited) =>
    await adoptGroupNamesQueue({ database: db.database, clock }).run({ id: 'x', attempt: 1, payload, signal });

  test('creates records of names that only accounts and identities list, and marks external ones', async () => {
    await insertMembers(1_050, ['from accounts']);
    const user = await insertUser(db.database, now);
    const provider = toUuid(newId(now));
    await sql(
      db.database,
      `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'x', 0, now())`,
      [provider],
    );
    await sql(
      db.database,
      `insert into upstream_links (id, provider_id, subject, user_id, created_at, groups)
       values ($1::uuid, $1::uuid, 'x', $2::uuid, now(), '{from a provider}')`,
      [provider, toUuid(user)],
    );
    const stopped = AbortSignal.abort();
    expect(await run({}, stopped)).toMatchObject({ kind: 'unfinished', payload: { step: 'users' } });
    expect(await run()).toEqual({ kind: 'done' });
    expect(await run({ step: 'gone', after: 7 }), 'a payload of another version').toEqual({ kind: 'done' });
    const rows = await sql<{ name: string; is_external: boolean }>(
      db.database,
      `select name, is_external from user_groups where name like 'from %' order by name`,
    );
    expect(rows).toEqual([
      { name: 'from a provider', is_external: true },
      { name: 'from accounts', is_external: false },
    ]);
    const external = await only('from a provider');
    const refused = { ok: false, reason: 'external' };
    expect([
      await rename(external, 'x'),
      await inTransaction((transaction) => deleteGroup(transaction, { id: external, isForced: true, now })),
      await inTransaction((transaction) => removeMember(transaction, { group: external, user, now })),
    ]).toEqual([refused, refused, 'external']);
    await sql(db.database, 'update upstream_providers set disabled_at = now()');
    await run();
    expect((await record(external))?.external).toBe(false);
  });

  test('leaves former names alone', async () => {
    const id = await only('once');
    await insertMembers(1, ['once']);
    await sql(db.database, `update user_groups set name = 'now', former_name = 'once' where id = $1::uuid`, [
      toUuid(id),
    ]);
    expect(await run()).toEqual({ kind: 'done' });
    const rows = await sql(db.database, `select name from user_groups where name = 'once'`);
    expect([rows, await listedIn('now')]).toEqual([[], 1]);
  });
});
