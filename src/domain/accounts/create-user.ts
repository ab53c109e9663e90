import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { usernameKey } from './account-names.ts';

/** Returns no row if the name is taken, ignoring case. */
const insertUser = statement<
  { id: string },
  {
    readonly id: string;
    readonly username: string;
    readonly usernameKey: string;
    readonly displayName: string | null;
    readonly locale: string | null;
    readonly canRequestAdmin: boolean;
    readonly keepsUnknownDevices: boolean;
    readonly now: Date;
  }
>(
  'insert-user',
  `insert into users (id, username, username_key, display_name, locale, can_request_admin, keeps_unknown_devices,
    created_at)
  values (:id::uuid, :username::text, :usernameKey::text, :displayName::text, :locale::text, :canRequestAdmin::boolean,
    :keepsUnknownDevices::boolean, :now::timestamptz)
  on conflict do nothing
  returning id`,
);

export interface NewUser {
  /** An ID that was already given to other services; undefined: generate one. */
  readonly id?: UserId | undefined;
  /** Validated with `usernameProblems`. */
  readonly username: string;
  readonly displayName: string | undefined;
  /** Language of the registration pages. */
  readonly locale: string | undefined;
  readonly canRequestAdmin: boolean;
  /** The homeserver may have had this user, with devices, before. */
  readonly keepsUnknownDevices: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates an account without any sign-in method, with one statement of the caller's transaction. If several callers
 * want the same name (ignoring case), the first to commit gets it. The others wait for that commit and get undefined.
 */
export async function createUser(transaction: Queryable, user: NewUser): Promise<UserId | undefined> {
  const id = user.id ?? newId<'user'>(user.now);
  const row = await transaction.first(insertUser, {
    id: toUuid(id),
    username: user.username,
    usernameKey: usernameKey(user.username),
    displayName: user.displayName ?? null,
    locale: user.locale ?? null,
    canRequestAdmin: user.canRequestAdmin,
    keepsUnknownDevices: user.keepsUnknownDevices,
    now: new Date(user.now),
  });
  return row === undefined ? undefined : id;
}
