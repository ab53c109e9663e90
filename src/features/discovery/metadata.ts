import type { Browser } from '#browser/browser.ts';
import { offeredGrantTypes } from '#domain/clients/offered-grant-types.ts';
import type { Core } from '#domain/core.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { ACCEPTED_ALGORITHMS, MAC_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { REQUESTED_RESPONSE_MODES } from '#protocol/oauth/authorization-response.ts';
import {
  CLIENT_AUTH_METHODS,
  CONFIDENTIAL_AUTH_METHODS,
  GRANT_TYPES,
  RESPONSE_TYPES,
  SUBJECT_TYPES,
} from '#protocol/oauth/client-metadata.ts';
import { CODE_CHALLENGE_METHOD } from '#protocol/oauth/pkce.ts';
import { PROMPTS } from '#protocol/oauth/request-parameters.ts';
import { publishedScopes } from '#protocol/oauth/scopes.ts';
import { ISSUED_ACR_VALUES, reachesAcr, strongestAcr } from '#protocol/oidc/authentication-classes.ts';
import { ID_TOKEN_CLAIM_NAMES } from '#protocol/oidc/id-token-claims.ts';
import { USER_CLAIM_NAMES } from '#protocol/oidc/user-claims.ts';

const CLIENT_ALGORITHMS = [...MAC_ALGORITHMS, ...ACCEPTED_ALGORITHMS];

/**
 * Returns the provider metadata. Every field describes something that is mounted and works.
 * @see OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2, RFC 9207 section 3
 */
export function providerMetadata(core: Core, { urls, languages }: Browser): Record<string, unknown> {
  const { config, signingKeys } = core;
  const { protocolName } = config;
  const resourceScopes = config.oauth.resources.flatMap(({ scopes }) => scopes);
  return {
    issuer: config.http.issuer,
    authorization_endpoint: urls.absolute('authorize'),
    token_endpoint: urls.absolute('oauth2/token'),
    jwks_uri: urls.absolute('oauth2/keys.json'),
    registration_endpoint: config.oauth.dynamicRegistration.enabled ? urls.absolute('oauth2/registration') : undefined,
    client_id_metadata_document_supported: config.oauth.clientIdMetadataDocuments.enabled || undefined,
    userinfo_endpoint: urls.absolute('oauth2/userinfo'),
    introspection_endpoint: urls.absolute('oauth2/introspect'),
    revocation_endpoint: urls.absolute('oauth2/revoke'),
    ...(config.oauth.deviceCodeGrantEnabled && { device_authorization_endpoint: urls.absolute('oauth2/device') }),
    pushed_authorization_request_endpoint: urls.absolute('oauth2/par'),
    end_session_endpoint: urls.absolute('oauth2/logout'),
    scopes_supported: publishedScopes(protocolName, resourceScopes),
    response_types_supported: RESPONSE_TYPES,
    response_modes_supported: REQUESTED_RESPONSE_MODES,
    grant_types_supported: offeredGrantTypes(config, GRANT_TYPES),
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
    introspection_endpoint_auth_methods_supported: CONFIDENTIAL_AUTH_METHODS,
    introspection_endpoint_auth_signing_alg_values_supported: CLIENT_ALGORITHMS,
    code_challenge_methods_supported: [CODE_CHALLENGE_METHOD],
    subject_types_supported: SUBJECT_TYPES,
    id_token_signing_alg_values_supported: signingKeys.algorithms(),
    userinfo_signing_alg_values_supported: signingKeys.algorithms(),
    authorization_signing_alg_values_supported: signingKeys.algorithms(),
    introspection_signing_alg_values_supported: signingKeys.algorithms(),
    display_values_supported: ['page'],
    claim_types_supported: ['normal'],
    claims_supported: [...ID_TOKEN_CLAIM_NAMES, 'username', ...USER_CLAIM_NAMES],
    claims_parameter_supported: true,
    acr_values_supported: reachableAcrValues(core),
    request_parameter_supported: true,
    request_object_signing_alg_values_supported: ACCEPTED_ALGORITHMS,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
    require_pushed_authorization_requests: config.oauth.requirePushedAuthorizationRequests,
    dpop_signing_alg_values_supported: ACCEPTED_ALGORITHMS,
    tls_client_certificate_bound_access_tokens: false,
    frontchannel_logout_supported: false,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    prompt_values_supported: PROMPTS.filter((prompt) => prompt !== 'create' || core.registrationMethods.isAnyOpen),
    ui_locales_supported: languages,
    authorization_response_iss_parameter_supported: true,
    op_policy_uri: config.branding.policyUri,
    op_tos_uri: config.branding.tosUri,
    service_documentation: config.oauth.serviceDocumentation,
    account_management_uri: urls.absolute('account/'),
    account_management_actions_supported: accountActions(core),
    ...accountApi(core, urls),
  };
}

/**
 * Returns the URL of the account API if a listener serves it. The member's name has dots only if chat clients may look
 * for it: the OpenID certification suite reads a name that ends in `_endpoint` as a path of members.
 */
function accountApi({ config }: Core, urls: Browser['urls']): Record<string, string> {
  const { graphql, homeserver, http, protocolName } = config;
  const isServed = http.listeners.some(({ resources }) => resources.some(({ name }) => name === 'graphql'));
  if (!isServed || !graphql.isInDiscovery) return {};
  const hasChatClients = homeserver.kind !== 'none' || protocolName === 'matrix';
  return { [hasChatClients ? chatNames(protocolName).accountApiMember : 'graphql_endpoint']: urls.absolute('graphql') };
}

/** Returns the classes that users of this service can reach. */
function reachableAcrValues({ signIn, secondFactors }: Core): readonly string[] {
  const strongest = strongestAcr({
    hasTotp: secondFactors.policy !== 'off',
    hasPasskey: signIn.relyingParty !== undefined,
  });
  return ISSUED_ACR_VALUES.filter((value) => reachesAcr(strongest, value));
}

/**
 * Actions that a client may ask the account area to open (chat-compat 13). The last three are older names of other
 * actions.
 */
function accountActions({ config }: Core): string[] {
  const { actionPrefix } = chatNames(config.protocolName);
  const names = ['profile', 'devices_list', 'device_view', 'device_delete'];
  if (config.homeserver.kind !== 'none') names.push('cross_signing_reset');
  if (config.account.deactivationAllowed) names.push('account_deactivate');
  if (config.experimental.planManagementIframeUri !== undefined) names.push('plan_management');
  names.push('sessions_list', 'session_view', 'session_end');
  return names.map((name) => actionPrefix + name);
}
