import { type RegistrationId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { Registration } from './registration.ts';
import { type RegistrationRow, registrationColumns, toRegistration } from './registration-row.ts';

const byId = statement<RegistrationRow, { readonly id: string }>(
  'find-registration',
  `select ${registrationColumns} from user_registrations where id = :id::uuid`,
);

/** @param protocolName see `toRegistration` */
export async function findRegistration(
  queryable: Queryable,
  id: RegistrationId,
  protocolName: string,
): Promise<Registration | undefined> {
  const row = await queryable.first(byId, { id: toUuid(id) });
  return row === undefined ? undefined : toRegistration(row, protocolName);
}
