import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** An account as shown to its owner. Times are milliseconds since the epoch. */
export interface AccountDetails {
  readonly id: UserId;
  readonly username: string;
  /** The name stored here; the homeserver may have a different one. */
  readonly displayName: string | undefined;
  readonly givenName: string | undefined;
  readonly familyName: string | undefined;
  /** Name in the IANA time zone database. */
  readonly timeZone: string | undefined;
  /** BCP 47 tag. */
  readonly language: string | undefined;
  /** The user chose the language, so that it does not follow the pages shown. */
  readonly isLanguageChosen: boolean;
  readonly canRequestAdmin: boolean;
  readonly createdAt: number;
  readonly lockedAt: number | undefined;
  readonly deactivatedAt: number | undefined;
  readonly hasPassword: boolean;
}

interface DetailsRow {
  readonly id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly time_zone: string | null;
  readonly locale: string | null;
  readonly locale_is_chosen: boolean;
  readonly can_request_admin: boolean;
  readonly created_at: number;
  readonly locked_at: number | null;
  readonly deactivated_at: number | null;
  readonly has_password: boolean;
}

const COLUMNS = `u.id, u.username, u.display_name, u.given_name, u.family_name, u.time_zone, u.locale, u.locale_is_chosen,
  u.can_request_admin, ${ms('u.created_at')} as created_at,
  ${ms('u.locked_at')} as locked_at, ${ms('u.deactivated_at')} as deactivated_at,
  exists (select from user_passwords p where p.user_id = u.id) as has_password`;

const byIds = statement<DetailsRow, { readonly ids: readonly string[] }>(
  'account-details',
  `select ${COLUMNS} from users u where u.id = any(:ids::uuid[])`,
);

/** Returns the accounts with these IDs, in the same order. */
export async function findAccountDetails(
  queryable: Queryable,
  ids: readonly UserId[],
): Promise<(AccountDetails | undefined)[]> {
  const rows = await queryable.rows(byIds, { ids: ids.map(toUuid) });
  const found = new Map(rows.map((row) => [fromUuid(row.id), accountDetails(row)]));
  return ids.map((id) => found.get(id));
}

function accountDetails(row: DetailsRow): AccountDetails {
  return {
    id: fromUuid(row.id),
    username: row.username,
    displayName: row.display_name ?? undefined,
    givenName: row.given_name ?? undefined,
    familyName: row.family_name ?? undefined,
    timeZone: row.time_zone ?? undefined,
    language: row.locale ?? undefined,
    isLanguageChosen: row.locale_is_chosen,
    canRequestAdmin: row.can_request_admin,
    createdAt: row.created_at,
    lockedAt: row.locked_at ?? undefined,
    deactivatedAt: row.deactivated_at ?? undefined,
    hasPassword: row.has_password,
  };
}
