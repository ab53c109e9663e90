/**
 * A client's request to sign a user out (OpenID Connect RP-Initiated Logout 1.0), after it was checked. It is sealed
 * for its way through the browser: in the URL of a posted request, and in the form that asks the user.
 */
import type { Client } from '#domain/clients/client.ts';
import type { ClientDirectory } from '#domain/clients/client-directory.ts';
import { parseId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { querySeparator } from '#protocol/oauth/authorization-response.ts';
import { redirectUriMatches } from '#protocol/oauth/redirect-uris.ts';
import type { ClientId, OAuth2SessionId } from '#vocabulary/ids.ts';

export interface LogoutRequest {
  /** Undefined if the request did not name a client. `redirectUri` is then undefined too. */
  readonly clientId: ClientId | undefined;
  /** A URI that the client has registered. Undefined if the user stays here. */
  readonly redirectUri: string | undefined;
  /** Returned unchanged. */
  readonly state: string | undefined;
  /** The OAuth session that the hint was issued in. */
  readonly oauthSessionId: OAuth2SessionId | undefined;
}

/** `posted`: in the query of the URL that a posted request redirects to. `confirmation`: in the form for the user. */
export type SealedFor = 'posted' | 'confirmation';

/** The field of `POST /logout` with the request that the user confirms. */
export const LOGOUT_REQUEST_FIELD = 'logout_request';

/** Cannot occur in a parameter. It is one byte, which keeps the URL short. */
const SEPARATOR = '\0';

/** @param now milliseconds since the epoch */
export function sealLogoutRequest(keys: KeyRing, use: SealedFor, request: LogoutRequest, now: number): string {
  const { clientId, oauthSessionId, redirectUri, state } = request;
  const text = [String(now), clientId, oauthSessionId, redirectUri, state].map((part) => part ?? '').join(SEPARATOR);
  return keys.seal(label(use), text).toString('base64url');
}

/** Returns undefined if the text was not sealed here for this use. */
export function openLogoutRequest(
  keys: KeyRing,
  use: SealedFor,
  text: string,
): { readonly request: LogoutRequest; readonly sealedAt: number } | undefined {
  const opened = keys.open(label(use), Buffer.from(text, 'base64url'));
  if (opened === undefined) return undefined;
  const [sealedAt, clientId = '', sessionId = '', redirectUri = '', state = ''] = opened.toString().split(SEPARATOR);
  const request = {
    clientId: parseId<'client'>(clientId),
    oauthSessionId: parseId<'oauth2-session'>(sessionId),
    redirectUri: redirectUri === '' ? undefined : redirectUri,
    state: state === '' ? undefined : state,
  };
  return { request, sealedAt: Number(sealedAt) };
}

function label(use: SealedFor): string {
  return `logout-request-${use}`;
}

/**
 * Returns where the browser goes after sign-out: the client's URI with `state`. Undefined if there is none, or if the
 * client no longer has it.
 */
export async function postLogoutLocation(
  clients: ClientDirectory,
  { clientId, redirectUri, state }: LogoutRequest,
): Promise<string | undefined> {
  if (clientId === undefined || redirectUri === undefined) return undefined;
  const client = await clients.find(clientId);
  if (client === undefined || !mayRedirectAfterLogout(client, redirectUri)) return undefined;
  if (state === undefined) return redirectUri;
  return `${redirectUri}${querySeparator(redirectUri)}state=${encodeURIComponent(state)}`;
}

/** Tests whether the client has registered the URI for this, by the rules of redirect URIs (oauth 4.4). */
export function mayRedirectAfterLogout(client: Client, uri: string): boolean {
  const owner = { redirectUris: client.postLogoutRedirectUris, isPublic: client.authMethod === 'none' };
  return redirectUriMatches(owner, uri);
}
