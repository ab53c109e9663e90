/**
 * User accounts, table `users`. An account is active, locked (`locked_at`: everything is refused until it is unlocked)
 * or deactivated (`deactivated_at`: permanent; the username stays reserved).
 *
 * This folder also owns `user_emails`. `passwords/` owns `user_passwords` and `login_failures`, `registrations/` owns
 * `user_registrations` and `user_terms`. Sign-in state belongs to browser sessions.
 */
import { fromUuid } from '#platform/base/ids.ts';
import type { UserId } from '#vocabulary/ids.ts';

export interface User {
  readonly id: UserId;
  readonly username: string;
  readonly displayName: string | undefined;
  readonly locale: string | undefined;
  readonly canRequestAdmin: boolean;
  readonly isLocked: boolean;
  readonly isDeactivated: boolean;
}

/** The columns that `userColumns` selects. */
export interface UserRow {
  readonly user_id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly locale: string | null;
  readonly can_request_admin: boolean;
  readonly is_locked: boolean;
  readonly is_deactivated: boolean;
}

/** Returns the columns that `toUser` reads, for this alias of `users`. */
export function userColumns(alias: string): string {
  return `${alias}.id as user_id, ${alias}.username, ${alias}.display_name, ${alias}.locale, ${alias}.can_request_admin,
    ${alias}.locked_at is not null as is_locked, ${alias}.deactivated_at is not null as is_deactivated`;
}

export function toUser(row: UserRow): User {
  return {
    id: fromUuid<'user'>(row.user_id),
    username: row.username,
    displayName: row.display_name ?? undefined,
    locale: row.locale ?? undefined,
    canRequestAdmin: row.can_request_admin,
    isLocked: row.is_locked,
    isDeactivated: row.is_deactivated,
  };
}
