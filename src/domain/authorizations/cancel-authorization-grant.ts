import { grantHasCode, grantIsOpen, grantIsUndecided } from '#domain/records/liveness/authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type RedirectUriOwner, redirectUriMatches } from '#protocol/oauth/redirect-uris.ts';
import type { AuthorizationGrantId, ClientId } from '#vocabulary/ids.ts';

/**
 * The state that each reason applies to. A "cancel" by the user after the code was issued does not revoke it, and a
 * tampered exchange only affects a grant with a code.
 */
const ENDS = {
  /** The user revoked the client's access. */
  'application-revoked': 'fulfilled',
  /** The redirect URI of the request is no longer registered. */
  'redirect-uri-removed': 'pending',
  /** The browser session that consented has ended. */
  'sign-in-gone': 'fulfilled',
  /** A request with `prompt=none` required user interaction. */
  'silent-refused': 'pending',
  user: 'pending',
  /** The code was presented with a wrong PKCE verifier. */
  'verifier-wrong': 'fulfilled',
} as const satisfies Record<string, 'pending' | 'fulfilled'>;

export type CancelReason = keyof typeof ENDS;

/**
 * Cancels a grant before its exchange.
 * @param now milliseconds since the epoch
 * @returns false if the grant was not in the state that the reason applies to
 */
export async function cancelAuthorizationGrant(
  database: Queryable,
  id: AuthorizationGrantId,
  reason: CancelReason,
  now: number,
): Promise<boolean> {
  const isFulfilled = ENDS[reason] === 'fulfilled';
  return (await database.execute(cancelGrant, { id: toUuid(id), reason, now: new Date(now), isFulfilled })) === 1;
}

/** Cancels a grant with or without a code (`isFulfilled`), unless it was exchanged or canceled. */
const cancelGrant = statement<
  never,
  { readonly id: string; readonly reason: string; readonly now: Date; readonly isFulfilled: boolean }
>(
  'cancel-authorization-grant',
  `update oauth2_authorization_grants
      set cancelled_at = :now::timestamptz, cancel_reason = :reason::text
    where id = :id::uuid and ${grantHasCode('oauth2_authorization_grants')} = :isFulfilled::boolean
      and ${grantIsOpen('oauth2_authorization_grants')}`,
);

/**
 * Cancels the pending grants of a client whose redirect URI is no longer registered.
 * @param now milliseconds since the epoch
 */
export async function cancelGrantsOutsideRedirectUris(
  queryable: Queryable,
  client: ClientId,
  owner: RedirectUriOwner,
  now: number,
): Promise<void> {
  const pending = await queryable.rows(listPendingRedirectUris, { clientId: toUuid(client) });
  const gone = pending.map((row) => row.redirect_uri).filter((uri) => !redirectUriMatches(owner, uri));
  if (gone.length === 0) return;
  const reason: CancelReason = 'redirect-uri-removed';
  await queryable.execute(cancelPendingGrantsTo, {
    clientId: toUuid(client),
    redirectUris: gone,
    reason,
    now: new Date(now),
  });
}

/** Returns the redirect URIs of a client's pending grants. */
const listPendingRedirectUris = statement<{ redirect_uri: string }, { readonly clientId: string }>(
  'list-pending-redirect-uris',
  `select distinct redirect_uri from oauth2_authorization_grants
    where client_id = :clientId::uuid and ${grantIsUndecided('oauth2_authorization_grants')}`,
);

const cancelPendingGrantsTo = statement<
  never,
  { readonly clientId: string; readonly redirectUris: readonly string[]; readonly reason: string; readonly now: Date }
>(
  'cancel-pending-grants-to-redirect-uris',
  `update oauth2_authorization_grants
      set cancelled_at = :now::timestamptz, cancel_reason = :reason::text
    where client_id = :clientId::uuid and redirect_uri = any (:redirectUris::text[])
      and ${grantIsUndecided('oauth2_authorization_grants')}`,
);
