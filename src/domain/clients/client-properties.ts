import type { StaticClientConfig } from '#config/sections/clients.ts';
import { RESPONSE_TYPES } from '#protocol/oauth/client-metadata.ts';
import type { Localized } from '#protocol/oauth/metadata-members.ts';
import { canonicalJson } from './canonical-json.ts';
import type { ClientMetadata } from './client.ts';

/** Converts the properties of a configured or managed client to the stored metadata, without its groups. */
export function metadataOf(configured: StaticClientConfig): ClientMetadata {
  return {
    token_endpoint_auth_method: configured.clientAuthMethod,
    redirect_uris: configured.redirectUris,
    grant_types: configured.grantTypes,
    response_types: configured.grantTypes.includes('authorization_code') ? RESPONSE_TYPES : [],
    subject_type: configured.subjectType,
    id_token_signed_response_alg: configured.idTokenSignedResponseAlg,
    introspection_signed_response_alg: configured.introspectionSignedResponseAlg,
    authorization_signed_response_alg: configured.authorizationSignedResponseAlg,
    require_auth_time: configured.requireAuthTime,
    first_party: configured.firstParty,
    id_token_claims: configured.idTokenClaims,
    strict_auth_method: configured.strictAuthMethod,
    ...(configured.claims !== undefined && { claims: configured.claims }),
    ...(configured.tokenExchange !== undefined && { token_exchange: configured.tokenExchange }),
    ...(configured.applicationType !== undefined && { application_type: configured.applicationType }),
    ...(configured.profile !== undefined && { profile: configured.profile }),
    ...(configured.dpopBoundAccessTokens ? { dpop_bound_access_tokens: true } : {}),
    ...(configured.userinfoSignedResponseAlg === undefined
      ? {}
      : { userinfo_signed_response_alg: configured.userinfoSignedResponseAlg }),
    ...(configured.sectorIdentifierUri === undefined ? {} : { sector_identifier_uri: configured.sectorIdentifierUri }),
    ...(configured.jwks === undefined ? {} : { jwks: configured.jwks }),
    ...(configured.jwksUri === undefined ? {} : { jwks_uri: configured.jwksUri }),
    ...(configured.tokenEndpointAuthSigningAlg === undefined
      ? {}
      : { token_endpoint_auth_signing_alg: configured.tokenEndpointAuthSigningAlg }),
    ...untagged('client_name', configured.clientName),
    ...untagged('client_uri', configured.clientUri),
    ...untagged('logo_uri', configured.logoUri),
    ...untagged('policy_uri', configured.policyUri),
    ...untagged('tos_uri', configured.tosUri),
    ...(configured.postLogoutRedirectUris.length === 0
      ? {}
      : { post_logout_redirect_uris: configured.postLogoutRedirectUris }),
    ...(configured.backchannelLogoutUri === undefined
      ? {}
      : { backchannel_logout_uri: configured.backchannelLogoutUri }),
    ...(configured.scope === undefined ? {} : { scope: configured.scope.join(' ') }),
    ...(configured.requirePushedAuthorizationRequests && { require_pushed_authorization_requests: true }),
    ...(configured.requireSignedRequestObject && { require_signed_request_object: true }),
    ...(configured.requestObjectSigningAlg !== undefined && {
      request_object_signing_alg: configured.requestObjectSigningAlg,
    }),
    ...(configured.defaultAcrValues.length > 0 && { default_acr_values: configured.defaultAcrValues }),
    ...(configured.backchannelLogoutSessionRequired && { backchannel_logout_session_required: true }),
    ...(configured.defaultMaxAgeSeconds === undefined ? {} : { default_max_age: configured.defaultMaxAgeSeconds }),
  };
}

function untagged<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, Localized>> {
  const field: Partial<Record<Name, Localized>> = {};
  if (value !== undefined) field[name] = { '': value };
  return field;
}

/** A client in the notation of `clients[]` in the configuration, without ID and secret. */
export type ClientProperties = Readonly<Record<string, unknown>>;

const LOCALIZED = ['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri'] as const;

/** Reverses `metadataOf`. Of localized texts, it returns those without a language tag. */
export function propertiesOf(metadata: ClientMetadata): ClientProperties {
  // The response types follow from the grant types.
  const { token_endpoint_auth_method, response_types: _, ...others } = metadata;
  const properties: Record<string, unknown> = { client_auth_method: token_endpoint_auth_method, ...others };
  for (const name of LOCALIZED) {
    const text = metadata[name]?.[''];
    if (text === undefined) delete properties[name];
    else properties[name] = text;
  }
  return properties;
}

/** Returns the names of the properties that differ, sorted. */
export function differingNames(before: ClientProperties, after: ClientProperties): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null)).sort();
}
