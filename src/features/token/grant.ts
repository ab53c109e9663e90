/** What the grant types of the token endpoint share: their type, dependencies, ID token and response. */
import type { RedemptionRules } from '#domain/authorizations/approved-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { type Actor, actorClaim } from '#domain/oauth-sessions/actor.ts';
import type { TokenTarget } from '#domain/oauth-sessions/open-session.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { type TokenSettings, tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { refusedResources } from '#oauth-endpoint/oauth-form.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import type { Database } from '#platform/postgres/database.ts';
import { ACCESS_TOKEN_JWT_TYPE, accessTokenClaims } from '#protocol/oauth/access-token-jwt.ts';
import { NO_EXTRA_CLAIMS } from '#protocol/oidc/extra-claims.ts';
import { idTokenClaims } from '#protocol/oidc/id-token-claims.ts';
import { claimsOfUser, fittingClaims, type UserClaimName, type UserFacts } from '#protocol/oidc/user-claims.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import type { GRANT_TYPE_LABELS } from '#vocabulary/metric-labels.ts';

/** A grant type at the token endpoint. */
export interface Grant {
  /** Its parameters that must not be repeated (RFC 6749 3.2), without the client's credentials. */
  readonly parameters: readonly string[];
  /** Its name in metrics. */
  readonly label: GrantTypeLabel;
  /** Handles a request of an authenticated client. */
  readonly answer: (
    deps: TokenDeps,
    context: RequestContext,
    form: FormParameters,
    client: Client,
    proofKey: ProofKey | undefined,
  ) => Promise<HttpResponse | 'client-changed'>;
}

export type GrantTypeLabel = (typeof GRANT_TYPE_LABELS)[number];

/** Core, and what it derives for the grant types. */
export interface TokenDeps extends Omit<Core, 'database'> {
  /** The database that this request's statements use. */
  readonly database: Database;
  readonly settings: TokenSettings;
  readonly redemptionRules: RedemptionRules<{ readonly username: string; readonly can_request_admin: boolean }>;
}

export function tokenDeps(core: Core): TokenDeps {
  const { adminRights, config, scopeRules } = core;
  const redemptionRules = {
    isAdminScope: (scope: string) => scopeRules.isAdmin(scope),
    mayRequestAdmin: (user: Parameters<typeof adminRights.mayUserAdminister>[0]) => adminRights.mayUserAdminister(user),
  };
  return { ...core, settings: tokenSettings(config), redemptionRules };
}

/**
 * Returns the target of a grant's first access token: the part of the granted scope that the resources understand (RFC
 * 8707 2.2). If nothing remains, no token is issued, because a response cannot express an empty scope (RFC 6749 3.3,
 * 5.1).
 * @param asked resources named in the token request; if empty, all granted resources
 */
export function tokenTarget(
  deps: TokenDeps,
  client: Client,
  granted: { readonly scope: readonly string[]; readonly resources: readonly string[] },
  requested: readonly string[],
  key: string | undefined,
): TokenTarget {
  const resources = requested.length === 0 ? granted.resources : requested;
  if (deps.resourceRules.formatOf(resources) === 'mixed') {
    throw refusedResources(deps, client, resources, MIXED_FORMATS);
  }
  const scope = deps.resourceRules.scopeAt(resources, granted.scope);
  if (scope.length === 0 && granted.scope.length > 0) {
    throw refusedResources(deps, client, resources, 'None of the granted scopes applies to this resource.');
  }
  return { resources, scope, key };
}

/** A token is either opaque or signed with one algorithm, no matter how many resource servers it is for. */
export const NO_ACCESS = 'The user is not in a group that may use this client.';

export const MIXED_FORMATS =
  'These resources require access tokens of different formats: request a separate token for each resource.';

/** An access token that is stored, or about to be. Times in milliseconds since the epoch. */
interface IssuedToken {
  /** The text whose hash is stored. */
  readonly text: string;
  /** Undefined for a client's own token. */
  readonly userId: UserId | undefined;
  readonly target: TokenTarget;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  readonly groups: readonly string[];
  readonly actor?: Actor | undefined;
}

