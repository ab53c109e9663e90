import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId, GroupId } from '#vocabulary/ids.ts';

/** The lists of up to this many members are rewritten together with the group; those of more in a job. */
export const MAX_REWRITTEN_AT_ONCE = 1000;

export interface LockedGroup {
  readonly id: GroupId;
  readonly name: string;
  /** The name before a rename, while some members still list it. */
  readonly formerName: string | null;
  readonly description: string | null;
  readonly isBeingDeleted: boolean;
}

export interface GroupUses {
  /** Whether the members can be rewritten in the same transaction. */
  readonly hasFewMembers: boolean;
  /** An enabled provider reports the name, so it would come back. */
  readonly isExternal: boolean;
  /** The configuration names it, so it would come back. */
  readonly isConfigured: boolean;
  /** Some of the clients that are limited to it. */
  readonly clients: readonly ClientId[];
}

/** Locks a group until the transaction ends, so that nobody joins it and no client becomes limited to it. */
export async function lockGroup(transaction: Queryable, id: GroupId): Promise<LockedGroup | undefined> {
  return lockedGroup(await transaction.first(lockForChange, { id: toUuid(id) }));
}

/** Locks a group against changes of the group itself. */
export async function lockGroupForMembers(transaction: Queryable, id: GroupId): Promise<LockedGroup | undefined> {
  return lockedGroup(await transaction.first(lockForMembers, { id: toUuid(id) }));
}

/** Returns the names that its members may list. */
export function namesListedBy({ name, formerName }: Pick<LockedGroup, 'name' | 'formerName'>): readonly string[] {
  return formerName === null ? [name] : [name, formerName];
}

/** Expects a locked group. */
export async function findGroupUses(transaction: Queryable, group: LockedGroup): Promise<GroupUses> {
  const row = await transaction.first(findUses, {
    id: toUuid(group.id),
    name: group.name,
    names: namesListedBy(group),
  });
  return {
    hasFewMembers: (row?.members ?? 0) <= MAX_REWRITTEN_AT_ONCE,
    isExternal: row?.is_external === true,
    isConfigured: row?.is_configured === true,
    clients: row?.clients.map((id) => fromUuid<'client'>(id)) ?? [],
  };
}

interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly former_name: string | null;
  readonly description: string | null;
  readonly is_deleted: boolean;
}

function lockedGroup(row: GroupRow | undefined): LockedGroup | undefined {
  if (row === undefined) return undefined;
  const { id, name, former_name: formerName, description, is_deleted: isBeingDeleted } = row;
  return { id: fromUuid(id), name, formerName, description, isBeingDeleted };
}

const COLUMNS = 'g.id, g.name, g.former_name, g.description, g.deleted_at is not null as is_deleted';

const lockForChange = statement<GroupRow, { readonly id: string }>(
  'lock-group',
  `select ${COLUMNS} from user_groups g where g.id = :id::uuid for update`,
);

const lockForMembers = statement<GroupRow, { readonly id: string }>(
  'lock-group-for-members',
  `select ${COLUMNS} from user_groups g where g.id = :id::uuid for key share`,
);

/**
 * SQL condition: an enabled provider reports this group.
 * @param name expression of type `text`
 */
export function isReportedByProvider(name: string): string {
  return `exists (
    select from upstream_links l join upstream_providers p on p.id = l.provider_id
     where l.groups is not null and l.user_id is not null and l.groups @> array[${name}] and ${providerIsEnabled('p')})`;
}

const MAX_SHOWN_CLIENTS = 5;

const findUses = statement<
  { members: number; is_external: boolean; is_configured: boolean; clients: readonly string[] },
  { readonly id: string; readonly name: string; readonly names: readonly string[] }
>(
  'find-group-uses',
  `select (
            select count(*)::integer from (
              select from users u where u.groups is not null and u.groups && :names::text[]
               limit ${MAX_REWRITTEN_AT_ONCE + 1}) member
          ) as members,
          ${isReportedByProvider(':name::text')} as is_external,
          exists (
            select from oauth2_clients c
             where c.allowed_groups is not null and c.allowed_groups @> array[:id::uuid] and c.is_static
          ) as is_configured,
          array(
            select c.id from oauth2_clients c
             where c.allowed_groups is not null and c.allowed_groups @> array[:id::uuid]
             order by c.id limit ${MAX_SHOWN_CLIENTS}
          ) as clients`,
);
