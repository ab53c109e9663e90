/** Changes of registration tokens by administrators (operations 4.8). */

import { registrationTokenIsRevoked } from '#domain/records/liveness/accounts.ts';
import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import { groupsNamed } from '../groups/group.ts';

export type RegistrationTokenId = Ulid<'registration-token'>;

/** Undefined members stay unchanged. */
export interface RegistrationTokenChange {
  /** Null: unlimited. */
  readonly usageLimit: number | null | undefined;
  /** Null: never. */
  readonly expiresAt: Date | null | undefined;
  /** Names of the groups that accounts join, replacing the former ones. */
  readonly groups: readonly string[] | undefined;
  /** Null: none. */
  readonly note: string | null | undefined;
}

const change = statement<
  never,
  {
    readonly id: string;
    readonly changesLimit: boolean;
    readonly usageLimit: number | null;
    readonly changesEnd: boolean;
    readonly expiresAt: Date | null;
    readonly changesGroups: boolean;
    readonly groupIds: readonly string[] | null;
    readonly changesNote: boolean;
    readonly note: string | null;
  }
>(
  'change-registration-token',
  `update user_registration_tokens
      set usage_limit = case when :changesLimit::boolean then :usageLimit::integer else usage_limit end,
          expires_at = case when :changesEnd::boolean then :expiresAt::timestamptz else expires_at end,
          group_ids = case when :changesGroups::boolean then :groupIds::uuid[] else group_ids end,
          note = case when :changesNote::boolean then :note::text else note end
    where id = :id::uuid
      and (not :changesLimit::boolean or :usageLimit::integer is null or times_used <= :usageLimit::integer)`,
);

/**
 * Expects the caller's transaction.
 * @returns false if the token does not exist or was already used more often than the new limit allows
 * @throws LatchkeyError `group_exists` if one of the groups is being deleted
 */
export async function changeRegistrationToken(
  transaction: Queryable,
  id: RegistrationTokenId,
  { usageLimit, expiresAt, groups, note }: RegistrationTokenChange,
  now: number,
): Promise<boolean> {
  const joined = await groupsNamed(transaction, sortedGroups(groups ?? []), now);
  const written = await transaction.execute(change, {
    id: toUuid(id),
    changesLimit: usageLimit !== undefined,
    usageLimit: usageLimit ?? null,
    changesEnd: expiresAt !== undefined,
    expiresAt: expiresAt ?? null,
    changesGroups: groups !== undefined,
    groupIds: joined.length === 0 ? null : joined.map((group) => toUuid(group.id)),
    changesNote: note !== undefined,
    note: note ?? null,
  });
  return written > 0;
}

const revoke = statement<never, { readonly id: string; readonly now: Date }>(
  'revoke-registration-token',
  `update user_registration_tokens t set revoked_at = :now::timestamptz
    where t.id = :id::uuid and not (${registrationTokenIsRevoked('t')})`,
);

const unrevoke = statement<never, { readonly id: string }>(
  'unrevoke-registration-token',
  `update user_registration_tokens t set revoked_at = null
    where t.id = :id::uuid and ${registrationTokenIsRevoked('t')}`,
);

/** @returns whether this call revoked it */
export async function revokeRegistrationToken(
  queryable: Queryable,
  id: RegistrationTokenId,
  now: number,
): Promise<boolean> {
  return (await queryable.execute(revoke, { id: toUuid(id), now: new Date(now) })) > 0;
}

/** @returns whether this call undid the revocation */
export async function unrevokeRegistrationToken(queryable: Queryable, id: RegistrationTokenId): Promise<boolean> {
  return (await queryable.execute(unrevoke, { id: toUuid(id) })) > 0;
}
