/** The groups that a client is limited to. Without a limit every user may use it; see `clientAdmits`. */
import { allowedGroups } from '#config/sections/clients.ts';
import { groupNamesOf } from '#domain/records/liveness/groups.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { ClientId, GroupId } from '#vocabulary/ids.ts';

/** Implemented by `findOrCreateGroups` in `domain/accounts`. */
export interface GroupFinder {
  findOrCreateGroups(
    transaction: Queryable,
    names: readonly string[],
    now: number,
  ): Promise<readonly { readonly id: GroupId; readonly isBeingDeleted: boolean }[]>;
}

export interface LimitRow {
  readonly is_limited: boolean;
  /** Sorted names of the allowed groups that exist. */
  readonly allowed_groups: readonly string[];
}

/** The columns of a `LimitRow`. @param client alias of `oauth2_clients` */
export function limitColumns(client: string): { readonly [Name in keyof LimitRow]: string } {
  return {
    is_limited: `${client}.allowed_groups is not null`,
    allowed_groups: groupNamesOf(`${client}.allowed_groups`),
  };
}

/** `limitColumns` for a select list. */
export function limitColumnsSql(client: string): string {
  return Object.entries(limitColumns(client))
    .map(([name, source]) => `${source} as ${name}`)
    .join(', ');
}

export const ACCESS = ['everyone', 'groups', 'nobody'] as const;

/** Returns who may use a client. A limit to groups that no longer exist admits no user. */
export function accessOf({ is_limited, allowed_groups }: LimitRow): (typeof ACCESS)[number] {
  if (!is_limited) return 'everyone';
  return allowed_groups.length > 0 ? 'groups' : 'nobody';
}

/** Returns whether the client is limited to exactly these groups; without names, to none. */
export function isLimitedTo(row: LimitRow, names: readonly string[]): boolean {
  const isSame = String(sortedGroups(names)) === String(sortedGroups(row.allowed_groups));
  return isSame && row.is_limited === names.length > 0;
}

/** Why a member was rejected. */
export interface MemberProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

interface InvalidLimit {
  readonly ok: false;
  readonly reason: 'invalid';
  readonly problem: MemberProblem;
}

/** The value for the column: null for everyone. */
type FoundLimit = { readonly ok: true; readonly ids: readonly string[] | null } | InvalidLimit;

/** Finds the groups, and creates missing ones. Expects the transaction of the change. */
export async function findLimit(
  transaction: Queryable,
  finder: GroupFinder,
  names: readonly string[],
  now: number,
): Promise<FoundLimit> {
  if (names.length === 0) return { ok: true, ids: null };
  const groups = await finder.findOrCreateGroups(transaction, names, now);
  const deleted = groups.findIndex(({ isBeingDeleted }) => isBeingDeleted);
  if (deleted >= 0) return invalid(['allowed_groups', deleted], 'the group is being deleted; retry later');
  return { ok: true, ids: uuidsOf(groups) };
}

export function uuidsOf(groups: readonly { readonly id: GroupId }[]): readonly string[] {
  return [...new Set(groups.map(({ id }) => toUuid(id)))];
}

export type WantedLimit =
  | { readonly ok: true; readonly names: readonly string[]; readonly opens: boolean }
  | InvalidLimit;

/** @param value of a merge patch; null opens the client to everyone */
export function parseLimit(value: unknown): WantedLimit {
  const parsed = allowedGroups.safeParse(value ?? []);
  if (parsed.success) return { ok: true, names: parsed.data, opens: value === null };
  const [issue] = parsed.error.issues;
  return invalid(['allowed_groups', ...(issue?.path ?? [])], issue?.message ?? 'cannot be parsed');
}

/**
 * Limits a locked client. What it shows already changes nothing: a client whose groups were deleted shows an empty list,
 * and sending that list back must not open it.
 * @returns whether this changed the limit
 */
export async function limitClient(
  transaction: Transaction,
  finder: GroupFinder,
  id: ClientId,
  row: LimitRow,
  { names, opens }: Extract<WantedLimit, { readonly ok: true }>,
  now: number,
): Promise<{ readonly ok: true; readonly isChanged: boolean } | InvalidLimit> {
  const isShown = String(sortedGroups(names)) === String(sortedGroups(row.allowed_groups));
  if (opens ? !row.is_limited : isShown) return { ok: true, isChanged: false };
  const found = await findLimit(transaction, finder, names, now);
  if (!found.ok) return found;
  await transaction.execute(storeLimit, { id: toUuid(id), groups: found.ids, now: new Date(now) });
  return { ok: true, isChanged: true };
}

const storeLimit = statement<
  never,
  { readonly id: string; readonly groups: readonly string[] | null; readonly now: Date }
>(
  'limit-client',
  `update oauth2_clients
      set version = version + 1, allowed_groups = :groups::uuid[], updated_at = :now::timestamptz
    where id = :id::uuid`,
);

function invalid(path: readonly PropertyKey[], message: string): InvalidLimit {
  return { ok: false, reason: 'invalid', problem: { path, message } };
}
