import type { Client } from '#domain/clients/client.ts';
import { clientName } from '#domain/clients/client.ts';
import type { ClientDirectory } from '#domain/clients/client-directory.ts';
import { deviceCodeGrantIsPending, grantIsPending } from '#domain/records/liveness/authorizations.ts';
import { ssoLoginIsPending } from '#domain/records/liveness/compat-sessions.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { ssoTarget } from '#protocol/chat/sso-redirect.ts';
import { clientIdHost } from '#protocol/oauth/client-id-url.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';

export interface DestinationDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly clients: ClientDirectory;
}

/** The client that a user returns to after signing in or registering. */
export interface Destination {
  /** Undefined: a chat client that uses a different protocol. Only its URL is known. */
  readonly client: Client | undefined;
  /** Undefined: a device is waiting, and the browser is not redirected. */
  readonly redirectUri: string | undefined;
  readonly uiLocales: string | undefined;
}

/**
 * Returns the client that an action continues to. Takes one query for an authorization grant, a device (the client is
 * cached) and the single sign-on of a chat client; no query for other actions. Returns undefined if the grant is no
 * longer pending; its own page explains why.
 */
export async function findDestination(
  deps: DestinationDeps,
  action: PostAuthAction | undefined,
): Promise<Destination | undefined> {
  const query = queryOf(action);
  if (query === undefined) return undefined;
  const row = await deps.database.first(query.find, { id: toUuid(query.id), now: new Date(deps.clock.now()) });
  if (row === undefined) return undefined;
  const client = row.client_id === null ? undefined : await deps.clients.find(fromUuid<'client'>(row.client_id));
  if (client === undefined && row.client_id !== null) return undefined;
  return { client, redirectUri: row.redirect_uri ?? undefined, uiLocales: row.locale ?? undefined };
}

function queryOf(action: PostAuthAction | undefined) {
  switch (action?.kind) {
    case 'continue_authorization_grant':
      return { find: pendingDestination, id: action.id };
    case 'continue_device_code_grant':
      return { find: pendingDevice, id: action.id };
    case 'continue_compat_sso_login':
      return { find: pendingSsoLogin, id: action.id };
    default:
      return undefined;
  }
}

interface DestinationRow {
  readonly client_id: string | null;
  readonly redirect_uri: string | null;
  /** `ui_locales` of the request. */
  readonly locale: string | null;
}

/** Finds the authorization request that waits for sign-in, by primary key. */
const pendingDestination = statement<DestinationRow, { readonly id: string; readonly now: Date }>(
  'pending-destination',
  `select client_id, redirect_uri, locale
     from oauth2_authorization_grants
    where id = :id::uuid and ${grantIsPending('oauth2_authorization_grants', ':now::timestamptz')}`,
);

/** Like `pendingDestination`, for a device. */
const pendingDevice = statement<DestinationRow, { readonly id: string; readonly now: Date }>(
  'pending-device',
  `select client_id, null::text as redirect_uri, null::text as locale
     from oauth2_device_code_grants
    where id = :id::uuid and ${deviceCodeGrantIsPending('oauth2_device_code_grants', ':now::timestamptz')}`,
);

/** Like `pendingDestination`, for a chat client. */
const pendingSsoLogin = statement<DestinationRow, { readonly id: string; readonly now: Date }>(
  'pending-compat-sso-login',
  `select null::uuid as client_id, redirect_uri, null::text as locale
     from compat_sso_logins
    where id = :id::uuid and ${ssoLoginIsPending('compat_sso_logins', ':now::timestamptz')}`,
);

/**
 * Returns the client name for pages. Only the names of static clients are shown, because anyone can choose a name;
 * other clients are shown by their host. Returns undefined for a device whose client does not even have a home page.
 */
export function destinationName({ client, redirectUri }: Destination, language: string): string | undefined {
  if (client === undefined) return redirectUri === undefined ? undefined : ssoTarget(redirectUri).name;
  if (client.document !== undefined) return clientIdHost(client.document.url);
  const name = client.isVouchedFor ? clientName(client, language) : undefined;
  const address = redirectUri ?? client.clientUri;
  return name ?? (address === undefined ? undefined : redirectTarget(address));
}

/**
 * Returns the additional sources for `form-action`: the final redirect target of the form. For a chat client, a
 * confirmation page always comes first.
 */
export function destinationFormActions(destination: Destination | undefined): readonly string[] {
  if (destination?.client === undefined || destination.redirectUri === undefined) return [];
  return [destination.redirectUri];
}
