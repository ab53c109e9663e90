import type { Client } from '#domain/clients/client.ts';
import type { ClientDirectory } from '#domain/clients/client-directory.ts';
import { clientName, redirectTarget } from '#domain/clients/client-name.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import { pendingDestination } from './lookups.ts';

export interface DestinationDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly clients: ClientDirectory;
}

/** The client that a person who signs in or registers is on the way to. */
export interface Destination {
  readonly client: Client;
  readonly redirectUri: string;
  readonly uiLocales: string | undefined;
}

/**
 * Where a continuation leads in the end: one look-up for an authorization grant (the client is cached), none else.
 * Undefined when the grant waits no more; its own address then says why.
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

/** What the page calls it: the name only of a client that the operator configured, since anyone may choose a name. */
export function destinationName({ client, redirectUri }: Destination, language: string): string {
  const name = client.isStatic ? clientName(client, language) : undefined;
  return name ?? redirectTarget(redirectUri);
}
