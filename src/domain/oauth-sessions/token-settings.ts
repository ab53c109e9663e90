import type { Config } from '#config/config.ts';

/** What the operator decides about codes and tokens. */
export interface TokenSettings {
  readonly accessTokenTtlSeconds: number;
  /** Of access tokens for one resource server, by its identifier. */
  readonly resourceTokenTtlSeconds: ReadonlyMap<string, number>;
  readonly authorizationCodeTtlSeconds: number;
  /** How long a consumed refresh token is answered with its successor without further conditions. */
  readonly refreshGraceSeconds: number;
  /** Undefined: sessions have no absolute end. */
  readonly sessionMaxLifetimeSeconds: number | undefined;
}

export function tokenSettings({ experimental, oauth }: Config): TokenSettings {
  return {
    accessTokenTtlSeconds: experimental.accessTokenTtlSeconds,
    resourceTokenTtlSeconds: resourceTokenTtls(oauth.resources, experimental.accessTokenTtlSeconds),
    authorizationCodeTtlSeconds: oauth.authorizationCodeTtlSeconds,
    refreshGraceSeconds: oauth.refreshGraceSeconds,
    sessionMaxLifetimeSeconds: oauth.sessionMaxLifetimeSeconds,
  };
}

/** Nobody who checks a JWT alone learns that it was revoked, so it lives no longer than that unless it was decided. */
const MAX_DEFAULT_JWT_TTL_SECONDS = 300;

function resourceTokenTtls(
  resources: Config['oauth']['resources'],
  accessTokenTtlSeconds: number,
): ReadonlyMap<string, number> {
  const ttls = new Map<string, number>();
  for (const { identifier, resourceTokenTtlSeconds, tokenAlgorithm } of resources) {
    if (resourceTokenTtlSeconds !== undefined) ttls.set(identifier, resourceTokenTtlSeconds);
    else if (tokenAlgorithm !== undefined) {
      ttls.set(identifier, Math.min(accessTokenTtlSeconds, MAX_DEFAULT_JWT_TTL_SECONDS));
    }
  }
  return ttls;
}

/**
 * When an access token issued now ends: it never outlives its session. Milliseconds since the epoch.
 * @param resources that it is for; of several the shortest lifetime counts
 */
export function accessTokenExpiry(
  settings: TokenSettings,
  resources: readonly string[],
  sessionCreatedAt: number,
  now: number,
): number {
  const { accessTokenTtlSeconds, resourceTokenTtlSeconds } = settings;
  const ttls = resources.map((resource) => resourceTokenTtlSeconds.get(resource) ?? accessTokenTtlSeconds);
  const expiresAt = now + (ttls.length === 0 ? accessTokenTtlSeconds : Math.min(...ttls)) * 1000;
  return Math.min(expiresAt, sessionExpiry(settings, sessionCreatedAt));
}

/** When a session ends of age; infinite when the operator set no limit. Milliseconds since the epoch. */
export function sessionExpiry(
  settings: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  sessionCreatedAt: number,
): number {
  return settings.sessionMaxLifetimeSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : sessionCreatedAt + settings.sessionMaxLifetimeSeconds * 1000;
}
