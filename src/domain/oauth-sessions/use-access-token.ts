import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import type { AdminRights } from './admin-rights.ts';
import { type UserOfTokenRow, useAccessToken } from './statements/use-access-token.ts';

/**
 * The person behind an access token presented at a resource of this service; records the token's first use when it
 * has the needed scope. One statement, none for a text that is no access token by its form.
 * @param now milliseconds since the epoch
 * @returns undefined when the token is not live or has no user; the scope is the caller's to check
 */
export async function findUserOfAccessToken(
  database: Queryable,
  token: string,
  neededScope: string,
  rights: AdminRights,
  now: number,
): Promise<UserOfTokenRow | undefined> {
  if (parseToken(token)?.prefix !== 'mat') return undefined;
  const row = await database.first(useAccessToken, { tokenHash: sha256(token), now: new Date(now), neededScope });
  return row?.is_live === true ? { ...row, scope: rights.remainingScope(row.scope, row) } : undefined;
}

export type { UserOfTokenRow };
