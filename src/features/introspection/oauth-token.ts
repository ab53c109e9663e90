import type { Core } from '#domain/core.ts';
import { type ActorClaim, actorClaim } from '#domain/oauth-sessions/actor.ts';
import { introspectToken, type LiveToken } from '#domain/oauth-sessions/introspect.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import type { Database } from '#platform/postgres/database.ts';
import {
  type Caller,
  INACTIVE,
  type Introspection,
  type IntrospectionDeps,
  type PresentedToken,
} from './token-source.ts';

/** Introspects a token of an OAuth client. */
export async function introspectOAuth(
  deps: IntrospectionDeps,
  database: Database,
  { kind, tokenHash, isJwt }: PresentedToken,
  { client, maySee }: Caller,
): Promise<Introspection | 'client-changed'> {
  const { settings, adminRights: rights } = deps;
  const now = deps.clock.now();
  const live = await introspectToken(database, { kind, tokenHash, client, maySee, settings, rights, now });
  if (live === 'client-changed') return live;
  if (live === undefined) return INACTIVE;
  deps.activity.recordOAuth2Session(live.sessionId, now, undefined);
  const body = activeResponse(live, deps, client?.sector, now);
  // The `jti` matches the JWT's, for resource servers that keep a list of them.
  const jti = isJwt ? tokenHash.toString('base64url') : body.jti;
  return { body: { ...body, jti }, owner: live.clientId };
}

/** An active response (RFC 7662 2.2). Undefined members are omitted from the JSON. */
interface ActiveResponse {
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
function activeResponse(
  token: LiveToken,
  { subjects, config, scopeRules }: Pick<Core, 'config' | 'scopeRules' | 'subjects'>,
  sector: string | undefined,
  now: number,
): ActiveResponse {
  const { user } = token;
  // A client with pairwise subjects gets no other global identifier of the user, unless the scope grants it.
  const mayNameUser = sector === undefined || token.scope.includes('profile');
  const issuedAt = epochSeconds(token.createdAt);
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
    exp: token.expiresAt === undefined ? undefined : epochSeconds(token.expiresAt),
    expires_in: token.expiresAt === undefined ? undefined : epochSeconds(token.expiresAt - now),
    jti: token.id,
    iss: config.http.issuer,
    aud: audience(token),
    device_id: scopeRules.deviceIdOf(token.scope),
    auth_time: token.authenticatedAt === undefined ? undefined : epochSeconds(token.authenticatedAt),
    acr: token.acr,
    act: token.actor && actorClaim(token.actor, (user) => subjects.of(user, sector)),
  };
}

/** A refresh token has no audience: only this service accepts it. */
function audience(token: LiveToken): readonly string[] | undefined {
  if (token.kind === 'refresh-token') return undefined;
  return token.resources.length === 0 ? [token.clientIdentifier] : token.resources;
}
