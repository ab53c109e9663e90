import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { UpstreamProvider, UpstreamProviders } from './upstream-providers.ts';

export interface LinkProviderDeps {
  readonly database: Queryable;
  readonly upstreamProviders: UpstreamProviders;
}

/**
 * The provider at which a person who signs in has an account that is to be linked to the one here. One look-up for that
 * action, none for others. Undefined also when there is nothing to link; the page of the link then says why.
 */
export async function findLinkProvider(
  { database, upstreamProviders }: LinkProviderDeps,
  action: PostAuthAction | undefined,
): Promise<UpstreamProvider | undefined> {
  if (action?.kind !== 'link_upstream') return undefined;
  const row = await database.first(readProvider, { id: toUuid(action.id) });
  return row === undefined ? undefined : upstreamProviders.find(fromUuid<'upstream-provider'>(row.provider_id));
}

/** By primary key. */
const readProvider = statement<{ provider_id: string }, { readonly id: string }>(
  'provider-of-link-to-be',
  'select provider_id from upstream_links where id = :id::uuid and user_id is null',
);
