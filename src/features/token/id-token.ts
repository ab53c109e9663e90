import type { Client } from '#domain/clients/client.ts';
import type { OAuth2SessionId, UserId } from '#platform/base/ids.ts';
import { idTokenClaims } from '#protocol/oidc/id-token-claims.ts';
import { type UserClaimName, type UserFacts, userClaims } from '#protocol/oidc/user-claims.ts';
import type { TokenDeps } from './deps.ts';

/** Whom an ID token is about and what goes out with it. Times in milliseconds since the epoch. */
export interface IdTokenSubject {
  readonly userId: UserId;
  readonly user: UserFacts;
  readonly sessionId: OAuth2SessionId;
  /** Of the access token that is issued with it. */
  readonly scope: readonly string[];
  /** Claims that the client asked for one by one. */
  readonly namedClaims: readonly UserClaimName[];
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly accessToken: string;
  /** Only in the answer to an authorization code. */
  readonly nonce?: string | undefined;
  readonly code?: string | undefined;
  readonly now: number;
}

/** The signed ID token; undefined when the scope has no `openid`. */
export async function signIdToken(
  deps: TokenDeps,
  client: Client,
  subject: IdTokenSubject,
): Promise<string | undefined> {
  const { scope } = subject;
  if (!scope.includes('openid')) return undefined;
  const algorithm = client.idTokenSignedResponseAlg;
  const claims = idTokenClaims({
    issuer: deps.config.http.issuer,
    clientId: client.id,
    subject: subject.userId,
    now: subject.now,
    lifetimeSeconds: deps.config.oauth.idTokenTtlSeconds,
    nonce: subject.nonce,
    authenticatedAt: subject.authenticatedAt,
    acr: subject.acr,
    amr: subject.amr,
    sessionId: subject.sessionId,
    accessToken: subject.accessToken,
    code: subject.code,
    userClaims: userClaims(subject.user, client.hasIdTokenClaims ? scope : [], subject.namedClaims),
    algorithm,
  });
  return await deps.signingKeys.signJwt(claims, { alg: algorithm });
}
