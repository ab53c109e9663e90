import type { Config } from '#config/config.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface HintDeps {
  readonly signingKeys: SigningKeys;
  readonly config: Config;
}

/** The contents of an ID token that was issued here, however old. */
export interface IdTokenHint {
  /** The client that it was issued to, as text. */
  readonly audience: string;
  readonly subject: string;
  /** The OAuth session that it was issued for, as text. */
  readonly sessionId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Reads an `id_token_hint`: an ID token that was issued here and signed by a published key. It may be expired. Other
 * JWTs signed by these keys lack one of the claims that every ID token has.
 * @see OpenID Connect Core 1.0 3.1.2.1, RP-Initiated Logout 1.0 2, RFC 8725 3.12
 */
export function readIdTokenHint({ signingKeys, config }: HintDeps, hint: string): IdTokenHint | undefined {
  const claims = signingKeys.verifyJwt(hint);
  if (claims === undefined || claims['iss'] !== config.http.issuer) return undefined;
  const { aud, sub, sid, iat, exp } = claims;
  if (typeof aud !== 'string' || typeof sub !== 'string') return undefined;
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined;
  return { audience: aud, subject: sub, sessionId: typeof sid === 'string' ? sid : undefined, expiresAt: exp * 1000 };
}
