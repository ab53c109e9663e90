import { type ClientKind, clientKindSql } from '#domain/clients/client.ts';
import { groupExists } from '#domain/records/liveness/groups.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { eitherWay, Listing } from '#platform/postgres/listing.ts';
import { ms } from '#platform/postgres/statement.ts';

/** A group in lists. Times in milliseconds since the epoch. */
export interface GroupRecord {
  readonly id: string;
  readonly name: string;
  readonly former_name: string | null;
  readonly description: string | null;
  readonly created_at: number;
  /** When names were last compared, an enabled provider reported it. */
  readonly is_external: boolean;
  readonly is_deleted: boolean;
  /** At most `MAX_COUNTED_MEMBERS`. */
  readonly member_count: number;
}

/** A group with the clients that are limited to it. */
export interface GroupDetailsRecord extends GroupRecord {
  readonly clients: readonly {
    readonly id: string;
    readonly client_name: string | null;
    readonly kind: ClientKind;
  }[];
}

export interface GroupFilters {
  readonly isExternal: boolean;
  /** A `like` pattern for the lower-case name, made with `containing`. */
  readonly search: string;
}

/** Counting stops here. */
export const MAX_COUNTED_MEMBERS = 1000;
export const MAX_GROUP_CLIENTS = 100;

/** An account with the group from an administrator and from a provider counts once, unless both counts stop. */
const MEMBER_COUNT = `(
  select least(count(*), ${MAX_COUNTED_MEMBERS})::integer from (
    (select u.id from users u where u.groups is not null and u.groups && array[g.name, g.former_name]
      limit ${MAX_COUNTED_MEMBERS})
    union
    (select l.user_id from upstream_links l join upstream_providers p on p.id = l.provider_id
      where l.groups is not null and l.user_id is not null and l.groups @> array[g.name] and ${providerIsEnabled('p')}
      limit ${MAX_COUNTED_MEMBERS})
  ) member
)`;

const COLUMNS = {
  id: 'g.id',
  name: 'g.name',
  former_name: 'g.former_name',
  description: 'g.description',
  created_at: ms('g.created_at'),
  is_external: 'g.is_external',
  is_deleted: `not (${groupExists('g')})`,
  member_count: MEMBER_COUNT,
};

const CLIENTS = `(
  select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'client_name', c.client_name, 'kind', c.kind)
           order by c.id), '[]')
    from (
      select c.id, c.metadata -> 'client_name' ->> '' as client_name, ${clientKindSql('c')} as kind
        from oauth2_clients c where c.allowed_groups is not null and c.allowed_groups @> array[g.id]
       order by c.id limit ${MAX_GROUP_CLIENTS}
    ) c
)`;

const FILTERS = {
  isExternal: eitherWay('g.is_external'),
  search: 'lower(g.name) like :search::text',
};

export const groups = new Listing<GroupRecord, GroupFilters>('admin-groups', {
  columns: COLUMNS,
  from: 'user_groups g',
  filters: FILTERS,
  orders: {
    id: { column: 'g.id', cursorOf: (id) => id },
    name: { column: 'g.name', cursorOf: (id) => `(select c.name from user_groups c where c.id = ${id})` },
  },
});

export const groupDetails = new Listing<GroupDetailsRecord, GroupFilters>('admin-group', {
  columns: { ...COLUMNS, clients: CLIENTS },
  from: 'user_groups g',
  filters: FILTERS,
});
