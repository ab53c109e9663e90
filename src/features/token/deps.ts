import type { Core } from '#domain/core.ts';
import { type TokenSettings, tokenSettings } from '#domain/oauth-sessions/token-settings.ts';

/** Core, with what the grants of the token endpoint go by. */
export interface TokenDeps extends Core {
  readonly settings: TokenSettings;
  /** `KeyRing.deriveAll('refresh-rotation')`. */
  readonly rotationKeys: readonly Buffer[];
}

export function tokenDeps(core: Core): TokenDeps {
  return {
    ...core,
    settings: tokenSettings(core.config),
    rotationKeys: core.keyRing.deriveAll('refresh-rotation'),
  };
}
