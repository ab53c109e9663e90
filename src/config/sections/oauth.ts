import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { listKeysRule } from '#platform/config/rule.ts';
import { bool, choice, duration, list, mapping, secret, secretFile, text, webUrl } from '#platform/config/values.ts';
import { MANDATORY_ALGORITHM, SIGNING_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { comparable } from '#protocol/oauth/resource-rules.ts';
import { isReservedScope } from '#protocol/oauth/scopes.ts';
import { keySet } from './key-set.ts';

const documentHost = text({
  maximum: 255,
  pattern: /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  expected: 'expected a host name in lowercase letters, or *. and a host name',
});

const resourceScope = text({
  maximum: 255,
  // RFC 6749 3.3: scope-token
  pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  expected: 'expected the name of a scope: 1 to 255 printable characters without space, quote or backslash',
}).superRefine((scope, context) => {
  if (isReservedScope(scope)) context.addIssue('expected a scope of the resource server, not one of this service');
});

const resource = mapping({
  identifier: text({
    maximum: 2048,
    // RFC 8707 2: an absolute URI without fragment
    pattern: /^[A-Za-z][A-Za-z0-9+.-]*:[!$-;=?-Z_a-z~]+$/,
    expected: 'expected an absolute URI without fragment',
  }).describe('Value of `resource` in requests, and of `aud` in introspection responses.'),
  scopes: list(resourceScope)
    .prefault([])
    .describe(
      'Scopes of the resource server. Users may grant them to any client. With `client_credentials`, a ' +
        'client gets a scope if the client is configured and its `scope` includes it.',
    ),
  access_token_ttl: duration('60s', '86400s')
    .optional()
    .describe(
      'Lifetime of access tokens for the resource server. Default: that of all access tokens, limited to 5 ' +
        'minutes for `jwt`.',
    ),
  token_format: choice(['opaque', 'jwt'])
    .prefault('opaque')
    .describe(
      'Format of access tokens for the resource server. `opaque`: the resource server calls the ' +
        'introspection endpoint. `jwt`: the resource server verifies the signature itself (RFC 9068), and ' +
        'accepts a revoked token until it expires; see [JWT access ' +
        'tokens](../guides/resource-server.md#jwt-access-tokens).',
    ),
  signing_alg: choice(SIGNING_ALGORITHMS)
    .prefault(MANDATORY_ALGORITHM)
    .describe('Signature algorithm of its JWTs; requires a matching signing key.'),
});

const resources = listKeysRule(list(resource), ['identifier'], (entries, problem) => {
  const seen = new Map<string, number>();
  for (const [index, { identifier }] of entries) {
    const other = seen.get(comparable(identifier));
    if (other !== undefined) problem([index, 'identifier'], `the same resource server as resources[${other}]`);
    else seen.set(comparable(identifier), index);
  }
});

const statementIssuer = mapping({
  issuer: text({ maximum: 2048, pattern: /./, expected: 'expected the value of `iss`' }).describe(
    'Value of `iss` in its software statements, compared by exact match.',
  ),
  jwks: keySet.describe('Public keys that verify its software statements.'),
});

const statementIssuers = listKeysRule(list(statementIssuer), ['issuer'], (entries, problem) => {
  const seen = new Map<string, number>();
  for (const [index, { issuer }] of entries) {
    const other = seen.get(issuer);
    if (other === undefined) seen.set(issuer, index);
    else problem([index, 'issuer'], `the same issuer as software_statement_issuers[${other}]`);
  }
});

export const oauthSection = mapping({
  authorization_code_ttl: duration('10s', '600s').prefault('60s').describe('Lifetime of authorization codes.'),
  authorization_grant_ttl: duration('5m', '24h')
    .prefault('1h')
    .describe('Time for the user to complete an authorization request.'),
  device_code_grant_enabled: bool().prefault(true).describe('Enables the device authorization grant (RFC 8628).'),
  device_code_ttl: duration('60s', '3600s').prefault('20m').describe('Lifetime of device and user codes.'),
  device_code_user_code_auto_fill_enabled: bool()
    .prefault(true)
    .describe(
      'Includes the user code in a URL, for a link or a QR code. `false`: users must type the code, which ' +
        'makes phishing with links harder.',
    ),
  dpop_require_nonce: bool()
    .prefault(false)
    .describe(
      'Requires a server-provided nonce in DPoP proofs (RFC 9449 8), so that they cannot be created in advance.',
    ),
  id_token_ttl: duration('60s', '86400s').prefault('1h').describe('Lifetime of ID tokens.'),
  refresh_grace: duration('0s', '300s')
    .prefault('30s')
    .describe('Grace period for presenting a used refresh token a second time, in case the response was lost.'),
  require_pushed_authorization_requests: bool()
    .prefault(false)
    .describe('Requires pushed authorization requests (RFC 9126) from every client.'),
  resources: resources.prefault([]).describe('Resource servers that access tokens may be restricted to (RFC 8707).'),
  session_max_lifetime: duration('1h', '730d')
    .nullable()
    .prefault(null)
    .describe('Absolute lifetime of a session. `null`: unlimited.'),
  remember_consent: bool().prefault(true).describe('Remembers the consent of users for the same scopes of a client.'),
  introspection_callers: choice(['confidential', 'static', 'own'])
    .prefault('static')
    .describe(
      'Clients that may introspect tokens of other clients: all confidential clients, configured clients, ' +
        'or none.',
    ),
  dynamic_registration: mapping({
    enabled: bool().prefault(true).describe('Allows clients to register at `/oauth2/registration`.'),
    initial_access_token: secret({
      pattern: /^[\x21-\x7e]{16,}$/,
      expected: 'expected at least 16 printable characters',
    })
      .optional()
      .describe('Bearer token required for registration. Default: registration is open.'),
    initial_access_token_file: secretFile('initial_access_token'),
    unused_client_ttl: duration('1d', '365d')
      .prefault('30d')
      .describe('Dynamically registered clients are deleted after being unused for this long.'),
    software_statement_issuers: statementIssuers
      .prefault([])
      .describe('Trusted issuers of software statements (RFC 7591 2.3). Default: none.'),
  })
    .prefault({})
    .describe('Dynamic client registration (RFC 7591).'),
  client_id_metadata_documents: mapping({
    enabled: bool().prefault(false).describe('Accepts the https URL of a published metadata document as `client_id`.'),
    allowed_hosts: list(documentHost)
      .prefault([])
      .describe('Allowed hosts of these URLs; `*.example.org` matches all hosts below `example.org`. Default: all.'),
  })
    .prefault({})
    .describe(
      'Clients that publish their metadata instead of registering (OAuth Client ID Metadata Document), ' +
        'which MCP prefers. `policy.data.client_registration` applies to them as well. See [Agents, editors ' +
        'and MCP](../guides/mcp.md#client-id-metadata-documents).',
    ),
  service_documentation: webUrl()
    .optional()
    .describe('URL of the developer documentation, published in the discovery document.'),
});

export function oauthConfig(parsed: z.output<typeof oauthSection>) {
  const { enabled, initial_access_token, software_statement_issuers } = parsed.dynamic_registration;
  return {
    authorizationCodeTtlSeconds: parsed.authorization_code_ttl,
    authorizationGrantTtlSeconds: parsed.authorization_grant_ttl,
    deviceCodeGrantEnabled: parsed.device_code_grant_enabled,
    deviceCodeTtlSeconds: parsed.device_code_ttl,
    deviceCodeUserCodeAutoFillEnabled: parsed.device_code_user_code_auto_fill_enabled,
    dpopRequireNonce: parsed.dpop_require_nonce,
    idTokenTtlSeconds: parsed.id_token_ttl,
    refreshGraceSeconds: parsed.refresh_grace,
    requirePushedAuthorizationRequests: parsed.require_pushed_authorization_requests,
    resources: parsed.resources.map(({ identifier, scopes, access_token_ttl, token_format, signing_alg }) => ({
      identifier,
      scopes,
      /** Algorithm of JWT access tokens; undefined: access tokens are opaque. */
      tokenAlgorithm: token_format === 'jwt' ? signing_alg : undefined,
      /** Undefined: same as other access tokens. */
      resourceTokenTtlSeconds: access_token_ttl,
    })),
    /** Undefined: sessions have no absolute lifetime. */
    sessionMaxLifetimeSeconds: parsed.session_max_lifetime ?? undefined,
    rememberConsent: parsed.remember_consent,
    introspectionCallers: parsed.introspection_callers,
    dynamicRegistration: {
      enabled,
      /** Undefined: registration is open. */
      initialAccessToken: initial_access_token === undefined ? undefined : new Secret(initial_access_token),
      softwareStatementIssuers: software_statement_issuers,
    },
    clientIdMetadataDocuments: {
      enabled: parsed.client_id_metadata_documents.enabled,
      /** Empty: any host. */
      allowedHosts: parsed.client_id_metadata_documents.allowed_hosts,
    },
    serviceDocumentation: parsed.service_documentation,
  };
}
