import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { UpstreamProvider, UpstreamProviders } from './upstream-providers.ts';

export interface LinkProviderDeps {
  readonly database: Queryable;
  readonly upstream: { readonly providers: UpstreamProviders };
}

/**
 * Returns the provider whose identity is about to be linked to the account of the user who signs in. Makes one query
 * for that action and none for others. Also undefined if nothing can be linked; the linking page then explains why.
 */
export async function findLinkProvider(
  { database, upstream }: LinkProviderDeps,
  action: PostAuthAction | undefined,
): Promise<UpstreamProvider | undefined> {
  if (action?.kind !== 'link_upstream') return undefined;
  const row = await database.first(readProvider, { id: toUuid(action.id) });
  return row === undefined ? undefined : upstream.providers.find(fromUuid<'upstream-provider'>(row.provider_id));
}

/** Uses the primary key. */
const readProvider = statement<{ provider_id: string }, { readonly id: string }>(
  'provider-of-link-to-be',
  'select provider_id from upstream_links where id = :id::uuid and user_id is null',
);
