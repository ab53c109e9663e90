import type { Config } from '#config/config.ts';
import { DEVICE_CODE_GRANT_TYPE, type GrantType, TOKEN_EXCHANGE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';

/** Conditions of grant types that not every configuration offers. */
const CONDITIONS: Readonly<Partial<Record<GrantType, (config: Config) => boolean>>> = {
  [DEVICE_CODE_GRANT_TYPE]: ({ oauth }) => oauth.deviceCodeGrantEnabled,
  [TOKEN_EXCHANGE_GRANT_TYPE]: ({ clients }) => clients.some(({ tokenExchange }) => tokenExchange !== undefined),
};

/** Returns those of the grant types that this service offers. */
export function offeredGrantTypes<Type extends GrantType>(config: Config, types: readonly Type[]): Type[] {
  return types.filter((type) => CONDITIONS[type]?.(config) ?? true);
}
