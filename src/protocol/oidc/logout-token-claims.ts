/** What a logout token says (OpenID Connect Back-Channel Logout 1.0, 2.4). */
export interface LogoutTokenFacts {
  readonly issuer: string;
  readonly clientId: string;
  readonly subject: string;
  /** Id of the OAuth session, as `sid` of its ID tokens. */
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Different for each token. */
  readonly id: string;
}

/** Kind of the token, so that it is never taken for an ID token, nor one for it. */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

const LIFETIME_SECONDS = 120;
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Without a `nonce`, which is forbidden. */
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
