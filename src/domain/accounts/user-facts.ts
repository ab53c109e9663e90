import { ms } from '#platform/postgres/statement.ts';
import type { UserFacts } from '#protocol/oidc/user-claims.ts';

/** When the profile of the user `u` changed, milliseconds since the epoch. */
export const PROFILE_UPDATED_AT = ms('coalesce(u.updated_at, u.created_at)');

/** The columns that claims are made of. */
export interface UserFactsRow {
  readonly username: string;
  readonly display_name: string | null;
  readonly locale: string | null;
  readonly updated_at: number;
  /** The oldest address, null unless it was granted. */
  readonly email: string | null;
}

/**
 * Selects the columns of a `UserFactsRow` from the user `u`. The address is looked up, by the index
 * `user_emails_user_id`, only with the scope `email` or when single claims were requested.
 * @param scope an expression of type `text[]`
 * @param claims an expression of type `jsonb`: the claims that were requested one by one, or null
 */
export function userFactsColumns(scope: string, claims: string): string {
  return `u.username,
          u.display_name,
          u.locale,
          ${PROFILE_UPDATED_AT} as updated_at,
          case when 'email' = any(${scope}) or ${claims} is not null then (
            select e.email from user_emails e where e.user_id = u.id order by e.created_at, e.id limit 1
          ) end as email`;
}

export function userFacts(row: UserFactsRow): UserFacts {
  return {
    username: row.username,
    displayName: row.display_name ?? undefined,
    locale: row.locale ?? undefined,
    updatedAt: row.updated_at,
    email: row.email ?? undefined,
  };
}
