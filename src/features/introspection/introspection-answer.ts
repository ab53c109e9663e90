import type { LiveToken } from '#domain/tokens/introspect.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';

/** The members of an active answer (RFC 7662 2.2). What is undefined is left out when it is written as JSON. */
export interface IntrospectionAnswer {
  readonly active: true;
  readonly scope: string | undefined;
  readonly client_id: string;
  readonly username: string | undefined;
  readonly sub: string | undefined;
  /** `access_token` or `refresh_token`, as the homeservers' other peer says it; RFC 7662 would have `Bearer`. */
  readonly token_type: 'access_token' | 'refresh_token';
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number | undefined;
  /** An integer: a fraction makes homeservers answer every request of that user with 503. */
  readonly expires_in: number | undefined;
  readonly jti: string;
  readonly iss: string;
  readonly aud: readonly string[] | undefined;
  readonly device_id: string | undefined;
  readonly auth_time: number | undefined;
  readonly acr: string | undefined;
}

/** @param now milliseconds since the epoch */
export function introspectionAnswer(
  token: LiveToken,
  issuer: string,
  rules: ScopeRules,
  now: number,
): IntrospectionAnswer {
  const issuedAt = seconds(token.createdAt);
  return {
    active: true,
    scope: token.scope.length === 0 ? undefined : rules.normaliseForIntrospection(token.scope).join(' '),
    client_id: token.clientId,
    username: token.user?.username,
    sub: token.user?.id,
    token_type: token.kind === 'access-token' ? 'access_token' : 'refresh_token',
    iat: issuedAt,
    nbf: issuedAt,
    exp: token.expiresAt === undefined ? undefined : seconds(token.expiresAt),
    expires_in: token.expiresAt === undefined ? undefined : seconds(token.expiresAt - now),
    jti: token.id,
    iss: issuer,
    aud: token.kind === 'refresh-token' || token.resources.length === 0 ? undefined : token.resources,
    device_id: token.deviceId,
    auth_time: token.authenticatedAt === undefined ? undefined : seconds(token.authenticatedAt),
    acr: token.acr,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
