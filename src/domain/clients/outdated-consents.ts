import type { Queryable } from '#platform/postgres/database.ts';
import { type RedirectUriOwner, redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { canonicalJson } from './canonical-json.ts';
import type { ClientMetadata } from './client.ts';
import { forgetConsentsOfClient } from './consents.ts';

/**
 * Implemented by `domain/authorizations`, which imports this module. Called in the transaction that changes the client.
 */
export interface GrantCanceller {
  cancelGrantsOutsideRedirectUris(
    transaction: Queryable,
    client: ClientId,
    owner: RedirectUriOwner,
    now: number,
  ): Promise<void>;
}

export interface ClientChange {
  readonly id: ClientId;
  readonly former: ClientMetadata;
  readonly metadata: ClientMetadata;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Deletes consents if the consent page changes, and cancels grants whose redirect URI is no longer registered. */
export async function endOutdatedConsentsAndGrants(
  canceller: GrantCanceller,
  transaction: Queryable,
  { id, former, metadata, now }: ClientChange,
): Promise<void> {
  if (shownOnConsentPage(metadata) !== shownOnConsentPage(former)) await forgetConsentsOfClient(transaction, id);
  const { redirect_uris, token_endpoint_auth_method } = metadata;
  const owner = {
    redirectUris: redirect_uris,
    isPublic: token_endpoint_auth_method === 'none',
    hasParsedRedirectUris: metadata.imported_from === 'mas',
  };
  await canceller.cancelGrantsOutsideRedirectUris(transaction, id, owner, now);
}

/** Serializes what the consent page shows about a client (oauth 7.6), for comparison. */
function shownOnConsentPage(metadata: ClientMetadata): string {
  const { client_name, client_uri, logo_uri, policy_uri, tos_uri, redirect_uris } = metadata;
  const host = client_uri?.[''] === undefined ? undefined : redirectTarget(client_uri['']);
  const targets = [...new Set(redirect_uris.map(redirectTarget))].sort();
  return canonicalJson([client_name, host, logo_uri, policy_uri, tos_uri, targets].map((part) => part ?? null));
}
