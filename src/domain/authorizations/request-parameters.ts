import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AuthorizationGrantId } from '#vocabulary/ids.ts';

/** Returns the stored parameters of an authorization request; empty if none were stored or the grant does not exist. */
export async function findRequestParameters(
  database: Queryable,
  id: AuthorizationGrantId,
): Promise<Readonly<Record<string, string>>> {
  const row = await database.first(findParameters, { id: toUuid(id) });
  return row?.parameters ?? {};
}

/** Uses the primary key. */
const findParameters = statement<
  { readonly parameters: Readonly<Record<string, string>> | null },
  { readonly id: string }
>('authorization-request-parameters', 'select g.parameters from oauth2_authorization_grants g where g.id = :id::uuid');
