import { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { listKeysRule, rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import {
  bool,
  choice,
  chosenUlid,
  type Immutable,
  integer,
  list,
  mapping,
  secret,
  secretFile,
  text,
  ulid,
  webUrl,
} from '#platform/config/values.ts';
import { usableKeys } from '#protocol/jose/json-web-keys.ts';
import {
  ACCEPTED_ALGORITHMS,
  MAC_ALGORITHMS,
  MANDATORY_ALGORITHM,
  SIGNING_ALGORITHMS,
} from '#protocol/jose/signing-algorithms.ts';
import {
  ADMIN_AREA_CLIENT_ID,
  builtinNameProblem,
  builtinRedirectUriProblem,
} from '#protocol/oauth/builtin-clients.ts';
import {
  assertionAlgorithms,
  CONFIDENTIAL_AUTH_METHODS,
  REGISTRABLE_GRANT_TYPES,
  usesSecret,
} from '#protocol/oauth/client-metadata.ts';
import {
  CLIENT_PROFILES,
  FAPI2_ALGORITHMS,
  FAPI2_AUTH_METHOD,
  FAPI2_RESPONSE_ALGORITHM,
} from '#protocol/oauth/fapi2.ts';
import { redirectUriProblem } from '#protocol/oauth/redirect-uris.ts';
import { canSignWith } from '#protocol/oauth/registered-keys.ts';
import { isReservedScope } from '#protocol/oauth/scopes.ts';
import { GROUP_NAME_RULE, isGroupName } from '#protocol/oidc/group-names.ts';
import { commonHost } from '#protocol/oidc/sector.ts';
import { extraClaims } from './extra-claims.ts';
import { keySet } from './key-set.ts';

const redirectUri = text({ expected: 'expected an absolute URI' }).superRefine((uri, context) => {
  const problem = redirectUriProblem(uri);
  if (problem !== undefined) context.addIssue(`expected a redirect URI: ${problem}`);
});

export const MIN_SECRET_LENGTH = 16;
const MIN_SIGNING_SECRET_BYTES = 32;

/** Keys whose value is a signing algorithm that the client uses or requests. */
const ALGORITHM_KEYS = [
  'authorization_signed_response_alg',
  'id_token_signed_response_alg',
  'introspection_signed_response_alg',
  'request_object_signing_alg',
  'token_endpoint_auth_signing_alg',
  'userinfo_signed_response_alg',
] as const;

function isHttps(url: string): boolean {
  return /^https:/i.test(url);
}

/** A scope for exchanged tokens. Admin and chat client scopes are not allowed. */
const exchangeableScope = text({
  maximum: 255,
  pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  expected: 'expected a scope',
}).refine(
  (scope) =>
    ['openid', 'email', 'profile', 'groups'].includes(scope) || !(isReservedScope(scope) || scope === 'offline_access'),
  { error: 'expected a scope other than those for administrators, accounts, chat clients and offline_access' },
);

const tokenExchange = mapping({
  subjects: list(z.union([z.literal('*'), ulid<'client'>()], { error: 'expected the id of a client, or "*"' }), {
    minimum: 1,
  }).describe('Clients whose access tokens may be exchanged; `*` for all clients.'),
  scopes: list(exchangeableScope).prefault([]).describe('Scopes that an exchanged token may keep.'),
  audiences: list(webUrl())
    .prefault([])
    .describe('Resource servers that may be requested with `audience` or `resource`.'),
  impersonation: bool().prefault(false).describe('Omits the acting client (`act`) from introspection responses.'),
});

function responseAlgorithm(description: string) {
  return hint(choice(SIGNING_ALGORITHMS), {
    defaultText: `\`${MANDATORY_ALGORITHM}\`; \`${FAPI2_RESPONSE_ALGORITHM}\` with \`profile: fapi2\``,
  })
    .optional()
    .describe(description);
}

const MAX_ALLOWED_GROUPS = 50;

/** Groups whose members may use a client; empty: every user. */
export const allowedGroups = list(
  text({ maximum: 255 }).refine(isGroupName, { error: `expected the name of a group: ${GROUP_NAME_RULE}` }),
).max(MAX_ALLOWED_GROUPS, { error: `expected at most ${MAX_ALLOWED_GROUPS} groups` });

const client = mapping({
  client_id: chosenUlid<'client'>().describe('Unique identifier of the client.'),
  client_auth_method: choice(['none', ...CONFIDENTIAL_AUTH_METHODS]).describe(
    'Authentication method of the client; `none` for public clients.',
  ),
  client_secret: hint(secret(), { trimmed: true })
    .optional()
    .describe(
      'Required for methods with a secret; at least 16 characters, and at least 32 bytes for `client_secret_jwt`.',
    ),
  client_secret_file: secretFile('client_secret'),
  allow_short_secret: bool()
    .prefault(false)
    .describe(
      'Accepts a shorter secret with a warning. Only for clients whose secret you cannot change yet, for example ' +
        'after a move from Matrix Authentication Service.',
    ),
  jwks: keySet
    .optional()
    .describe(
      'Public keys of the client. `private_key_jwt` requires `jwks` or `jwks_uri`; with `none`, they ' +
        'verify signed requests.',
    ),
  jwks_uri: hint(webUrl().refine(isHttps, { error: 'expected an https URL' }), { type: 'https URL' })
    .optional()
    .describe("URL of the client's key set; may be on an internal network."),
  token_endpoint_auth_signing_alg: choice([...MAC_ALGORITHMS, ...ACCEPTED_ALGORITHMS])
    .optional()
    .describe(
      'Required signature algorithm of `client_secret_jwt` or `private_key_jwt` assertions. Default: any ' +
        'supported one.',
    ),
  redirect_uris: list(redirectUri).prefault([]).describe('Allowed redirect URIs, compared by exact match.'),
  post_logout_redirect_uris: list(redirectUri)
    .prefault([])
    .describe('Allowed redirect URIs after logout, compared by exact match.'),
  backchannel_logout_uri: webUrl()
    .optional()
    .describe('Endpoint of the client that receives logout tokens (OpenID Connect Back-Channel Logout 1.0).'),
  backchannel_logout_session_required: bool()
    .prefault(false)
    .describe(
      'The client requires `sid` in logout tokens. Every logout token contains it, with or without this setting.',
    ),
  client_name: text({ maximum: 255 })
    .superRefine((name, context) => {
      const problem = builtinNameProblem(name);
      if (problem !== undefined) context.addIssue(problem);
    })
    .optional()
    .describe('Name shown to users.'),
  application_type: choice(['web', 'native'])
    .optional()
    .describe(
      '`web`: runs on a server or in a browser; `native`: a mobile or desktop app. Determines the icon ' +
        'shown to users.',
    ),
  client_uri: webUrl().optional().describe('Home page of the client; the consent page shows its host.'),
  logo_uri: webUrl()
    .optional()
    .describe('URL of the logo, at most 256 KiB, shown if `account.client_logos` is `proxy`.'),
  policy_uri: webUrl().optional().describe("URL of the client's privacy policy; the consent page links to https URLs."),
  tos_uri: webUrl().optional().describe("URL of the client's terms of service; the consent page links to https URLs."),
  grant_types: hint(list(choice(REGISTRABLE_GRANT_TYPES), { minimum: 1 }), {
    defaultText: 'all; without `client_credentials` if `client_auth_method` is `none`',
  })
    .optional()
    .describe('Grant types that the client may use.'),
  scope: text({
    maximum: 2048,
    // RFC 6749 3.3: scope-token
    pattern: /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    expected: 'expected scope names separated by single spaces',
  })
    .optional()
    .describe('Scopes that the client may request. Default: no restriction.'),
  allowed_groups: hint(allowedGroups.prefault([]), { defaultText: 'every user' }).describe(
    'Groups whose members may use the client. Groups that do not exist yet are created.',
  ),
  token_exchange: tokenExchange
    .optional()
    .describe('Allows the client, which must be confidential, to exchange tokens of users for its own (RFC 8693).'),
  first_party: bool().prefault(false).describe('Allows skipping the consent page.'),
  default_max_age: integer(0)
    .optional()
    .describe('Maximum age of a sign-in, in seconds, for requests without `max_age`.'),
  require_auth_time: bool()
    .prefault(false)
    .describe('The client requires `auth_time`. Every ID token contains it, with or without this setting.'),
  require_pushed_authorization_requests: bool()
    .prefault(false)
    .describe('Requires pushed authorization requests (RFC 9126).'),
  require_signed_request_object: bool()
    .prefault(false)
    .describe('Requires signed authorization requests (RFC 9101). Needs keys.'),
  request_object_signing_alg: choice(ACCEPTED_ALGORITHMS)
    .optional()
    .describe('Required signature algorithm of request objects; needs keys. Default: any asymmetric algorithm.'),
  default_acr_values: list(text({ maximum: 255 }))
    .prefault([])
    .describe('Authentication context classes for requests without `acr_values`, in order of preference.'),
  id_token_claims: bool()
    .prefault(true)
    .describe(
      'Includes the claims of the scopes `profile`, `email` and `groups`, and those in `claims`, in ID ' +
        'tokens; otherwise only the userinfo endpoint returns them.',
    ),
  claims: extraClaims()
    .optional()
    .describe(
      'Additional claims, with fixed values, in ID tokens and userinfo responses for every user of the ' +
        'client. Claims of the account and built-in claims take precedence.',
    ),
  strict_auth_method: bool()
    .prefault(false)
    .describe('Accepts the secret only where `client_auth_method` places it, in the header or in the form.'),
  subject_type: choice(['public', 'pairwise'])
    .prefault('public')
    .describe(
      'Type of `sub`: `public`, the account identifier, or `pairwise`, a different identifier for each ' +
        'sector. Clients with pairwise subjects cannot get chat or admin scopes.',
    ),
  sector_identifier_uri: webUrl()
    .optional()
    .describe(
      'URL whose host is the sector of a client with pairwise subjects. Default: the host of its redirect URIs.',
    ),
  profile: choice(CLIENT_PROFILES)
    .optional()
    .describe(
      '`fapi2`: enforces the FAPI 2.0 Security Profile. The client must authenticate with ' +
        '`private_key_jwt`, push its requests and use PKCE; its tokens are bound to a key and refresh tokens ' +
        'are not rotated. See the guide on FAPI 2.',
    ),
  dpop_bound_access_tokens: bool()
    .prefault(false)
    .describe('Issues only access tokens that are bound to a key of the client (DPoP, RFC 9449).'),
  id_token_signed_response_alg: responseAlgorithm('Signature algorithm of ID tokens.'),
  authorization_signed_response_alg: responseAlgorithm(
    'Signature algorithm of authorization responses requested as a JWT (JARM).',
  ),
  userinfo_signed_response_alg: choice(SIGNING_ALGORITHMS)
    .optional()
    .describe('Signature algorithm of userinfo responses, which are then JWTs. Default: plain JSON.'),
  introspection_signed_response_alg: responseAlgorithm(
    'Signature algorithm of introspection responses requested as a JWT.',
  ),
});

const SECRET_KEYS = ['client_auth_method', 'client_secret', 'allow_short_secret'] as const;

const withSecretRule = rule(client, SECRET_KEYS, (values, problem) => {
  const { client_auth_method: method, client_secret: clientSecret } = values;
  if (usesSecret(method) && clientSecret === undefined) {
    problem([], `"${method}" needs "client_secret" or "client_secret_file"`);
  }
  if (!usesSecret(method) && clientSecret !== undefined) {
    problem(['client_secret'], `not allowed with client_auth_method "${method}"`);
  }
  if (values.allow_short_secret || clientSecret === undefined || !usesSecret(method)) return;
  if (clientSecret.length < MIN_SECRET_LENGTH) {
    problem(['client_secret'], `expected at least ${MIN_SECRET_LENGTH} characters`);
    return;
  }
  // RFC 7518 3.2
  if (method === 'client_secret_jwt' && Buffer.byteLength(clientSecret) < MIN_SIGNING_SECRET_BYTES) {
    problem(['client_secret'], `"${method}" needs at least ${MIN_SIGNING_SECRET_BYTES} bytes`);
  }
});

const withKeysRule = rule(withSecretRule, ['client_auth_method', 'jwks', 'jwks_uri'], (values, problem) => {
  const { client_auth_method: method } = values;
  const given = (['jwks', 'jwks_uri'] as const).filter((name) => values[name] !== undefined);
  if (method === 'private_key_jwt') {
    if (given.length === 0) problem([], `"${method}" needs "jwks" or "jwks_uri"`);
    if (given.length === 2) problem([], '"jwks" and "jwks_uri" exclude each other');
  } else if (method === 'none') {
    if (given.length === 2) problem([], '"jwks" and "jwks_uri" exclude each other');
  } else {
    for (const name of given) problem([name], `not allowed with client_auth_method "${method}"`);
  }
});

/** Without a key, signatures of the client cannot be verified. A `jwks_uri` is fetched only when it is needed. */
const withSignedRequestsRule = rule(
  withKeysRule,
  ['jwks', 'jwks_uri', 'request_object_signing_alg', 'require_signed_request_object'],
  (values, problem) => {
    if (values.jwks_uri !== undefined) return;
    const { jwks, request_object_signing_alg: algorithm } = values;
    if (algorithm !== undefined && !canSignWith(usableKeys(jwks), algorithm)) {
      problem(['request_object_signing_alg'], `needs a key in "jwks" that signs with ${algorithm}, or "jwks_uri"`);
    }
    if (values.require_signed_request_object && usableKeys(jwks).length === 0) {
      problem(['require_signed_request_object'], 'needs "jwks" or "jwks_uri"');
    }
  },
);

const withAlgorithmRule = rule(
  withSignedRequestsRule,
  ['client_auth_method', 'token_endpoint_auth_signing_alg'],
  (values, problem) => {
    const { client_auth_method: method, token_endpoint_auth_signing_alg: algorithm } = values;
    if (algorithm === undefined || assertionAlgorithms(method)?.includes(algorithm) === true) return;
    problem(['token_endpoint_auth_signing_alg'], `not allowed with client_auth_method "${method}"`);
  },
);

const withGrantRule = rule(withAlgorithmRule, ['client_auth_method', 'grant_types'], (values, problem) => {
  const index = values.grant_types?.indexOf('client_credentials') ?? -1;
  if (values.client_auth_method === 'none' && index >= 0) {
    problem(['grant_types', index], '"client_credentials" is not allowed with client_auth_method "none"');
  }
});

const withExchangeRule = rule(withGrantRule, ['client_auth_method', 'token_exchange'], (values, problem) => {
  if (values.token_exchange !== undefined && values.client_auth_method === 'none') {
    problem(['token_exchange'], 'not allowed with client_auth_method "none"');
  }
});

const withSectorRule = rule(
  withExchangeRule,
  ['subject_type', 'sector_identifier_uri', 'redirect_uris'],
  (values, problem) => {
    if (values.subject_type !== 'pairwise' || values.sector_identifier_uri !== undefined) return;
    if (commonHost(values.redirect_uris) === undefined) {
      problem(
        ['subject_type'],
        '"pairwise" needs "sector_identifier_uri", unless all redirect URIs have one host that is not loopback',
      );
    }
  },
);

/** Rejects settings that violate the client's profile. */
const withProfileRule = rule(
  withSectorRule,
  ['profile', 'client_auth_method', ...ALGORITHM_KEYS],
  (values, problem) => {
    if (values.profile === undefined) return;
    if (values.client_auth_method !== FAPI2_AUTH_METHOD) {
      problem(['client_auth_method'], `"profile: ${values.profile}" needs "${FAPI2_AUTH_METHOD}"`);
    }
    for (const key of ALGORITHM_KEYS) {
      const algorithm = values[key];
      if (algorithm === undefined || FAPI2_ALGORITHMS.includes(algorithm)) continue;
      problem([key], `"profile: ${values.profile}" allows ${FAPI2_ALGORITHMS.join(', ')}`);
    }
  },
);

export const clientsSection = listKeysRule(list(withProfileRule), ['client_id'], (clients, problem) => {
  const seen = new Map<string, number>();
  for (const [index, { client_id }] of clients) {
    const other = seen.get(client_id);
    if (other !== undefined) problem([index, 'client_id'], `"${client_id}" is also the id of clients[${other}]`);
    else seen.set(client_id, index);
    if (client_id === ADMIN_AREA_CLIENT_ID) problem([index, 'client_id'], 'is the id of the admin area');
  }
});

type ParsedClient = z.output<typeof clientsSection>[number];

/** Members that only an entry of `clients` has. */
const FILE_MEMBERS = ['client_secret_file', 'allow_short_secret'] as const;

/** Members of a client outside of the configuration, for the description of the admin API. */
export const clientMembers = client
  .omit({ client_secret_file: true, allow_short_secret: true })
  .partial({ client_id: true });

export type ClientParsing =
  | { readonly ok: true; readonly client: StaticClientConfig }
  | { readonly ok: false; readonly path: readonly PropertyKey[]; readonly message: string };

/** Parses a client from outside of the configuration by the same rules. @param members of one entry of `clients` */
export function parseClient(members: Readonly<Record<string, unknown>>, publicBase: string): ClientParsing {
  const foreign = FILE_MEMBERS.find((name) => name in members);
  if (foreign !== undefined) return { ok: false, path: [foreign], message: 'unknown member' };
  const parsed = withProfileRule.safeParse(members);
  if (parsed.success) {
    const [found] = redirectUrisOfService(parsed.data.redirect_uris, publicBase);
    if (found !== undefined) return { ok: false, ...found };
    return { ok: true, client: staticClientConfig(parsed.data) };
  }
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys')
    return { ok: false, path: issue.keys.slice(0, 1), message: 'unknown member' };
  return { ok: false, path: issue?.path ?? [], message: issue?.message ?? 'cannot be parsed' };
}

/** Finds redirect URIs that belong to the service itself. */
export function redirectUrisOfService(redirectUris: readonly string[], publicBase: string) {
  return redirectUris.flatMap((uri, index) => {
    const message = builtinRedirectUriProblem(uri, publicBase);
    return message === undefined ? [] : [{ path: ['redirect_uris', index], message }];
  });
}

export type StaticClientConfig = Immutable<ReturnType<typeof staticClientConfig>>;

export function staticClientConfig(parsed: ParsedClient) {
  const isPublic = parsed.client_auth_method === 'none';
  const isFapi2 = parsed.profile === 'fapi2';
  const responseAlgorithm = isFapi2 ? FAPI2_RESPONSE_ALGORITHM : MANDATORY_ALGORITHM;
  const defaultGrantTypes = REGISTRABLE_GRANT_TYPES.filter(
    (grantType) => !isPublic || grantType !== 'client_credentials',
  );
  return {
    clientId: parsed.client_id,
    clientAuthMethod: parsed.client_auth_method,
    /** Present for authentication methods with a secret. */
    clientSecret: parsed.client_secret === undefined ? undefined : new Secret(parsed.client_secret),
    /** For `private_key_jwt` exactly one of the two is present, for `none` at most one. */
    jwks: parsed.jwks,
    jwksUri: parsed.jwks_uri,
    /** Undefined: any algorithm of the method. */
    tokenEndpointAuthSigningAlg: parsed.token_endpoint_auth_signing_alg,
    redirectUris: parsed.redirect_uris,
    postLogoutRedirectUris: parsed.post_logout_redirect_uris,
    backchannelLogoutUri: parsed.backchannel_logout_uri,
    backchannelLogoutSessionRequired: parsed.backchannel_logout_session_required,
    clientName: parsed.client_name,
    /** Undefined: unspecified. */
    applicationType: parsed.application_type,
    clientUri: parsed.client_uri,
    logoUri: parsed.logo_uri,
    policyUri: parsed.policy_uri,
    tosUri: parsed.tos_uri,
    grantTypes: parsed.grant_types ?? defaultGrantTypes,
    /** Maximum scopes; undefined: no restriction. */
    scope: parsed.scope?.split(' '),
    /** Names; empty: every user may use the client. */
    allowedGroups: parsed.allowed_groups,
    /** Undefined: token exchange is not allowed. */
    tokenExchange: parsed.token_exchange,
    firstParty: parsed.first_party,
    defaultMaxAgeSeconds: parsed.default_max_age,
    requireAuthTime: parsed.require_auth_time,
    requirePushedAuthorizationRequests: isFapi2 || parsed.require_pushed_authorization_requests,
    requireSignedRequestObject: parsed.require_signed_request_object,
    /** Undefined: any asymmetric algorithm. */
    requestObjectSigningAlg: parsed.request_object_signing_alg,
    defaultAcrValues: parsed.default_acr_values,
    idTokenClaims: parsed.id_token_claims,
    /** Undefined: none. */
    claims: parsed.claims,
    strictAuthMethod: parsed.strict_auth_method,
    subjectType: parsed.subject_type,
    /** Undefined: the sector is the host of the redirect URIs. */
    sectorIdentifierUri: parsed.sector_identifier_uri,
    /** Undefined: no profile is enforced. */
    profile: parsed.profile,
    dpopBoundAccessTokens: isFapi2 || parsed.dpop_bound_access_tokens,
    idTokenSignedResponseAlg: parsed.id_token_signed_response_alg ?? responseAlgorithm,
    authorizationSignedResponseAlg: parsed.authorization_signed_response_alg ?? responseAlgorithm,
    /** Undefined: userinfo responses are not signed. */
    userinfoSignedResponseAlg: parsed.userinfo_signed_response_alg,
    introspectionSignedResponseAlg: parsed.introspection_signed_response_alg ?? responseAlgorithm,
  };
}
