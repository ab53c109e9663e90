/** How operators and APIs refer to an account. */

import type { User } from '#domain/records/user.ts';
import { parseIdOrUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { findUser, findUserByName } from './find-user.ts';

/** An ID or a username. Text that looks like an ID is never read as a username. */
export type AccountReference =
  | { readonly kind: 'id'; readonly id: UserId }
  | { readonly kind: 'name'; readonly name: string };

/**
 * Parses an ID (ULID or UUID, in either case), `@name:server` of this server, or a username. Users choose their
 * usernames, so an ID never falls back to a username. Old accounts whose username looks like an ID can be referenced by
 * their own ID or as `@name:server`.
 */
export function parseAccountReference(text: string, serverName: string): AccountReference {
  const id = parseIdOrUuid<'user'>(text);
  if (id !== undefined) return { kind: 'id', id };
  const isFull = text.startsWith('@') && text.endsWith(`:${serverName}`);
  return { kind: 'name', name: isFull ? text.slice(1, -serverName.length - 1) : text };
}

/** Finds the account by its ID, or by its name as `findUserByName` compares it. */
export async function findAccount(queryable: Queryable, reference: AccountReference): Promise<User | undefined> {
  if (reference.kind === 'id') return await findUser(queryable, reference.id);
  // PostgreSQL text cannot contain NUL.
  return reference.name.includes('\0') ? undefined : await findUserByName(queryable, reference.name);
}