/** Returns what the client gets: the token itself, or a signed JWT if the resource servers verify tokens themselves. */
export async function issuedAccessToken(deps: TokenDeps, client: Client, token: IssuedToken): Promise<string> {
  const { target, userId, actor } = token;
  const format = deps.resourceRules.formatOf(target.resources);
  if (format === 'mixed' || format.algorithm === undefined) return token.text;
  const subjectOf = (user: UserId) => deps.subjects.of(user, client.sector);
  const claims = accessTokenClaims({
    issuer: deps.config.http.issuer,
    storedHash: sha256(token.text),
    subject: userId === undefined ? client.identifier : subjectOf(userId),
    clientId: client.identifier,
    resources: target.resources,
    scope: target.scope,
    issuedAt: token.issuedAt,
    expiresAt: token.expiresAt,
    authenticatedAt: token.authenticatedAt,
    acr: token.acr,
    groups: target.scope.includes('groups') ? token.groups : undefined,
    key: target.key,
    actor: actor && actorClaim(actor, subjectOf),
  });
  return await deps.signingKeys.signJwt(claims, { alg: format.algorithm, typ: ACCESS_TOKEN_JWT_TYPE });
}

export interface TokenResponse {
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly now: number;
  readonly scope: readonly string[];
  /** Thumbprint of the key that the access token is bound to. */
  readonly key: string | undefined;
  readonly refreshToken?: string | undefined;
  /** RFC 8693 2.2.1. */
  readonly issuedTokenType?: string;
  readonly idToken?: string | undefined;
}

/** @see RFC 6749 5.1 */
export function tokenResponse(response: TokenResponse): HttpResponse {
  return json(
    200,
    {
      access_token: response.accessToken,
      ...(response.issuedTokenType === undefined ? {} : { issued_token_type: response.issuedTokenType }),
      token_type: response.key === undefined ? 'Bearer' : 'DPoP',
      expires_in: Math.max(0, Math.floor((response.expiresAt - response.now) / 1000)),
      ...(response.refreshToken === undefined ? {} : { refresh_token: response.refreshToken }),
      ...(response.scope.length === 0 ? {} : { scope: response.scope.join(' ') }),
      ...(response.idToken === undefined ? {} : { id_token: response.idToken }),
    },
    { pragma: 'no-cache' },
  );
}

/** The subject of an ID token, and what is issued with it. Times in milliseconds since the epoch. */
export interface IdTokenSubject {
  readonly userId: UserId;
  readonly user: UserFacts;
  readonly sessionId: OAuth2SessionId;
  /** Scope of the access token that is issued with it. */
  readonly scope: readonly string[];
  /** Claims that the client requested individually. */
  readonly namedClaims: readonly UserClaimName[];
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly accessToken: string;
  /** Only in the response to an authorization code. */
  readonly nonce?: string | undefined;
  readonly code?: string | undefined;
  readonly now: number;
}

/** Returns the signed ID token, or undefined if the scope lacks `openid`. */
export async function signIdToken(
  deps: TokenDeps,
  client: Client,
  subject: IdTokenSubject,
): Promise<string | undefined> {
  const { scope } = subject;
  if (!scope.includes('openid')) return undefined;
  const algorithm = client.idTokenSignedResponseAlg;
  const [shown, ofClient] = client.hasIdTokenClaims ? [scope, client.claims] : [[], NO_EXTRA_CLAIMS];
  const fitting = fittingClaims(claimsOfUser(subject.user, shown, subject.namedClaims, ofClient));
  if (fitting.leftOut.length > 0) {
    deps.log.warn(
      'id_token.claims_left_out',
      'claims omitted from an ID token that would be too large; userinfo includes them',
      {
        client: client.identifier,
        user: subject.userId,
        left_out: fitting.leftOut.join(' '),
      },
    );
  }
  const claims = idTokenClaims({
    issuer: deps.config.http.issuer,
    clientId: client.identifier,
    subject: deps.subjects.of(subject.userId, client.sector),
    now: subject.now,
    lifetimeSeconds: deps.config.oauth.idTokenTtlSeconds,
    nonce: subject.nonce,
    authenticatedAt: subject.authenticatedAt,
    acr: subject.acr,
    amr: subject.amr,
    sessionId: subject.sessionId,
    accessToken: subject.accessToken,
    code: subject.code,
    personClaims: fitting.claims,
    algorithm,
  });
  return await deps.signingKeys.signJwt(claims, { alg: algorithm });
}
