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
  return webUrl().optional().describe(`${purpose}, in place of the discovered one.`);
}

const appleKey = secret({
  pattern: /-----BEGIN (?:EC )?PRIVATE KEY-----/,
  expected: 'expected a private key in PEM, as Apple hands it out (AuthKey_….p8)',
}).refine(isP256Key, { error: 'expected a private key on the curve P-256, as Apple hands it out (AuthKey_….p8)' });

const provider = mapping({
  id: chosenUlid<'upstream-provider'>().describe(
    'Identifier of the provider, unique. The redirect URI to register there is `<public_base>/upstream/callback/<id>`.',
  ),
  enabled: bool().prefault(true).describe('`false`: nobody signs in through it; links of accounts to it stay.'),
  issuer: webUrl({ allowQuery: false })
    .optional()
    .describe('Issuer of the provider, exactly as it names itself; needed unless `discovery_mode` is `disabled`.'),
  human_name: text({ maximum: 100 })
    .optional()
    .describe('Name that people see. Default: that of its brand, else the issuer without its scheme, else the id.'),
  brand_name: text({
    pattern: /^[a-z][a-z0-9_-]{0,31}$/,
    expected: 'expected a lower-case word of at most 32 characters',
  })
    .optional()
    .describe(
      'Whose mark its button has: `apple`, `discord`, `facebook`, `github`, `gitlab`, `google`, `keycloak`, `linkedin`, `microsoft`, `twitter`; any other word has its initial.',
    ),
  client_id: text({ maximum: 2048 }).describe('What the provider knows this service by.'),
  client_secret: hint(secret(), { trimmed: true })
    .optional()
    .describe('What it proves itself with; for the methods `client_secret_*` only.'),
  client_secret_file: secretFile('client_secret'),
  token_endpoint_auth_method: choice(AUTH_METHODS).describe(
    'How this service proves itself at the token endpoint. `private_key_jwt`: with its own signing keys, which the provider finds at `<public_base>/oauth2/keys.json`.',
  ),
  token_endpoint_auth_signing_alg: choice([...SIGNING_ALGORITHMS, ...MAC_ALGORITHMS])
    .optional()
    .describe('Algorithm of its assertions; for `client_secret_jwt` and `private_key_jwt`, which need it.'),
  sign_in_with_apple: mapping({
    private_key: appleKey.optional().describe('Private key of the Apple developer account.'),
    private_key_file: secretFile('private_key'),
    team_id: text({ maximum: 64 }).describe('Identifier of the team.'),
    key_id: text({ maximum: 64 }).describe('Identifier of the key.'),
  })
    .optional()
    .describe('For the method of this name, which makes a client secret for each request.'),
  id_token_signed_response_alg: signature
    .prefault('RS256')
    .describe('The one algorithm of its ID tokens. Those of a shared secret need `client_secret`.'),
  scope: text({
    maximum: 2048,
    pattern: /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    expected: 'expected scope names separated by single spaces',
  })
    .prefault('openid')
    .describe('What is asked for. Without `openid` the provider need not send an ID token.'),
  discovery_mode: choice(['oidc', 'insecure', 'disabled'])
    .prefault('oidc')
    .describe(
      '`oidc`: endpoints are read from the metadata of the issuer, which must name that issuer, and https addresses. `insecure`: without these two checks. `disabled`: only what is configured here.',
    ),
  pkce_method: choice(['auto', 'always', 'never'])
    .prefault('auto')
    .describe('Whether codes are protected by PKCE (S256). `auto`: when the metadata says that the provider can.'),
  fetch_userinfo: bool().prefault(false).describe('Claims are also read at the userinfo endpoint.'),
  userinfo_signed_response_alg: signature
    .optional()
    .describe('The answer there is a JWT, signed with this algorithm. Default: it is plain JSON.'),
  authorization_endpoint: endpoint('Where people sign in'),
  token_endpoint: endpoint('Where codes are exchanged'),
  userinfo_endpoint: endpoint('Where claims are read'),
  jwks_uri: endpoint('Where the keys are that sign ID tokens'),
  response_mode: choice(['query', 'form_post'])
    .optional()
    .describe('How the answer comes back, and the only way in which it is accepted. Default: either.'),
  on_backchannel_logout: choice(['do_nothing', 'logout_browser_only', 'logout_all'])
    .prefault('do_nothing')
    .describe(
      'What ends here when the provider says that somebody signed out there, at `<public_base>/upstream/backchannel-logout/<id>`. `logout_browser_only`: the browser sessions that came of it. `logout_all`: these, and the sessions of applications and chat clients that grew out of them.',
    ),
  registration_enabled: bool()
    .prefault(true)
    .describe('People who have no account here may make one by signing in there.'),
  registration_token_required: bool()
    .prefault(false)
    .describe('Accounts are made by signing in there only with a registration token.'),
  additional_authorization_parameters: parameterTemplates()
    .prefault({})
    .describe(
      'Further parameters of the address where people sign in. Templates read `params`, the request of the application, and `logged_out`; one that is empty or has no result is left out.',
    ),
  forward_login_hint: hint(bool(), { deprecated: 'use "login_hint" in "additional_authorization_parameters"' })
    .prefault(false)
    .describe(
      'The `login_hint` of the application is passed on, as with `login_hint: "{{ params.login_hint }}"` in `additional_authorization_parameters`.',
    ),
  linking_enabled: bool()
    .prefault(true)
    .describe('People may link an account that they have here, once they are signed in to both.'),
  allow_unlink: bool()
    .prefault(true)
    .describe('People may take the link to their account there away again, as long as something else lets them in.'),
  trust_amr: bool()
    .prefault(false)
    .describe('The authentication methods (`amr`) that it names are passed on to applications.'),
  nonce: choice(['required', 'optional'])
    .prefault('required')
    .describe(
      'Whether ID tokens must have the `nonce` that was sent. `optional`: one without is accepted, for providers that leave it out, such as LinkedIn; another nonce never is.',
    ),
  reauthentication: choice(['auth_time', 'prompt'])
    .prefault('auth_time')
    .describe(
      'What proves that the provider had somebody sign in again when they must confirm who they are. `auth_time`: the ID token says that it was within the last 5 minutes. `prompt`: an ID token without `auth_time`, or no ID token, is accepted as well; only for providers that ask for the password at every `prompt=login`.',
    ),
  synapse_idp_id: text({
    maximum: 255,
    pattern: /^[A-Za-z0-9._~-]+$/,
    expected: 'expected the name that Synapse had for it, for example oidc-google',
  })
    .optional()
    .describe(
      'What a Synapse called this provider that had it before: `oidc-` and its `idp_id`. Chat clients that remember that name in `login/sso/redirect/NAME` are sent to the provider.',
    ),
  claims_imports: claimsImports.prefault({}).describe('What the claims of a person are used for.'),
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
      problem(['scope'], 'without "openid" only userinfo says who signed in: set "fetch_userinfo"');
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
        else problem([index, key], `"${name}" is the ${key} of providers[${other}] as well`);
      }
    }
  })
    .prefault([])
    .describe('In the order in which people see them.'),
});

type ParsedProvider = z.output<typeof upstreamOAuth2Section>['providers'][number];

export type UpstreamProviderConfig = Immutable<ReturnType<typeof providerConfig>>;

export function upstreamOAuth2Config(parsed: z.output<typeof upstreamOAuth2Section>) {
  return { providers: parsed.providers.map(providerConfig) };
}

function providerConfig(parsed: ParsedProvider) {
  return {
    id: parsed.id,
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
