import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

const listVersions = statement<{ version: number }, NoParameters>(
  'stored-password-schemes',
  'select distinct scheme_version as version from user_passwords order by version',
);

/** Returns the versions of `passwords.schemes` used by stored hashes. Reads the whole table. */
export async function listStoredSchemes(queryable: Queryable): Promise<readonly number[]> {
  return (await queryable.rows(listVersions, {})).map(({ version }) => version);
}
