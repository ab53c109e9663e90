import { type PasskeyId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { areOwned, findOwned, type OwnedParams, type Owner } from '#platform/postgres/owned-rows.ts';
import {
  countLists,
  listStatements,
  type Page,
  type PageWindow,
  readPages,
  selectedColumns,
} from '#platform/postgres/page.ts';
import { statement } from '#platform/postgres/statement.ts';
import { PASSKEY_COLUMNS, type Passkey, type PasskeyRow, toPasskey } from './passkey.ts';

/** Uses index `user_passkeys_user`. */
const passkeysOfUsers = listStatements<PasskeyRow, object>('passkeys-of-users', [
  { columns: PASSKEY_COLUMNS, from: 'user_passkeys k', where: 'k.user_id = owner.id' },
]);

/** Returns a page of passkeys for each of these users. */
export async function listPasskeys(
  queryable: Queryable,
  users: readonly UserId[],
  window: PageWindow,
): Promise<Page<Passkey>[]> {
  const pages = await readPages(queryable, passkeysOfUsers, users, {}, window);
  return pages.map((page) => ({ ...page, items: page.items.map(toPasskey) }));
}

export async function countPasskeys(queryable: Queryable, users: readonly UserId[]): Promise<number[]> {
  return await countLists(queryable, passkeysOfUsers, users, {});
}

const byIds = statement<PasskeyRow, OwnedParams>(
  'find-passkeys',
  `select ${selectedColumns(PASSKEY_COLUMNS)} from user_passkeys k
    where ${areOwned('k.id', 'k.user_id')}`,
);

/** Finds passkeys by their IDs, in the same order. */
export async function findPasskeys(
  queryable: Queryable,
  ids: readonly PasskeyId[],
  owner: Owner,
): Promise<(Passkey | undefined)[]> {
  const rows = await findOwned(queryable, byIds, ids, owner, {});
  return rows.map((row) => row && toPasskey(row));
}

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
