import type { Core } from '#domain/core.ts';
import { type ActorClaim, actorClaim } from '#domain/oauth-sessions/actor.ts';
import type { LiveToken } from '#domain/oauth-sessions/introspect.ts';

/** An active response (RFC 7662 2.2). Undefined members are omitted from the JSON. */
export interface IntrospectionResponse {
  readonly active: true;
  readonly scope: string | undefined;
  readonly client_id: string;
  readonly username: string | undefined;
  /** The user, or the client if the token is its own. */
  readonly sub: string;
  /** RFC 7662 2.2: for access tokens the type of RFC 6749 7.1, which resource servers compare. */
  readonly token_type: 'Bearer' | 'DPoP' | 'refresh_token';
  /** The key that the token is bound to. Resource servers compare it with the proof's key (RFC 9449 6.2). */
  readonly cnf: { readonly jkt: string } | undefined;
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number | undefined;
  /** Must be an integer: with a fraction, homeservers answer every request of that user with 503. */
  readonly expires_in: number | undefined;
  readonly jti: string;
  readonly iss: string;
  /** The resources that the token was issued for, or else the client. */
  readonly aud: readonly string[] | undefined;
  readonly device_id: string | undefined;
  readonly auth_time: number | undefined;
  readonly acr: string | undefined;
  /** Who acts on behalf of the user (RFC 8693 4.1). */
  readonly act: ActorClaim | undefined;
}

/**
 * @param sector sector of the calling client
 * @param now milliseconds since the epoch
 */
export function introspectionResponse(
  token: LiveToken,
  { subjects, config, scopeRules }: Pick<Core, 'config' | 'scopeRules' | 'subjects'>,
  sector: string | undefined,
  now: number,
): IntrospectionResponse {
  const { user } = token;
  // A client with pairwise subjects gets no other global identifier of the user, unless the scope grants it.
  const mayNameUser = sector === undefined || token.scope.includes('profile');
  const issuedAt = seconds(token.createdAt);
  return {
    active: true,
    scope: token.scope.length === 0 ? undefined : scopeRules.normalizeForIntrospection(token.scope).join(' '),
    client_id: token.clientIdentifier,
    username: mayNameUser ? user?.username : undefined,
    sub: user === undefined ? token.clientIdentifier : subjects.of(user.id, sector),
    token_type: token.kind === 'refresh-token' ? 'refresh_token' : token.key === undefined ? 'Bearer' : 'DPoP',
    cnf: token.key === undefined ? undefined : { jkt: token.key },
    iat: issuedAt,
    nbf: issuedAt,
    exp: token.expiresAt === undefined ? undefined : seconds(token.expiresAt),
    expires_in: token.expiresAt === undefined ? undefined : seconds(token.expiresAt - now),
    jti: token.id,
    iss: config.http.issuer,
    aud: audience(token),
    device_id: scopeRules.deviceIdOf(token.scope),
    auth_time: token.authenticatedAt === undefined ? undefined : seconds(token.authenticatedAt),
    acr: token.acr,
    act: token.actor && actorClaim(token.actor, (user) => subjects.of(user, sector)),
  };
}

/** A refresh token has no audience: only this service accepts it. */
function audience(token: LiveToken): readonly string[] | undefined {
  if (token.kind === 'refresh-token') return undefined;
  return token.resources.length === 0 ? [token.clientIdentifier] : token.resources;
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
