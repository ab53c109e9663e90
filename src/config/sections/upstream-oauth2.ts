import { createPrivateKey } from 'node:crypto';
import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { listKeysRule, rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import {
  bool,
  choice,
  chosenUlid,
  type Immutable,
  list,
  mapping,
  secret,
  secretFile,
  text,
  webUrl,
} from '#platform/config/values.ts';
import { compileTemplate } from '#platform/templates/template.ts';
import { ACCEPTED_ALGORITHMS, MAC_ALGORITHMS, SIGNING_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { isProtectedAddress } from '#protocol/oidc/provider-metadata.ts';
import { parameterTemplates } from './claim-template.ts';
import { claimsImports, claimsImportsConfig } from './claims-imports.ts';

const AUTH_METHODS = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'sign_in_with_apple',
] as const;

const MIN_MAC_SECRET_BYTES = 32;
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'] as const;

const signature = choice([...ACCEPTED_ALGORITHMS, ...MAC_ALGORITHMS]);

function endpoint(purpose: string) {
  return webUrl().optional().describe(`${purpose}, overriding the discovered URL.`);
}

const appleKey = secret({
  pattern: /-----BEGIN (?:EC )?PRIVATE KEY-----/,
  expected: 'expected a private key in PEM, as issued by Apple (AuthKey_….p8)',
}).refine(isP256Key, { error: 'expected a private key on the curve P-256, as issued by Apple (AuthKey_….p8)' });

const provider = mapping({
  id: chosenUlid<'upstream-provider'>().describe(
    'Unique identifier of the provider. Register the redirect URI `<public_base>/upstream/callback/<id>` ' +
      'at the provider.',
  ),
  enabled: bool().prefault(true).describe('`false`: disables sign-in with the provider; links of accounts are kept.'),
  issuer: webUrl({ allowQuery: false })
    .optional()
    .describe('Issuer of the provider, exactly as published; required unless `discovery_mode` is `disabled`.'),
  human_name: text({ maximum: 100 })
    .optional()
    .describe(
      'Name shown to users. Default: that of its brand, else the host of the issuer, with its path if another ' +
        'provider would have the same name, else the id.',
    ),
  brand_name: text({
    pattern: /^[a-z][a-z0-9_-]{0,31}$/,
    expected: 'expected a lowercase word of at most 32 characters',
  })
    .optional()
    .describe(
      'Brand whose initial the button shows, for example `google`. A known brand (`apple`, `discord`, `facebook`, ' +
        '`github`, `gitlab`, `google`, `keycloak`, `linkedin`, `microsoft`, `twitter`) is also the label if there is no ' +
        '`human_name`.',
    ),
  client_id: text({ maximum: 2048 }).describe('Client ID of this service at the provider.'),
  client_secret: hint(secret(), { trimmed: true })
    .optional()
    .describe('Client secret, for the methods `client_secret_*` only.'),
  client_secret_file: secretFile('client_secret'),
  token_endpoint_auth_method: choice(AUTH_METHODS).describe(
    'Authentication method at the token endpoint. `private_key_jwt` uses the signing keys of this ' +
      'service, published at `<public_base>/oauth2/keys.json`.',
  ),
  token_endpoint_auth_signing_alg: choice([...SIGNING_ALGORITHMS, ...MAC_ALGORITHMS])
    .optional()
    .describe('Signature algorithm of client assertions; required for `client_secret_jwt` and `private_key_jwt`.'),
  sign_in_with_apple: mapping({
    private_key: appleKey.optional().describe('Private key from the Apple developer account.'),
    private_key_file: secretFile('private_key'),
    team_id: text({ maximum: 64 }).describe('Team ID.'),
    key_id: text({ maximum: 64 }).describe('Key ID.'),
  })
    .optional()
    .describe('Settings of the method of the same name, which creates a client secret for each request.'),
  id_token_signed_response_alg: signature
    .prefault('RS256')
    .describe('Required signature algorithm of ID tokens. Symmetric algorithms require `client_secret`.'),
  scope: text({
    maximum: 2048,
    pattern: /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    expected: 'expected scope names separated by single spaces',
  })
    .prefault('openid')
    .describe('Requested scopes. Without `openid`, the provider may omit the ID token.'),
  discovery_mode: choice(['oidc', 'insecure', 'disabled'])
    .prefault('oidc')
    .describe(
      '`oidc`: endpoints come from the metadata of the issuer, which must name the same issuer and use ' +
        'https URLs. `insecure`: skips these two checks. `disabled`: only configured endpoints are used.',
    ),
  pkce_method: choice(['auto', 'always', 'never'])
    .prefault('auto')
    .describe('Whether to use PKCE (S256). `auto`: if the metadata announces support.'),
  fetch_userinfo: bool().prefault(false).describe('Reads claims from the userinfo endpoint as well.'),
  userinfo_signed_response_alg: signature
    .optional()
    .describe('Expects userinfo responses as JWTs with this signature algorithm. Default: plain JSON.'),
  authorization_endpoint: endpoint('Authorization endpoint'),
  token_endpoint: endpoint('Token endpoint'),
  userinfo_endpoint: endpoint('Userinfo endpoint'),
  jwks_uri: endpoint('Key set that verifies ID tokens'),
  response_mode: choice(['query', 'form_post']).optional().describe('Required response mode. Default: any.'),
  on_backchannel_logout: choice(['do_nothing', 'logout_browser_only', 'logout_all'])
    .prefault('do_nothing')
    .describe(
      'What a logout at the provider ends here, received at ' +
        '`<public_base>/upstream/backchannel-logout/<id>`. `logout_browser_only`: the browser sessions ' +
        'started through the provider. `logout_all`: these, and the client sessions started from them.',
    ),
  registration_enabled: bool().prefault(true).describe('Allows new users to register through the provider.'),
  registration_token_required: bool()
    .prefault(false)
    .describe('Requires a registration token for registration through the provider.'),
  additional_authorization_parameters: parameterTemplates()
    .prefault({})
    .describe(
      'Additional parameters of the authorization request. Templates can read `params`, the request of the ' +
        'client, and `logged_out`; parameters with an empty result are omitted.',
    ),
  forward_login_hint: hint(bool(), { deprecated: 'use "login_hint" in "additional_authorization_parameters"' })
    .prefault(false)
    .describe(
      'Forwards the `login_hint` of the client, equivalent to `login_hint: "{{ params.login_hint }}"` in ' +
        '`additional_authorization_parameters`.',
    ),
  linking_enabled: bool().prefault(true).describe('Users may link their existing account, after signing in to both.'),
  allow_unlink: bool().prefault(true).describe('Users may unlink their account if they have another way to sign in.'),
  trust_amr: bool()
    .prefault(false)
    .describe('Passes the authentication methods (`amr`) of the provider on to clients.'),
  nonce: choice(['required', 'optional'])
    .prefault('required')
    .describe(
      'Whether ID tokens must contain the `nonce` of the request. `optional`: accepts ID tokens without ' +
        'one, for providers that omit it, for example LinkedIn; a wrong nonce is always rejected.',
    ),
  reauthentication: choice(['auth_time', 'prompt'])
    .prefault('auth_time')
    .describe(
      'How to verify that the provider reauthenticated the user when they must confirm their identity. ' +
        '`auth_time`: the ID token shows a sign-in within the last 5 minutes. `prompt`: also accepts ID ' +
        'tokens without `auth_time`, or no ID token; only for providers that always ask for the password ' +
        'with `prompt=login`.',
    ),
  synapse_idp_id: text({
    maximum: 255,
    pattern: /^[A-Za-z0-9._~-]+$/,
    expected: 'expected the name of the provider in Synapse, for example oidc-google',
  })
    .optional()
    .describe(
      'Name of the provider in the Synapse that was migrated: `oidc-` and its `idp_id`. Chat clients that ' +
        'still use it in `login/sso/redirect/NAME` are redirected to the provider.',
    ),
  claims_imports: claimsImports.prefault({}).describe("Mapping of the provider's claims to accounts."),
});

const withSecretRule = rule(
  provider,
  ['token_endpoint_auth_method', 'client_secret', 'id_token_signed_response_alg', 'userinfo_signed_response_alg'],
  (values, problem) => {
    const { token_endpoint_auth_method: method, client_secret: clientSecret } = values;
    const usesSecret = method.startsWith('client_secret_');
    if (usesSecret && clientSecret === undefined)
      problem([], `"${method}" needs "client_secret" or "client_secret_file"`);
    if (!usesSecret && clientSecret !== undefined) {
      problem(['client_secret'], `not allowed with token_endpoint_auth_method "${method}"`);
    }
    for (const name of ['id_token_signed_response_alg', 'userinfo_signed_response_alg'] as const) {
      const algorithm = values[name];
      if (algorithm === undefined || !isMac(algorithm)) continue;
      // RFC 7518 3.2
      const isLong = clientSecret !== undefined && Buffer.byteLength(clientSecret) >= MIN_MAC_SECRET_BYTES;
      if (!isLong) problem([name], `"${algorithm}" needs a "client_secret" of at least ${MIN_MAC_SECRET_BYTES} bytes`);
    }
  },
);

const withAssertionRule = rule(
  withSecretRule,
  ['token_endpoint_auth_method', 'token_endpoint_auth_signing_alg', 'client_secret'],
  (values, problem) => {
    const { token_endpoint_auth_method: method, token_endpoint_auth_signing_alg: algorithm } = values;
    const isAssertion = method === 'client_secret_jwt' || method === 'private_key_jwt';
    const name = 'token_endpoint_auth_signing_alg';
    if (!isAssertion) {
      if (algorithm !== undefined) problem([name], `not allowed with token_endpoint_auth_method "${method}"`);
      return;
    }
    if (algorithm === undefined) problem([], `"${method}" needs "${name}"`);
    else if (isMac(algorithm) !== (method === 'client_secret_jwt')) problem([name], `not an algorithm of "${method}"`);
    const { client_secret: clientSecret } = values;
    if (
      method === 'client_secret_jwt' &&
      clientSecret !== undefined &&
      Buffer.byteLength(clientSecret) < MIN_MAC_SECRET_BYTES
    ) {
      problem(['client_secret'], `"${method}" needs at least ${MIN_MAC_SECRET_BYTES} bytes`);
    }
  },
);

const withAppleRule = rule(
  withAssertionRule,
  ['token_endpoint_auth_method', 'sign_in_with_apple'],
  (values, problem) => {
    const { token_endpoint_auth_method: method, sign_in_with_apple: apple } = values;
    const isApple = method === 'sign_in_with_apple';
    if (isApple && apple === undefined) problem([], '"sign_in_with_apple" needs the section of the same name');
    if (isApple && apple !== undefined && apple.private_key === undefined) {
      problem(['sign_in_with_apple'], 'needs "private_key" or "private_key_file"');
    }
    if (!isApple && apple !== undefined) {
      problem(['sign_in_with_apple'], `not allowed with token_endpoint_auth_method "${method}"`);
    }
  },
);

const withDiscoveryRule = rule(
  withAppleRule,
  ['discovery_mode', 'issuer', 'scope', 'fetch_userinfo', ...ENDPOINTS],
  (values, problem) => {
    const { discovery_mode: mode } = values;
    const needs = (name: 'issuer' | (typeof ENDPOINTS)[number], why: string): void => {
      if (values[name] === undefined) problem([], `${why} needs "${name}"`);
    };
    if (mode === 'disabled') {
      needs('authorization_endpoint', 'discovery_mode "disabled"');
      needs('token_endpoint', 'discovery_mode "disabled"');
      if (hasOpenid(values.scope)) needs('jwks_uri', 'discovery_mode "disabled" with the scope "openid"');
      if (values.fetch_userinfo) needs('userinfo_endpoint', 'discovery_mode "disabled" with "fetch_userinfo"');
    } else {
      needs('issuer', `discovery_mode "${mode}"`);
    }
    if (mode === 'insecure') return;
    for (const name of ['issuer', ...ENDPOINTS] as const) {
      const url = values[name];
      if (url !== undefined && !isProtectedAddress(url)) problem([name], 'must be https, unless it is on this machine');
    }
  },
);

const withUserinfoRule = rule(
  withDiscoveryRule,
  ['scope', 'fetch_userinfo', 'userinfo_signed_response_alg'],
  (values, problem) => {
    if (!hasOpenid(values.scope) && !values.fetch_userinfo) {
      problem(['scope'], 'without "openid", only userinfo identifies the user: set "fetch_userinfo"');
    }
    if (!values.fetch_userinfo && values.userinfo_signed_response_alg !== undefined) {
      problem(['userinfo_signed_response_alg'], 'not used without "fetch_userinfo"');
    }
  },
);

export const upstreamOAuth2Section = mapping({
  providers: listKeysRule(list(withUserinfoRule), ['id', 'synapse_idp_id'], (providers, problem) => {
    const seen = new Map<string, number>();
    for (const [index, named] of providers) {
      for (const key of ['id', 'synapse_idp_id'] as const) {
        const name = named[key];
        if (name === undefined) continue;
        const other = seen.get(name);
        if (other === undefined) seen.set(name, index);
        else problem([index, key], `"${name}" is also the ${key} of providers[${other}]`);
      }
    }
  })
    .prefault([])
    .describe('Providers, in display order.'),
});

type ParsedProvider = z.output<typeof upstreamOAuth2Section>['providers'][number];

export type UpstreamProviderConfig = Immutable<ReturnType<typeof providerConfig>>;

export function upstreamOAuth2Config(parsed: z.output<typeof upstreamOAuth2Section>) {
  const { providers } = parsed;
  const shortNames = providers.map(shortName);
  return { providers: providers.map((provider) => providerConfig(provider, displayName(provider, shortNames))) };
}

/** Spelling of well-known brands. */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ['apple', 'Apple'],
  ['discord', 'Discord'],
  ['facebook', 'Facebook'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['google', 'Google'],
  ['keycloak', 'Keycloak'],
  ['linkedin', 'LinkedIn'],
  ['microsoft', 'Microsoft'],
  ['twitter', 'X'],
]);

