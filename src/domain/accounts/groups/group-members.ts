/** Changes who is in a group, one or many accounts at a time. */
import { type AuditActor, actorDetail, auditEventIdSql, INSERT_AUDIT_EVENT } from '#domain/audit/audit-event.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { MAX_GROUPS } from '#protocol/oidc/group-names.ts';
import type { GroupId, UserId } from '#vocabulary/ids.ts';
import { lockGroupForMembers, namesListedBy } from './lock-group.ts';

interface MemberChange {
  readonly group: GroupId;
  /** Undefined: an operator at the command line. */
  readonly by?: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type AddOutcome =
  | { readonly ok: true; readonly added: number; readonly already: number }
  | { readonly ok: false; readonly reason: 'unknown' | 'pending' }
  /** `full`: the account has the maximum number of groups. `user`: the first account that cannot be added. */
  | { readonly ok: false; readonly reason: 'unknown-user' | 'full'; readonly user: UserId };

/** Adds accounts to a group, all or none. Expects the caller's transaction. */
export async function addMembers(
  transaction: Queryable,
  { group: id, users, by, now }: MemberChange & { readonly users: readonly UserId[] },
): Promise<AddOutcome> {
  const group = await lockGroupForMembers(transaction, id);
  if (group === undefined) return { ok: false, reason: 'unknown' };
  if (group.isBeingDeleted) return { ok: false, reason: 'pending' };
  const wanted = [...new Set(users)];
  const rows = await transaction.rows(lockUsers, { users: wanted.map(toUuid), names: namesListedBy(group) });
  const found = new Map(rows.map((row) => [row.id, row]));
  const missing = wanted.find((user) => !found.has(toUuid(user)));
  if (missing !== undefined) return { ok: false, reason: 'unknown-user', user: missing };
  const joining = wanted.filter((user) => found.get(toUuid(user))?.is_member !== true);
  const full = joining.find((user) => found.get(toUuid(user))?.is_full === true);
  if (full !== undefined) return { ok: false, reason: 'full', user: full };
  if (joining.length > 0) {
    await transaction.execute(joinGroup, { users: joining.map(toUuid), name: group.name, ...eventOf(by, now) });
  }
  return { ok: true, added: joining.length, already: wanted.length - joining.length };
}

/** `external`: only a sign-in provider reports the membership, so it would come back. */
export type RemoveOutcome = 'removed' | 'no-member' | 'external' | 'unknown' | 'pending' | 'unknown-user';

/** Removes an account from a group. Expects the caller's transaction. */
export async function removeMember(
  transaction: Queryable,
  { group: id, user, by, now }: MemberChange & { readonly user: UserId },
): Promise<RemoveOutcome> {
  const group = await lockGroupForMembers(transaction, id);
  if (group === undefined) return 'unknown';
  if (group.isBeingDeleted) return 'pending';
  const names = namesListedBy(group);
  const row = await transaction.first(leaveGroup, { user: toUuid(user), names, ...eventOf(by, now) });
  if (row === undefined) return 'unknown-user';
  if (row.has_left) return 'removed';
  return row.is_external ? 'external' : 'no-member';
}

interface EventParameters {
  readonly clientId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly detail: string | null;
  readonly now: Date;
}

function eventOf(by: AuditActor | undefined, now: number): EventParameters {
  const clientId = by?.clientId === undefined ? null : toUuid(by.clientId);
  const detail = by === undefined ? null : actorDetail(by);
  return { clientId, detail, ip: by?.address ?? null, userAgent: by?.userAgent ?? null, now: new Date(now) };
}

/** @param changed CTE with the `id` of each changed account */
const recordChanges = (changed: string): string =>
  `${INSERT_AUDIT_EVENT}
   select ${auditEventIdSql(':now::timestamptz')}, 'groups_changed', ${changed}.id, :clientId::uuid, null,
          :ip::inet, :userAgent::text, :detail::jsonb, :now::timestamptz
     from ${changed}`;

const lockUsers = statement<
  { id: string; is_member: boolean; is_full: boolean },
  { readonly users: readonly string[]; readonly names: readonly string[] }
>(
  'lock-new-members',
  `select u.id, coalesce(u.groups && :names::text[], false) as is_member,
          coalesce(cardinality(u.groups) >= ${MAX_GROUPS}, false) as is_full
     from users u where u.id = any(:users::uuid[]) order by u.id for no key update`,
);

const joinGroup = statement<never, EventParameters & { readonly users: readonly string[]; readonly name: string }>(
  'join-group',
  `with joined as (
     update users u set groups = array(
       select listed.name from unnest(array_append(u.groups, :name::text)) listed (name)
        order by listed.name collate "C")
      where u.id = any(:users::uuid[])
     returning u.id
   )
   ${recordChanges('joined')}`,
);

const leaveGroup = statement<
  { has_left: boolean; is_external: boolean },
  EventParameters & { readonly user: string; readonly names: readonly string[] }
>(
  'leave-group',
  `with member as materialized (
     select u.id, u.groups from users u where u.id = :user::uuid for no key update
   ), gone as (
     update users u set groups = nullif(array(
       select kept.name from unnest(member.groups) with ordinality kept (name, place)
        where not kept.name = any(:names::text[]) order by kept.place), '{}')
       from member
      where u.id = member.id and member.groups && :names::text[]
     returning u.id
   ), recorded as (
     ${recordChanges('gone')}
   )
   select exists (select from gone) as has_left,
          exists (
            select from upstream_links l join upstream_providers p on p.id = l.provider_id
             where l.user_id = member.id and l.groups && :names::text[] and ${providerIsEnabled('p')}
          ) as is_external
     from member`,
);
