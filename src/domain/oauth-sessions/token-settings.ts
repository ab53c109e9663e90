import type { Config } from '#config/config.ts';

/** The operator's settings for codes and tokens. */
export interface TokenSettings {
  readonly accessTokenTtlSeconds: number;
  /** Lifetimes of access tokens by the identifier of their resource server. */
  readonly resourceTokenTtlSeconds: ReadonlyMap<string, number>;
  readonly authorizationCodeTtlSeconds: number;
  /** How long a consumed refresh token returns its successor without further conditions. */
  readonly refreshGraceSeconds: number;
  /** Undefined: sessions have no maximum lifetime. */
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

/** Resource servers that verify a JWT offline do not notice its revocation, so its default lifetime is short. */
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
 * Returns when an access token issued now expires, in milliseconds since the epoch. It never outlives its session.
 * @param resources its resource servers; the shortest lifetime applies
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

/** Returns when a session reaches its maximum lifetime, in milliseconds since the epoch; infinite without a limit. */
export function sessionExpiry(
  settings: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  sessionCreatedAt: number,
): number {
  return settings.sessionMaxLifetimeSeconds === undefined
    ? Number.POSITIVE_INFINITY
    : sessionCreatedAt + settings.sessionMaxLifetimeSeconds * 1000;
}

/** Returns the time at or before which sessions that have reached their maximum lifetime were created; null: no limit. */
export function endedOfAge(
  { sessionMaxLifetimeSeconds }: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  now: number,
): Date | null {
  return sessionMaxLifetimeSeconds === undefined ? null : new Date(now - sessionMaxLifetimeSeconds * 1000);
}
