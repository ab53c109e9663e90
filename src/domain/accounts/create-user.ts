import { newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { insertUser } from './user-writes.ts';

export interface NewUser {
  /** Checked by `usernameProblems`. */
  readonly username: string;
  readonly displayName: string | undefined;
  /** Language of the pages that the person registered with. */
  readonly locale: string | undefined;
  readonly canRequestAdmin: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Makes an account without any way to sign in, one statement of the caller's transaction. Of several callers with one
 * name, whatever its case, the first to commit gets it; the others wait for that and get undefined.
 */
export async function createUser(transaction: Queryable, user: NewUser): Promise<UserId | undefined> {
  const id = newId<'user'>(user.now);
  const row = await transaction.first(insertUser, {
    id: toUuid(id),
    username: user.username,
    usernameKey: user.username.toLowerCase(),
    displayName: user.displayName ?? null,
    locale: user.locale ?? null,
    canRequestAdmin: user.canRequestAdmin,
    now: new Date(user.now),
  });
  return row === undefined ? undefined : id;
}
