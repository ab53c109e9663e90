import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { ID_PATTERN, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { usernameKey } from './account-names.ts';

const byId = statement<UserRow, { readonly id: string }>(
  'find-user',
  `select ${userColumns('u')} from users u where u.id = :id::uuid`,
);

/**
 * SQL condition: the account has this name, exactly or ignoring the case of ASCII letters. Imported names that differ
 * only in case match only by their exact spelling.
 * @param user alias of `users`; @param name, @param key parameters: the name, and its `usernameKey`
 */
export function isNamed(user: string, name: string, key: string): string {
  return `(${user}.username = ${name}::text
    or ${user}.username_key = ${key}::text and lower(${user}.username collate "C") = ${key}::text and not exists (
      select from users variant
       where lower(variant.username collate "C") = ${key}::text
         and variant.username_key <> lower(variant.username collate "C")))`;
}

const byName = statement<UserRow, { readonly username: string; readonly usernameKey: string }>(
  'find-user-by-name',
  `select ${userColumns('u')} from users u where ${isNamed('u', ':username', ':usernameKey')}
  order by u.username = :username::text desc limit 1`,
);

const nameTaken = statement<{ is_taken: boolean }, { readonly username: string; readonly usernameKey: string }>(
  'is-username-taken',
  `select exists (
     select from users u where u.username = :username::text or u.username_key = :usernameKey::text
   ) as is_taken`,
);

const anyIdentifier = statement<{ username: string }, { readonly pattern: string; readonly limit: number }>(
  'list-usernames-that-are-identifiers',
  `select u.username from users u where length(u.username) in (26, 36) and u.username ~* :pattern::text
  order by u.id limit :limit::integer`,
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

/**
 * Finds the account with exactly this name, or the only account whose name differs just in the case of ASCII letters.
 */
export async function findUserByName(queryable: Queryable, username: string): Promise<User | undefined> {
  const row = await queryable.first(byName, { username, usernameKey: usernameKey(username) });
  return row === undefined ? undefined : toUser(row);
}

/** Returns whether an account already has this name, ignoring case. */
export async function isUsernameTaken(queryable: Queryable, username: string): Promise<boolean> {
  const row = await queryable.first(nameTaken, { username, usernameKey: usernameKey(username) });
  return row?.is_taken === true;
}

/** Returns usernames that look like IDs. They predate the rule against such names. */
export async function listIdentifierUsernames(queryable: Queryable, limit: number): Promise<readonly string[]> {
  const rows = await queryable.rows(anyIdentifier, { pattern: ID_PATTERN, limit });
  return rows.map((row) => row.username);
}

/** Returns the usernames that equal one of these, ignoring case. */
export async function listUsernamesLike(queryable: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await queryable.rows(namesLike, { names, keys: names.map(usernameKey) });
  return rows.map((row) => row.username);
}

/** Returns whether any account exists. */
export async function hasUsers(queryable: Queryable): Promise<boolean> {
  const row = await queryable.first(anyUser, {});
  return row?.is_any === true;
}

/** Returns whether any account may request the admin scope. */
export async function hasAdmins(queryable: Queryable): Promise<boolean> {
  const row = await queryable.first(anyAdmin, {});
  return row?.is_any === true;
}
