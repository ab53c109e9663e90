/** Contents of a logout token (OpenID Connect Back-Channel Logout 1.0, 2.4). */
export interface LogoutTokenFacts {
  readonly issuer: string;
  readonly clientId: string;
  readonly subject: string;
  /** ID of the OAuth session, the `sid` of its ID tokens. */
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Unique for each token. */
  readonly id: string;
}

/** Type of the token, so that logout tokens and ID tokens are never confused. */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

const LIFETIME_SECONDS = 120;
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Has no `nonce`, which is forbidden. */
export function logoutTokenClaims(facts: LogoutTokenFacts): Readonly<Record<string, unknown>> {
  const issuedAt = Math.floor(facts.now / 1000);
  return {
    iss: facts.issuer,
    sub: facts.subject,
    aud: facts.clientId,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    jti: facts.id,
    sid: facts.sessionId,
    events: { [LOGOUT_EVENT]: {} },
  };
}
