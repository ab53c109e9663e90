import { parseId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import { toUser, type User, type UserRow, userColumns } from './user.ts';

const byId = statement<UserRow, { readonly id: string }>(
  'find-user',
  `select ${userColumns('u')} from users u where u.id = :id::uuid`,
);

// The exact spelling first: imported names may differ in case only.
const byName = statement<UserRow, { readonly username: string; readonly usernameKey: string }>(
  'find-user-by-name',
  `select ${userColumns('u')} from users u where u.username = :username::text or u.username_key = :usernameKey::text
  order by u.username = :username::text desc limit 1`,
);

const namesLike = statement<
  { username: string },
  { readonly names: readonly string[]; readonly keys: readonly string[] }
>(
  'list-usernames-like',
  `select u.username from users u where u.username = any(:names::text[]) or u.username_key = any(:keys::text[])`,
);

const anyUser = statement<{ is_any: boolean }, NoParameters>(
  'is-any-user',
  'select exists (select from users) as is_any',
);

const anyAdmin = statement<{ is_any: boolean }, NoParameters>(
  'is-any-admin',
  'select exists (select from users where can_request_admin) as is_any',
);

export async function findUser(queryable: Queryable, id: UserId): Promise<User | undefined> {
  const row = await queryable.first(byId, { id: toUuid(id) });
  return row === undefined ? undefined : toUser(row);
}

/** The account with this name, any case. */
export async function findUserByName(queryable: Queryable, username: string): Promise<User | undefined> {
  const row = await queryable.first(byName, { username, usernameKey: username.toLowerCase() });
  return row === undefined ? undefined : toUser(row);
}

/** The names of accounts that are called like one of these, in any case. */
export async function listUsernamesLike(queryable: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await queryable.rows(namesLike, { names, keys: names.map((name) => name.toLowerCase()) });
  return rows.map((row) => row.username);
}

/** The account that an operator means: a name, `@name:server`, or an identifier. */
export async function findUserByReference(
  queryable: Queryable,
  reference: string,
  serverName: string,
): Promise<User | undefined> {
  const isFull = reference.startsWith('@') && reference.endsWith(`:${serverName}`);
  const name = isFull ? reference.slice(1, -serverName.length - 1) : reference;
  const named = await findUserByName(queryable, name);
  const id = named === undefined ? parseId<'user'>(reference) : undefined;
  return id === undefined ? named : await findUser(queryable, id);
}

/** Whether any account exists. */
export async function hasUsers(queryable: Queryable): Promise<boolean> {
  const row = await queryable.first(anyUser, {});
  return row?.is_any === true;
}

/** Whether any account may ask for the admin scope. */
export async function hasAdmins(queryable: Queryable): Promise<boolean> {
  const row = await queryable.first(anyAdmin, {});
  return row?.is_any === true;
}
