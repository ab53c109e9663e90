import type { Client } from '#domain/clients/client.ts';
import { clientName } from '#domain/clients/client.ts';
import type { ClientDirectory } from '#domain/clients/client-directory.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { grantIsPending } from './liveness.ts';

export interface DestinationDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly clients: ClientDirectory;
}

/** The client that a person who signs in or registers is about to return to. */
export interface Destination {
  readonly client: Client;
  readonly redirectUri: string;
  readonly uiLocales: string | undefined;
}

/**
 * The client that an action continues to. One look-up for an authorization grant (the client is cached), no look-up
 * for other actions. Undefined when the grant is not pending any more; its own address then says why.
 */
export async function findDestination(
  deps: DestinationDeps,
  action: PostAuthAction | undefined,
): Promise<Destination | undefined> {
  if (action?.kind !== 'continue_authorization_grant') return undefined;
  const row = await deps.database.first(pendingDestination, { id: toUuid(action.id), now: new Date(deps.clock.now()) });
  if (row === undefined) return undefined;
  const client = await deps.clients.find(fromUuid<'client'>(row.client_id));
  if (client === undefined) return undefined;
  return { client, redirectUri: row.redirect_uri, uiLocales: row.locale ?? undefined };
}

interface DestinationRow {
  readonly client_id: string;
  readonly redirect_uri: string;
  /** `ui_locales` of the request. */
  readonly locale: string | null;
}

/** The authorization request that waits for a person to sign in, by primary key. */
const pendingDestination = statement<DestinationRow, { readonly id: string; readonly now: Date }>(
  'pending-destination',
  `select client_id, redirect_uri, locale
     from oauth2_authorization_grants
    where id = :id::uuid and ${grantIsPending('oauth2_authorization_grants', ':now::timestamptz')}`,
);

/** What the page calls it: the name only of a client that the operator configured, since anyone may choose a name. */
export function destinationName({ client, redirectUri }: Destination, language: string): string {
  const name = client.isStatic ? clientName(client, language) : undefined;
  return name ?? redirectTarget(redirectUri);
}
