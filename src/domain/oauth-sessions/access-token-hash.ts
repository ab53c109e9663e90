import type { Config } from '#config/config.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { sha256 } from '#platform/base/secret.ts';
import { ACCESS_TOKEN_JWT_TYPE, storedHashOf } from '#protocol/oauth/access-token-jwt.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';

interface HashDeps {
  readonly config: Config;
  readonly signingKeys: SigningKeys;
}

/** Under which hash a presented access token is stored: an opaque one, or a JWT that was signed here. */
export function accessTokenHash(deps: HashDeps, token: string): Buffer | undefined {
  return parseToken(token)?.prefix === 'mat' ? sha256(token) : jwtAccessTokenHash(deps, token);
}

/** Of a JWT alone. Whether it has expired is for its row to say. ID tokens are of another type (RFC 8725 3.11). */
export function jwtAccessTokenHash({ config, signingKeys }: HashDeps, token: string): Buffer | undefined {
  const claims = signingKeys.verifyJwt(token, ACCESS_TOKEN_JWT_TYPE);
  return claims === undefined ? undefined : storedHashOf(claims, config.http.issuer);
}
