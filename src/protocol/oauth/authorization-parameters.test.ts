import { describe, expect, test } from 'vitest';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { checkAuthorizationRequest, plainTarget } from './authorization-parameters.ts';
import type { ReceivedRequest, RequestingClient } from './request-checks.ts';
import { repeatedDecisiveParameter } from './request-parameters.ts';
import { ResourceRules } from './resource-rules.ts';
import { ScopeRules } from './scopes.ts';

const FILES = ['files.read', 'files.write'];
const scopeRules = new ScopeRules('chat', FILES);
const resourceRules = new ResourceRules(
  scopeRules,
  [],
  [
    { identifier: 'https://api.example', scopes: [] },
    { identifier: 'https://files.example', scopes: FILES },
  ],
);

const RULES = { scopeRules, resourceRules, subjectOfHint: (hint: string) => `subject of ${hint}` };
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const CONFIDENTIAL: RequestingClient = {
  isPublic: false,
  redirectUris: ['https://app.example/cb'],
  grantTypes: ['authorization_code'],
  scope: undefined,
  defaultMaxAge: undefined,
  requiresPushedRequests: false,
  defaultAcrValues: [],
  sector: undefined,
  hasBoundTokens: false,
  isFapi2: false,
  requiresSignedRequests: false,
};
const PUBLIC: RequestingClient = { ...CONFIDENTIAL, isPublic: true };
const GOOD = { response_type: 'code', redirect_uri: 'https://app.example/cb', scope: 'openid', state: 'st' };

function parse(text: string): FormParameters {
  const parameters = FormParameters.parse(text);
  if (parameters === undefined) throw new Error('not a query');
  return parameters;
}

function plain(text: string): ReceivedRequest {
  return { parameters: parse(text), isPushed: false, isSigned: false };
}

function check(fields: Readonly<Record<string, string | undefined>>, client: RequestingClient = CONFIDENTIAL) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...GOOD, ...fields })) if (value !== undefined) query.set(name, value);
  return checkAuthorizationRequest(plain(query.toString()), client, RULES);
}

function accepted(fields: Readonly<Record<string, string | undefined>>, client: RequestingClient = CONFIDENTIAL) {
  const checked = check(fields, client);
  if (checked.kind !== 'accepted') throw new Error(`refused: ${checked.description}`);
  return checked.request;
}

