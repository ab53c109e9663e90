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
  expected: 'expected a host name in small letters, or *. and a host name',
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
  }).describe('What applications send as `resource`; the resource server finds it in `aud` at introspection.'),
  scopes: list(resourceScope)
    .prefault([])
    .describe(
      'Scopes of this resource server. People may grant them to any client; a client gets one for itself (`client_credentials`) when it is configured and its `scope` names it.',
    ),
  access_token_ttl: duration('60s', '86400s')
    .optional()
    .describe('Lifetime of access tokens for it. Default: that of all access tokens, for `jwt` 5 minutes at most.'),
  token_format: choice(['opaque', 'jwt'])
    .prefault('opaque')
    .describe(
      'What access tokens for it look like. `opaque`: the resource server asks at the introspection endpoint. `jwt`: it checks the signature itself (RFC 9068), and does not learn of a revocation before the token expires; see [JWT access tokens](../guides/resource-server.md#jwt-access-tokens).',
    ),
  signing_alg: choice(SIGNING_ALGORITHMS)
    .prefault(MANDATORY_ALGORITHM)
    .describe('With which algorithm its JWTs are signed; a key of the service has to fit.'),
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
  issuer: text({ maximum: 2048, pattern: /./, expected: 'expected the text of `iss`' }).describe(
    'The `iss` of its statements, letter by letter.',
  ),
  jwks: keySet.describe('Public keys, one of which signed the statement.'),
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
  authorization_code_ttl: duration('10s', '600s').prefault('60s').describe('How long an authorization code is good.'),
  authorization_grant_ttl: duration('5m', '24h').prefault('1h').describe('How long a person has to answer a request.'),
  device_code_grant_enabled: bool()
    .prefault(true)
    .describe('Devices without a browser may sign people in by a code that is entered elsewhere (RFC 8628).'),
  device_code_ttl: duration('60s', '3600s').prefault('20m').describe('How long the codes of a device are good.'),
  device_code_user_code_auto_fill_enabled: bool()
    .prefault(true)
    .describe(
      'Devices get an address that holds the code, for a link or a QR code. `false`: everybody types the code, which makes phishing by link harder.',
    ),
  dpop_require_nonce: bool()
    .prefault(false)
    .describe('DPoP proofs need a nonce of the service (RFC 9449 8), so that none can be made in advance.'),
  id_token_ttl: duration('60s', '86400s').prefault('1h').describe('Lifetime of ID tokens.'),
  refresh_grace: duration('0s', '300s')
    .prefault('30s')
    .describe('How long a refresh token that was just used may be presented again after a lost answer.'),
  require_pushed_authorization_requests: bool()
    .prefault(false)
    .describe('Every client pushes its authorization requests (RFC 9126); all others are refused.'),
  resources: resources.prefault([]).describe('Resource servers that access tokens may be restricted to (RFC 8707).'),
  session_max_lifetime: duration('1h', '730d')
    .nullable()
    .prefault(null)
    .describe('Absolute lifetime of a session. `null`: none.'),
  remember_consent: bool().prefault(true).describe('A person is asked once for the same scopes of a client.'),
  introspection_callers: choice(['confidential', 'static', 'own'])
    .prefault('static')
    .describe('Who sees the tokens of others: every client with a secret, configured clients, or nobody.'),
  dynamic_registration: mapping({
    enabled: bool().prefault(true).describe('Applications may register themselves at `/oauth2/registration`.'),
    initial_access_token: secret({
      pattern: /^[\x21-\x7e]{16,}$/,
      expected: 'expected at least 16 printable characters',
    })
      .optional()
      .describe('Bearer token without which nobody registers. Default: everybody may.'),
    initial_access_token_file: secretFile('initial_access_token'),
    unused_client_ttl: duration('1d', '365d')
      .prefault('30d')
      .describe('A client that registered itself is deleted when it was not used for so long.'),
    software_statement_issuers: statementIssuers
      .prefault([])
      .describe('Who may vouch for applications that register themselves (RFC 7591 2.3). Default: nobody.'),
  })
    .prefault({})
    .describe('Clients that are not configured (RFC 7591).'),
  client_id_metadata_documents: mapping({
    enabled: bool()
      .prefault(false)
      .describe('Applications may use the https address of a metadata document that they publish as `client_id`.'),
    allowed_hosts: list(documentHost)
      .prefault([])
      .describe(
        'Hosts that such addresses may have; `*.example.org` stands for all hosts below `example.org`. Default: every host.',
      ),
  })
    .prefault({})
    .describe(
      'Clients that publish what they are instead of registering (OAuth Client ID Metadata Document), as MCP prefers it. `policy.data.client_registration` holds for them too. See [Agents, editors and MCP](../guides/mcp.md#client-id-metadata-documents).',
    ),
  service_documentation: webUrl().optional().describe('Page for developers, named in the discovery document.'),
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