/** @param shortNames of all providers; with a host that several share, the path of the issuer is shown as well */
function displayName(provider: ParsedProvider, shortNames: readonly string[]): string {
  const name = shortName(provider);
  const isAmbiguous = shortNames.filter((other) => other === name).length > 1;
  if (!isAmbiguous || givenName(provider) !== undefined || provider.issuer === undefined) return name;
  return name + new URL(provider.issuer).pathname.replace(/\/$/, '');
}

function shortName(provider: ParsedProvider): string {
  const { issuer, id } = provider;
  return givenName(provider) ?? (issuer === undefined ? id : new URL(issuer).host);
}

function givenName({ human_name, brand_name = '' }: ParsedProvider): string | undefined {
  return human_name ?? BRANDS.get(brand_name);
}

function providerConfig(parsed: ParsedProvider, name: string) {
  return {
    id: parsed.id,
    /** Display name. */
    name,
    isEnabled: parsed.enabled,
    issuer: parsed.issuer,
    humanName: parsed.human_name,
    brandName: parsed.brand_name,
    clientId: parsed.client_id,
    /** Present for authentication methods with a secret. */
    clientSecret: parsed.client_secret === undefined ? undefined : new Secret(parsed.client_secret),
    authMethod: parsed.token_endpoint_auth_method,
    /** Present for authentication methods with an assertion. */
    authSigningAlg: parsed.token_endpoint_auth_signing_alg,
    /** Present for the method `sign_in_with_apple`. */
    signInWithApple: appleConfig(parsed),
    idTokenAlg: parsed.id_token_signed_response_alg,
    scope: parsed.scope,
    discoveryMode: parsed.discovery_mode,
    pkceMethod: parsed.pkce_method,
    fetchesUserinfo: parsed.fetch_userinfo,
    /** Undefined: userinfo responses are plain JSON. */
    userinfoAlg: parsed.userinfo_signed_response_alg,
    authorizationEndpoint: parsed.authorization_endpoint,
    tokenEndpoint: parsed.token_endpoint,
    userinfoEndpoint: parsed.userinfo_endpoint,
    jwksUri: parsed.jwks_uri,
    responseMode: parsed.response_mode,
    onBackchannelLogout: parsed.on_backchannel_logout,
    isRegistrationEnabled: parsed.registration_enabled,
    isRegistrationTokenRequired: parsed.registration_token_required,
    additionalParameters: additionalParameters(parsed),
    isLinkingEnabled: parsed.linking_enabled,
    isUnlinkAllowed: parsed.allow_unlink,
    trustsAmr: parsed.trust_amr,
    isNonceOptional: parsed.nonce === 'optional',
    reauthentication: parsed.reauthentication,
    synapseIdpId: parsed.synapse_idp_id,
    subjectTemplate: parsed.claims_imports.subject.template,
    accountNameTemplate: parsed.claims_imports.account_name.template,
    claimsImports: claimsImportsConfig(parsed.claims_imports),
  };
}

function additionalParameters({ additional_authorization_parameters: given, forward_login_hint }: ParsedProvider) {
  const forwarded = forward_login_hint ? { login_hint: compileTemplate('{{ params.login_hint }}') } : {};
  return Object.entries({ ...forwarded, ...given }).map(([name, value]) => ({ name, template: value }));
}

function appleConfig({ sign_in_with_apple: apple }: ParsedProvider) {
  if (apple?.private_key === undefined) return undefined;
  return { privateKey: new Secret(apple.private_key), teamId: apple.team_id, keyId: apple.key_id };
}

function hasOpenid(scope: string): boolean {
  return scope.split(' ').includes('openid');
}

function isMac(algorithm: string): boolean {
  return MAC_ALGORITHMS.some((known) => known === algorithm);
}

function isP256Key(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}
