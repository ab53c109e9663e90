/** How operators and APIs name an account. */
import { parseIdOrUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { findUser, findUserByName } from './find-user.ts';
import type { User } from './user.ts';

/** An identifier or a name; a text that reads as an identifier is never a name. */
export type AccountReference =
  | { readonly kind: 'id'; readonly id: UserId }
  | { readonly kind: 'name'; readonly name: string };

/**
 * Reads an identifier (ULID or UUID, in either case), `@name:server` of this server, or a username. Strangers choose
 * usernames, so an identifier that belongs to nobody means nobody. An account that was called like an identifier before
 * such names were refused is reached by its own identifier, or as `@name:server`.
 */
export function parseAccountReference(text: string, serverName: string): AccountReference {
  const id = parseIdOrUuid<'user'>(text);
  if (id !== undefined) return { kind: 'id', id };
  const isFull = text.startsWith('@') && text.endsWith(`:${serverName}`);
  return { kind: 'name', name: isFull ? text.slice(1, -serverName.length - 1) : text };
}

/** The account that is meant: by its identifier, or by its name as `findUserByName` compares it. */
export async function findAccount(queryable: Queryable, reference: AccountReference): Promise<User | undefined> {
  if (reference.kind === 'id') return await findUser(queryable, reference.id);
  // PostgreSQL has no such text.
  return reference.name.includes('\0') ? undefined : await findUserByName(queryable, reference.name);
}
