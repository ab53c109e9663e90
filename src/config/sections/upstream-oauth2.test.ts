import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { load, loadYaml, problemsOfYaml } from '../fixture.test-support.ts';

const ULID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const SECRET = 'x'.repeat(32);

function provider(lines: readonly string[]): string {
  const all = [`id: ${ULID}`, 'client_id: latchkey', ...lines];
  return `upstream_oauth2:\n  providers:\n    - ${all.join('\n      ')}\n`;
}

const ISSUER = 'issuer: https://id.example';
const NONE = 'token_endpoint_auth_method: none';

describe('consistency rules of a provider', () => {
  test.each([
    [
      'client_secret_post needs a secret',
      [ISSUER, 'token_endpoint_auth_method: client_secret_post'],
      'needs "client_secret"',
    ],
    [
      '"none" does not allow a secret',
      [ISSUER, NONE, 'client_secret: hush'],
      'not allowed with token_endpoint_auth_method "none"',
    ],
    [
      'private_key_jwt needs an algorithm',
      [ISSUER, 'token_endpoint_auth_method: private_key_jwt'],
      'needs "token_endpoint_auth_signing_alg"',
    ],
    [
      'private_key_jwt needs an asymmetric algorithm',
      [ISSUER, 'token_endpoint_auth_method: private_key_jwt', 'token_endpoint_auth_signing_alg: HS256'],
      'not an algorithm of "private_key_jwt"',
    ],
    [
      'client_secret_jwt needs a long secret',
      [
        ISSUER,
        'token_endpoint_auth_method: client_secret_jwt',
        'token_endpoint_auth_signing_alg: HS256',
        'client_secret: hush',
      ],
      'needs at least 32 bytes',
    ],
    [
      'unsigned ID tokens are rejected',
      [ISSUER, NONE, 'id_token_signed_response_alg: none'],
      'expected one of "RS256"',
    ],
    ['HS256 needs a secret', [ISSUER, NONE, 'id_token_signed_response_alg: HS256'], 'needs a "client_secret"'],
    ['discovery needs an issuer', [NONE], 'needs "issuer"'],
    [
      'without discovery, the endpoints are needed',
      [NONE, 'discovery_mode: disabled'],
      'needs "authorization_endpoint"',
    ],
    ['URLs must be https', [ISSUER.replace('https', 'http'), NONE], 'must be https, unless it is on this machine'],
    ['without openid, userinfo is needed', [ISSUER, NONE, 'scope: email'], 'set "fetch_userinfo"'],
    [
      'an algorithm for userinfo needs fetch_userinfo',
      [ISSUER, NONE, 'userinfo_signed_response_alg: RS256'],
      'not used without "fetch_userinfo"',
    ],
    [
      'sign_in_with_apple needs its section',
      [ISSUER, 'token_endpoint_auth_method: sign_in_with_apple'],
      'of the same name',
    ],
    [
      'parameters of the request cannot be overridden',
      [ISSUER, NONE, 'additional_authorization_parameters: {state: x, login_hint: y}'],
      'additional_authorization_parameters.state: is set by the sign-in itself',
    ],
    [
      'request_uri cannot be added',
      [ISSUER, NONE, 'additional_authorization_parameters: {request_uri: "https://x.example"}'],
      'additional_authorization_parameters.request_uri: is set by the sign-in itself',
    ],
    [
      'an invalid parameter name',
      [ISSUER, NONE, 'additional_authorization_parameters: {"a b": x}'],
      'expected a name of letters, digits',
    ],
    [
      'an invalid parameter template',
      [ISSUER, NONE, 'additional_authorization_parameters: {login_hint: "{{ user.sub }}"}'],
      'additional_authorization_parameters.login_hint: expected a template (line 1, column 4: unknown variable "user"; available: params, logged_out)',
    ],
    [
      'too many parameters',
      [
        ISSUER,
        NONE,
        `additional_authorization_parameters: {${Array.from({ length: 21 }, (_, n) => `p${n}: x`).join(', ')}}`,
      ],
      'has more than 20 parameters',
    ],
    [
      'an invalid claim template',
      [ISSUER, NONE, 'claims_imports: {subject: {template: "{{ user.sub | lowr }}"}}'],
      'claims_imports.subject.template: expected a template (line 1, column 15: unknown filter "lowr"; available:',
    ],
    [
      'the section sign_in_with_apple needs its method',
      [ISSUER, NONE, 'sign_in_with_apple: {team_id: T, key_id: K, private_key: x}'],
      '',
    ],
  ])('%s', (_, lines, problem) => {
    expect(problemsOfYaml(provider(lines)).join('\n')).toContain(problem);
    expect(problemsOfYaml(provider(lines))).not.toEqual([]);
  });

  test('two providers cannot share an ID', () => {
    const one = provider([ISSUER, NONE]);
    const two = one + one.split('\n').slice(2).join('\n');
    expect(problemsOfYaml(two).join('\n')).toContain('is also the id of providers[0]');
  });

  test.each([
    ['http on this machine', ['issuer: http://127.0.0.1:4000', NONE]],
    ['http elsewhere, when the checks are off', ['issuer: http://id.example', NONE, 'discovery_mode: insecure']],
    [
      'HS256 with a long secret',
      [
        ISSUER,
        'token_endpoint_auth_method: client_secret_basic',
        `client_secret: ${SECRET}`,
        'id_token_signed_response_alg: HS256',
      ],
    ],
    [
      'GitHub, without discovery and ID token',
      [
        NONE,
        'discovery_mode: disabled',
        'scope: read:user',
        'fetch_userinfo: true',
        'authorization_endpoint: https://github.com/login/oauth/authorize',
        'token_endpoint: https://github.com/login/oauth/access_token',
        'userinfo_endpoint: https://api.github.com/user',
      ],
    ],
  ])('%s is valid', (_, lines) => {
    expect(problemsOfYaml(provider(lines))).toEqual([]);
  });

  test.each(['add', 'set', 'replace'])('on_conflict %s causes a warning at every start, with its position', (rule) => {
    for (const action of ['force', 'require']) {
      const lines = [ISSUER, NONE, `claims_imports: {localpart: {action: ${action}, on_conflict: ${rule}}}`];
      expect(load({ files: { 'latchkey.yaml': provider(lines) } }).warnings).toContain(
        `upstream_oauth2.providers[0].claims_imports.localpart.on_conflict: with "${rule}", anyone who controls the claim at the provider can take over accounts`,
      );
    }
  });

  test.each([
    ['account: {password_registration_enabled: true}', true],
    ['account: {password_registration_enabled: true, password_registration_token_required: true}', false],
    ['account: {password_registration_enabled: false}', false],
  ])('on_conflict with %s has a specific warning: %s', (account, isWarned) => {
    const lines = [ISSUER, NONE, 'claims_imports: {localpart: {action: force, on_conflict: add}}'];
    const { warnings } = load({ files: { 'latchkey.yaml': `${provider(lines)}\n${account}\n` } });
    expect(warnings.join('\n').includes('with open registration allows')).toBe(isWarned);
  });

  test.each(['{action: force, on_conflict: fail}', '{action: force}', '{action: suggest}'])(
    'localpart %s causes no warning',
    (localpart) => {
      const lines = [ISSUER, NONE, `claims_imports: {localpart: ${localpart}}`];
      expect(load({ files: { 'latchkey.yaml': provider(lines) } }).warnings.join()).not.toContain('on_conflict');
    },
  );

  test.each([
    ['{localpart: {on_conflict: add}}', 'localpart.on_conflict: "add" needs the action "force" or "require"'],
    [
      '{localpart: {action: suggest, on_conflict: set}}',
      'localpart.on_conflict: "set" needs the action "force" or "require"',
    ],
    ['{localpart: {trust_provider: true}}', 'localpart.trust_provider: needs "on_conflict" other than "fail"'],
    ['{skip_confirmation: true}', 'skip_confirmation: needs "localpart" with the action "require"'],
    [
      '{skip_confirmation: true, localpart: {action: force}}',
      'skip_confirmation: needs "localpart" with the action "require"',
    ],
    [
      '{skip_confirmation: true, localpart: {action: require}, email: {action: suggest}}',
      'email.action: "suggest" does not go with "skip_confirmation"',
    ],
    [
      '{skip_confirmation: true, localpart: {action: require}, displayname: {action: suggest}}',
      'displayname.action: "suggest" does not go with "skip_confirmation"',
    ],
  ])('claims_imports %s is rejected', (claims, problem) => {
    const problems = problemsOfYaml(provider([ISSUER, NONE, `claims_imports: ${claims}`])).join('\n');
    expect(problems).toContain(`upstream_oauth2.providers[0].claims_imports.${problem}`);
  });

  test('a Synapse name belongs to one provider', () => {
    const one = provider([ISSUER, NONE, 'synapse_idp_id: oidc-google']);
    const other = provider([ISSUER, NONE, 'synapse_idp_id: oidc-google']).split('\n').slice(2).join('\n');
    const two = `${one}${other.replace(ULID, ULID.replace('AB', 'AC'))}`;
    expect(problemsOfYaml(two).join('\n')).toContain('"oidc-google" is also the synapse_idp_id of providers[0]');
  });

  test('a provider without issuer causes a warning', () => {
    const lines = [
      NONE,
      'discovery_mode: disabled',
      'authorization_endpoint: https://id.example/a',
      'token_endpoint: https://id.example/t',
      'jwks_uri: https://id.example/k',
    ];
    const { warnings } = load({ files: { 'latchkey.yaml': provider(lines) } });
    expect(warnings.join('\n')).toContain('upstream_oauth2.providers[0]: "issuer" is required');
  });
});

