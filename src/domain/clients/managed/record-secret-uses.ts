import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import type { UsedSecret } from '../accepted-secret.ts';

export interface SecretUse {
  readonly client: ClientId;
  readonly secret: UsedSecret;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Stores when secrets were last used. A use before the current secret was created belongs to the former one. */
export async function recordSecretUses(queryable: Queryable, uses: readonly SecretUse[]): Promise<void> {
  await queryable.execute(storeUses, {
    ids: uses.map(({ client }) => toUuid(client)),
    former: uses.map(({ secret }) => secret === 'former'),
    times: uses.map(({ at }) => new Date(at)),
  });
}

const storeUses = statement<
  never,
  { readonly ids: readonly string[]; readonly former: readonly boolean[]; readonly times: readonly Date[] }
>(
  'record-client-secret-uses',
  `update oauth2_clients c
      set secret_last_used_at = greatest(c.secret_last_used_at, used.current_at),
          former_secret_last_used_at = case when c.former_secret_sealed is not null
                                            then greatest(c.former_secret_last_used_at, used.former_at) end
     from (select given.id,
                  max(given.at) filter (where not given.is_former and given.at >= k.secret_created_at) as current_at,
                  max(given.at) filter (where given.is_former or given.at < k.secret_created_at) as former_at
             from unnest(:ids::uuid[], :former::boolean[], :times::timestamptz[]) as given (id, is_former, at)
             join oauth2_clients k on k.id = given.id
            group by given.id) used
    where c.id = used.id and c.kind = 'managed'`,
);