describe('authorization request', () => {
  test('is parsed completely', () => {
    const request = accepted({
      scope: 'openid email unknown',
      nonce: 'n',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      prompt: 'login  consent create else',
      max_age: '60',
      login_hint: 'alice',
      ui_locales: 'de en',
      display: 'popup',
      acr_values: '2 urn:latchkey:acr:1 urn:latchkey:acr:1',
      claims: '{"id_token": {"name": null, "sub": {"value": "01HZX7T3Q8V3M5N6P7R8S9T0AB"}}}',
      id_token_hint: 'h',
      unknown_parameter: 'x',
    });
    expect(request).toEqual({
      target: { redirectUri: 'https://app.example/cb', responseMode: 'query', state: 'st' },
      isRedirectUriSent: true,
      scope: ['openid', 'email'],
      resources: [],
      nonce: 'n',
      codeChallenge: CHALLENGE,
      prompts: ['login', 'consent', 'create'],
      maxAge: 60,
      loginHint: 'alice',
      uiLocales: 'de en',
      acr: { values: ['urn:latchkey:acr:1'], isEssential: false },
      claims: { idToken: ['name'], userinfo: [] },
      subjects: ['01HZX7T3Q8V3M5N6P7R8S9T0AB'],
      hintedSubject: 'subject of h',
    });
  });

  test('without redirect URI uses the single registered one, and records that it was not sent', () => {
    const request = accepted({ redirect_uri: undefined });
    expect(request.target.redirectUri).toBe('https://app.example/cb');
    expect(request.isRedirectUriSent).toBe(false);
  });

  test.each([undefined, ''])(
    'with redirect URI %j and several registered ones gets an error page (S-02)',
    (redirect_uri) => {
      const client = { ...CONFIDENTIAL, redirectUris: ['https://app.example/cb', 'https://app.example/other'] };
      expect(check({ redirect_uri }, client)).toMatchObject({ kind: 'page', error: 'invalid_redirect_uri' });
      expect(check({ redirect_uri }, { ...client, redirectUris: [] })).toMatchObject({ kind: 'page' });
    },
  );

  test('without scope uses the registered one, and must name one when none is registered', () => {
    expect(accepted({ scope: undefined }, { ...CONFIDENTIAL, scope: ['openid', 'email'] }).scope).toEqual([
      'openid',
      'email',
    ]);
    expect(check({ scope: undefined })).toMatchObject({ kind: 'redirect', error: 'invalid_scope' });
  });

  test('without scope and without a registered one uses the scopes of the named resources', () => {
    const resource = 'https://files.example';
    expect(accepted({ scope: undefined, resource }).scope).toEqual(['files.read', 'files.write']);
    const registered = { ...CONFIDENTIAL, scope: ['openid', 'files.read'] };
    expect(accepted({ scope: undefined, resource }, registered).scope).toEqual(['openid', 'files.read']);
    expect(check({ scope: undefined, resource: 'https://api.example' })).toMatchObject({ error: 'invalid_scope' });
    expect(check({ scope: undefined, resource: 'https://unknown.example' })).toMatchObject({ error: 'invalid_target' });
    expect(check({ scope: '"', resource })).toMatchObject({ error: 'invalid_scope' });
  });

  test('without max_age uses the default of the client', () => {
    expect(accepted({}, { ...CONFIDENTIAL, defaultMaxAge: 300 }).maxAge).toBe(300);
    expect(accepted({ max_age: '0' }, { ...CONFIDENTIAL, defaultMaxAge: 300 }).maxAge).toBe(0);
  });

  test.each(['fragment', 'form_post', 'query', 'query.jwt', 'fragment.jwt', 'form_post.jwt'] as const)(
    'requests its response by %s',
    (mode) => {
      expect(accepted({ response_mode: mode }).target.responseMode).toBe(mode);
    },
  );

  test.each(['JWT', 'token.jwt', 'web_message', 'Query'])('with response_mode %s gets an error page (S-07)', (mode) => {
    expect(check({ response_mode: mode })).toMatchObject({ kind: 'page', error: 'invalid_request' });
  });

  test.each([
    ['token', 'fragment'],
    ['id_token', 'fragment'],
    ['code token', 'fragment'],
    ['code id_token token', 'fragment'],
    ['none', 'query'],
    ['unknown', 'query'],
    ['code code', 'query'],
  ] as const)('with response_type %s is rejected by %s (S-07, R-19)', (response_type, responseMode) => {
    expect(check({ response_type })).toMatchObject({
      kind: 'redirect',
      error: 'unsupported_response_type',
      target: { responseMode, state: 'st' },
    });
    expect(check({ response_type, response_mode: 'query' })).toMatchObject({ target: { responseMode: 'query' } });
  });

  test('without response_type is rejected', () => {
    expect(check({ response_type: undefined })).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
  });

  test('with a state of more than 8,192 characters is rejected without returning it (S-07)', () => {
    expect(accepted({ state: 's'.repeat(8192) }).target.state).toHaveLength(8192);
    expect(check({ state: 's'.repeat(8193) })).toMatchObject({
      kind: 'redirect',
      error: 'invalid_request',
      target: { state: undefined },
    });
  });

  test.each([
    ['acr_values', 255],
    ['claims_locales', 255],
    ['display', 255],
    ['id_token_hint', 4096],
    ['login_hint', 256],
    ['nonce', 512],
    ['prompt', 255],
    ['ui_locales', 255],
  ])('with a %s of more than %i characters is rejected', (name, characters) => {
    expect(check({ [name]: 'x'.repeat(characters) }).kind).toBe('accepted');
    expect(check({ [name]: 'x'.repeat(characters + 1) })).toMatchObject({
      kind: 'redirect',
      error: 'invalid_request',
      description: `${name} must have at most ${characters} characters`,
    });
  });

  test.each(['-1', 'abc', '1e3', '99999999999999999999', '0x10', '1.5', '2147483648', ' 1'])(
    'with max_age %s is rejected (S-11)',
    (max_age) => {
      expect(check({ max_age })).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
    },
  );

  test.each(['0', '1', '2147483647'])('with max_age %s is accepted', (max_age) => {
    expect(accepted({ max_age }).maxAge).toBe(Number(max_age));
  });

  test.each(['none login', 'none consent', 'none create', 'consent none'])('with prompt %s is rejected', (prompt) => {
    expect(check({ prompt })).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
  });

  test.each([
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
    ['authorization_details', 'invalid_request'],
    ['claims', 'invalid_request'],
    ['dpop_jkt', 'invalid_request'],
    ['resource', 'invalid_target'],
  ])('with %s, which must not be ignored, is rejected with %s (S-13)', (name, error) => {
    expect(check({ [name]: 'x' })).toMatchObject({ kind: 'redirect', error });
    expect(check({ [name]: 'x', redirect_uri: 'https://evil.example/' })).toMatchObject({ kind: 'page' });
  });

  test.each([
    ['nonce', 512],
    ['login_hint', 256],
  ])('with a %s of more than %i characters is rejected', (name, maximum) => {
    expect(check({ [name]: 'x'.repeat(maximum) }).kind).toBe('accepted');
    expect(check({ [name]: 'x'.repeat(maximum + 1) })).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
  });

  test('of a client without the grant type is rejected', () => {
    expect(check({}, { ...CONFIDENTIAL, grantTypes: ['client_credentials'] })).toMatchObject({
      kind: 'redirect',
      error: 'unauthorized_client',
    });
  });

  test.each([
    ['without challenge', {}],
    ['with plain', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }],
    ['without method', { code_challenge: CHALLENGE }],
    ['with method s256', { code_challenge: CHALLENGE, code_challenge_method: 's256' }],
    ['with a challenge of 42 characters', { code_challenge: CHALLENGE.slice(1), code_challenge_method: 'S256' }],
  ])('of a public client %s is rejected: a stolen code could be redeemed (S-20)', (_, fields) => {
    expect(check(fields, PUBLIC)).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
  });

  test.each([
    ['malformed', 'a"b'],
    ['unknown', 'nothing known'],
    ['senseless', 'urn:chat:client:device:ABCDEFGHIJ'],
  ])('with %s scope is rejected', (_, scope) => {
    expect(check({ scope })).toMatchObject({ kind: 'redirect', error: 'invalid_scope' });
  });

  test.each(['scope', 'nonce', 'prompt', 'code_challenge', 'id_token_hint'])(
    'with %s given twice is rejected by redirect (RFC 6749 3.1, S-02)',
    (name) => {
      const query = `${new URLSearchParams(GOOD)}&${name}=a&${name}=b`;
      const checked = checkAuthorizationRequest(plain(query), CONFIDENTIAL, RULES);
      expect(checked).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
    },
  );

  test.each(['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'])(
    'with %s given twice has no certain response target (S-02)',
    (name) => {
      expect(repeatedDecisiveParameter(parse(`${name}=a&scope=b&${name}=a`))).toBe(name);
      expect(repeatedDecisiveParameter(parse(`${name}=a&scope=b&scope=c`))).toBeUndefined();
    },
  );

  test.each(['anything', '%3Cscript%3E', 'audience'])(
    'with %s given twice is accepted: the parameter has no meaning here',
    (name) => {
      const query = `${new URLSearchParams(GOOD)}&${name}=a&${name}=b`;
      expect(checkAuthorizationRequest(plain(query), CONFIDENTIAL, RULES).kind).toBe('accepted');
    },
  );
});

