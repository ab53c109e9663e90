import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';

const rename = statement<never, { readonly id: string; readonly userId: string; readonly name: string }>(
  'rename-passkey',
  'update user_passkeys set name = :name::text where id = :id::uuid and user_id = :userId::uuid',
);

/** @returns false if the user has no such passkey */
export async function renamePasskey(queryable: Queryable, id: PasskeyId, user: UserId, name: string): Promise<boolean> {
  return (await queryable.execute(rename, { id: toUuid(id), userId: toUuid(user), name })) > 0;
}
