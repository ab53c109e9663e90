import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { PASSKEY_COLUMNS, type Passkey, type PasskeyRow, toPasskey } from './passkey.ts';

/** Uses index `user_passkeys_user`. */
export const passkeys = ownedList<PasskeyRow, Passkey>({
  labels: { list: 'passkeys-of-users', find: 'find-passkeys' },
  columns: PASSKEY_COLUMNS,
  from: 'user_passkeys k',
  owner: 'k.user_id',
  toItem: toPasskey,
});

/** A passkey as described to browsers (`PublicKeyCredentialDescriptorJSON`). */
export interface PasskeyDescriptor {
  readonly type: 'public-key';
  readonly id: string;
  readonly transports: readonly string[];
}

const descriptorsOfUser = statement<
  { credential_id: Buffer; transports: readonly string[] },
  { readonly userId: string }
>(
  'passkey-descriptors',
  'select k.credential_id, k.transports from user_passkeys k where k.user_id = :userId::uuid order by k.id',
);

export async function listDescriptors(queryable: Queryable, user: UserId): Promise<PasskeyDescriptor[]> {
  const rows = await queryable.rows(descriptorsOfUser, { userId: toUuid(user) });
  return rows.map(({ credential_id, transports }) => ({
    type: 'public-key',
    id: credential_id.toString('base64url'),
    transports,
  }));
}
