import { statement } from '#platform/postgres/statement.ts';

export interface DestinationRow {
  readonly client_id: string;
  readonly redirect_uri: string;
  /** `ui_locales` of the request. */
  readonly locale: string | null;
}

/** The authorization request that waits for a person to sign in, by primary key. */
export const pendingDestination = statement<DestinationRow, { readonly id: string; readonly now: Date }>(
  'pending-destination',
  `select client_id, redirect_uri, locale
     from oauth2_authorization_grants
    where id = :id::uuid and fulfilled_at is null and cancelled_at is null and expires_at > :now::timestamptz`,
);

/** Where answers to pending grants of a client would go. */
export const listPendingRedirectUris = statement<{ redirect_uri: string }, { readonly clientId: string }>(
  'list-pending-redirect-uris',
  `select distinct redirect_uri from oauth2_authorization_grants
    where client_id = :clientId::uuid and fulfilled_at is null and cancelled_at is null`,
);
