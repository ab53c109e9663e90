import { userFacts } from '#domain/accounts/user-facts.ts';
import type { UserOfTokenRow } from '#domain/oauth-sessions/use-access-token.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import { type UserClaims, userClaims } from '#protocol/oidc/user-claims.ts';

/** OpenID Connect Core 1.0 5.3.2. */
export interface UserinfoClaims extends UserClaims {
  readonly sub: string;
  readonly username: string;
}

export function userinfoClaims(row: UserOfTokenRow): UserinfoClaims {
  return {
    sub: fromUuid(row.user_id),
    username: row.username,
    ...userClaims(userFacts(row), row.scope, claimsFromJson(row.claims).userinfo),
  };
}
