import type { Config } from '#config/config.ts';

/** What the operator decides about codes and tokens. */
export interface TokenSettings {
  readonly accessTokenTtlSeconds: number;
  readonly authorizationCodeTtlSeconds: number;
  /** How long a consumed refresh token is answered with its successor without further conditions. */
  readonly refreshGraceSeconds: number;
  /** Undefined: sessions have no absolute end. */
  readonly sessionMaxLifetimeSeconds: number | undefined;
}

export function tokenSettings({ experimental, oauth }: Config): TokenSettings {
  return {
    accessTokenTtlSeconds: experimental.accessTokenTtlSeconds,
    authorizationCodeTtlSeconds: oauth.authorizationCodeTtlSeconds,
    refreshGraceSeconds: oauth.refreshGraceSeconds,
    sessionMaxLifetimeSeconds: oauth.sessionMaxLifetimeSeconds,
  };
}

/** When an access token issued now ends: it never outlives its session. Milliseconds since the epoch. */
export function accessTokenExpiry(settings: TokenSettings, sessionCreatedAt: number, now: number): number {
  const expiresAt = now + settings.accessTokenTtlSeconds * 1000;
  return Math.min(expiresAt, sessionExpiry(settings, sessionCreatedAt));
}

/** When a session ends of age; infinite when the operator set no limit. Milliseconds since the epoch. */
export function sessionExpiry(settings: TokenSettings, sessionCreatedAt: number): number {
  return settings.sessionMaxLifetimeSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : sessionCreatedAt + settings.sessionMaxLifetimeSeconds * 1000;
}
