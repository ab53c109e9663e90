import { fromUuid, type PasskeyId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
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

/** Index `user_passkeys_user`. */
const passkeysOfUsers = listStatements<PasskeyRow, object>('passkeys-of-users', [
  { columns: PASSKEY_COLUMNS, from: 'user_passkeys k', where: 'k.user_id = owner.id' },
]);

/** A page of the passkeys of each of these people. */
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

const byIds = statement<PasskeyRow, { readonly ids: readonly string[]; readonly owner: string | null }>(
  'find-passkeys',
  `select ${selectedColumns(PASSKEY_COLUMNS)} from user_passkeys k
    where k.id = any(:ids::uuid[]) and (:owner::uuid is null or k.user_id = :owner::uuid)`,
);

/**
 * Passkeys by their identifiers, in the same order.
 * @param owner whose they are, and otherwise they are not found; `anybody`: administrators see all
 */
export async function findPasskeys(
  queryable: Queryable,
  ids: readonly PasskeyId[],
  owner: UserId | 'anybody',
): Promise<(Passkey | undefined)[]> {
  const rows = await queryable.rows(byIds, {
    ids: ids.map(toUuid),
    owner: owner === 'anybody' ? null : toUuid(owner),
  });
  const found = new Map(rows.map((row) => [fromUuid(row.id), toPasskey(row)]));
  return ids.map((id) => found.get(id));
}

/** How browsers are told of a passkey (`PublicKeyCredentialDescriptorJSON`). */
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
