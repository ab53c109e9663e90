import type { Config } from '#config/config.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { sha256 } from '#platform/base/secret.ts';
import { ACCESS_TOKEN_JWT_TYPE, storedHashOf } from '#protocol/oauth/access-token-jwt.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';

interface HashDeps {
  readonly config: Config;
  readonly signingKeys: SigningKeys;
}

/** Returns the stored hash of a presented access token. Accepts opaque tokens and JWTs signed by this service. */
export function accessTokenHash(deps: HashDeps, token: string): Buffer | undefined {
  return parseToken(token)?.prefix === 'mat' ? sha256(token) : jwtAccessTokenHash(deps, token);
}

/**
 * Like `accessTokenHash`, for JWTs only. Does not check expiry, which is stored in the token's row. Rejects ID tokens
 * by their type (RFC 8725 3.11).
 */
export function jwtAccessTokenHash({ config, signingKeys }: HashDeps, token: string): Buffer | undefined {
  const claims = signingKeys.verifyJwt(token, ACCESS_TOKEN_JWT_TYPE);
  return claims === undefined ? undefined : storedHashOf(claims, config.http.issuer);
}