/**
 * Faults in the order of oauth 6.3. Each request has its own fault and all later ones, and the first determines the
 * error.
 */
const FAULTS: readonly (readonly [what: string, fields: Record<string, string>, expected: Record<string, unknown>])[] =
  [
    ['address', { redirect_uri: 'https://evil.example/' }, { kind: 'page', error: 'invalid_redirect_uri' }],
    ['response mode', { response_mode: 'x' }, { kind: 'page', error: 'invalid_request' }],
    ['state', { state: 's'.repeat(8193) }, { description: 'state must have at most 8192 characters' }],
    ['nonce', { nonce: 'n'.repeat(513) }, { description: 'nonce must have at most 512 characters' }],
    ['request_uri', { request_uri: 'x' }, { error: 'request_uri_not_supported' }],
    ['response type', { response_type: 'x' }, { error: 'unsupported_response_type' }],
    ['PKCE', { code_challenge: 'x' }, { description: 'code_challenge_method must be S256' }],
    ['scope', { scope: '"' }, { error: 'invalid_scope' }],
    ['resource', { resource: 'x' }, { error: 'invalid_target' }],
  ];

describe('the first error of a request is reported (oauth 6.3)', () => {
  test.each(FAULTS.map(([what, , expected], index) => [what, index, expected] as const))('%s', (_, index, expected) => {
    const fields = Object.assign({}, ...FAULTS.slice(index).map(([, fault]) => fault));
    expect(check(fields)).toMatchObject(expected);
  });
});

describe('a client that must push its requests (oauth 6.3 row 9)', () => {
  const pushing = { ...CONFIDENTIAL, requiresPushedRequests: true };

  test('cannot use a plain one, checked after unsupported parameters and before the response type', () => {
    expect(check({ response_type: 'token' }, pushing)).toMatchObject({ kind: 'redirect', error: 'invalid_request' });
    expect(check({ registration: '{}' }, pushing)).toMatchObject({ error: 'registration_not_supported' });
  });

  test('can use a pushed one', () => {
    const query = new URLSearchParams(GOOD).toString();
    const received = { ...plain(query), isPushed: true };
    expect(checkAuthorizationRequest(received, pushing, RULES).kind).toBe('accepted');
  });
});

describe('rejection of a request with unreadable parameters', () => {
  const target = (query: string) => plainTarget(parse(query), CONFIDENTIAL);

  test('is sent to the target of the plain parameters, in their mode and with their state', () => {
    expect(target('redirect_uri=https://app.example/cb&state=s&response_mode=fragment')).toEqual({
      redirectUri: 'https://app.example/cb',
      responseMode: 'fragment',
      state: 's',
    });
    expect(target(`redirect_uri=https://app.example/cb&state=${'s'.repeat(8193)}`)?.state).toBeUndefined();
  });

  test.each(['', 'redirect_uri=https://evil.example/cb', 'redirect_uri=https://app.example/cb&response_mode=x'])(
    'is an error page for %j',
    (query) => expect(target(query)).toBeUndefined(),
  );
});
