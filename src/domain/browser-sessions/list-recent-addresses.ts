import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

const listAddresses = statement<{ address: string }, { readonly since: string; readonly limit: number }>(
  'recent-session-addresses',
  `select host(last_active_ip) as address from user_sessions
    where id > :since::uuid and last_active_ip is not null order by id desc limit :limit::integer`,
);

/** Returns the last IP address of each recently opened session. @param since an ID of that time */
export async function listRecentAddresses(
  queryable: Queryable,
  since: string,
  limit: number,
): Promise<readonly string[]> {
  return (await queryable.rows(listAddresses, { since, limit })).map(({ address }) => address);
}
