import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const deleteOfUser = statement<{ had_app: boolean }, { readonly userId: string }>(
  'delete-one-time-codes-of-user',
  `with app as (
    delete from user_totp_secrets t where t.user_id = :userId::uuid returning t.id
  ), begun as (
    delete from user_totp_enrolments e where e.user_id = :userId::uuid
  ), codes as (
    delete from user_recovery_codes c where c.user_id = :userId::uuid
  )
  select exists (select from app) as had_app`,
);

/**
 * Deletes an account's authenticator app, its unfinished enrollments and its recovery codes.
 * @returns whether it had an app
 */
export async function deleteOneTimeCodes(transaction: Queryable, user: UserId): Promise<boolean> {
  return (await transaction.first(deleteOfUser, { userId: toUuid(user) }))?.had_app === true;
}
