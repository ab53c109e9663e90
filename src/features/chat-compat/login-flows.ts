import type { Core } from '#domain/core.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { type LoginRules, PASSWORD_LOGIN, TOKEN_LOGIN } from './login-request.ts';

/** Brands that clients have a button for (client-server specification, "Authentication via SSO"). */
const KNOWN_BRANDS = new Set(['apple', 'facebook', 'github', 'gitlab', 'google', 'twitter']);

/** `GET login`: the available login types (chat-compat 4). Clients that support OpenID Connect do not need them. */
export function loginFlows({ config, upstream }: Core, { isPasswordAllowed }: LoginRules): HttpResponse {
  const { actionPrefix } = chatNames(config.protocolName);
  const advertised = config.compat.advertisesUpstreamProviders ? upstream.providers.enabled : [];
  const sso = {
    type: 'm.login.sso',
    oauth_aware_preferred: true,
    [`${actionPrefix}msc3824.delegated_oidc_compatibility`]: true,
    ...(advertised.length > 0 && { identity_providers: advertised.map(identityProvider) }),
  };
  const password = isPasswordAllowed ? [{ type: PASSWORD_LOGIN }] : [];
  return json(200, { flows: [...password, sso, { type: TOKEN_LOGIN }] });
}

function identityProvider(provider: UpstreamProvider): Readonly<Record<string, string>> {
  const { id, brandName } = provider;
  const isKnown = brandName !== undefined && KNOWN_BRANDS.has(brandName);
  return { id, name: provider.name, ...(isKnown && { brand: brandName }) };
}
