import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { groupExists } from '#domain/records/liveness/groups.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';

/** Returns enabled clients that are limited to groups without any member, or to groups that no longer exist. */
export async function listUnusableClients(queryable: Queryable, limit: number): Promise<readonly ClientId[]> {
  const rows = await queryable.rows(unusable, { limit });
  return rows.map(({ id }) => fromUuid(id));
}

/** Uses the indexes of limited clients and of members of a group. */
const unusable = statement<{ id: string }, { readonly limit: number }>(
  'list-unusable-clients',
  `select c.id
     from oauth2_clients c
    where c.allowed_groups is not null and ${clientIsEnabled('c')}
      and not exists (
        select from user_groups g
         where g.id = any(c.allowed_groups) and ${groupExists('g')}
           and (exists (select from users u where u.groups is not null and u.groups @> array[g.name])
                or exists (select from users u where u.groups is not null and u.groups @> array[g.former_name])
                or exists (select from upstream_links l join upstream_providers p on p.id = l.provider_id
                            where l.groups @> array[g.name] and l.user_id is not null and ${providerIsEnabled('p')}))
      )
    order by c.id limit :limit::integer`,
);