test('additional parameters can come from the environment, as JSON', () => {
  const name = 'LATCHKEY__UPSTREAM_OAUTH2__PROVIDERS__0__ADDITIONAL_AUTHORIZATION_PARAMETERS';
  const { config } = load({
    files: { 'latchkey.yaml': provider([ISSUER, NONE]) },
    environment: { [name]: '{"hd": "example.org"}' },
  });
  expect(config.upstreamOauth2.providers[0]?.additionalParameters).toMatchObject([{ name: 'hd' }]);
});

test('forward_login_hint is reported with its replacement', () => {
  const { deprecations } = load({ files: { 'latchkey.yaml': provider([ISSUER, NONE, 'forward_login_hint: true']) } });
  expect(deprecations.join('\n')).toContain(
    'forward_login_hint is deprecated: use "login_hint" in "additional_authorization_parameters"',
  );
});

describe('Sign in with Apple', () => {
  const key = (namedCurve: string): string =>
    generateKeyPairSync('ec', {
      namedCurve,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
  const withKey = (pem: string): string =>
    provider([
      'issuer: https://appleid.apple.com',
      'token_endpoint_auth_method: sign_in_with_apple',
      `sign_in_with_apple: ${JSON.stringify({ team_id: 'TEAM', key_id: 'KEY', private_key: pem })}`,
    ]);

  test('has a key on the curve that Apple uses', () => {
    const pem = key('P-256');
    const [read] = loadYaml(withKey(pem)).upstreamOauth2.providers;
    expect(read?.signInWithApple).toMatchObject({ teamId: 'TEAM', keyId: 'KEY' });
    expect(read?.signInWithApple?.privateKey.reveal()).toBe(pem);
    for (const wrong of [key('P-384'), 'hush', '-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----']) {
      const problems = problemsOfYaml(withKey(wrong)).join('\n');
      expect(problems).toContain('as issued by Apple');
      expect(problems).not.toContain('hush');
    }
  });
});
