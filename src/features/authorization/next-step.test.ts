import { describe, expect, test } from 'vitest';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { Client } from '#domain/clients/client.ts';
import { Subjects } from '#domain/clients/subjects.ts';
import { AdminRights } from '#domain/records/admin-rights.ts';
import { SessionLimit } from '#domain/records/session-limit.ts';
import { newId } from '#platform/base/ids.ts';
import { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import { nextStep, type StepFacts, type StepRules } from './next-step.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const SECOND = 1000;

const CLIENT_ID = newId<'client'>(NOW);
const CLIENT: Client = {
  id: CLIENT_ID,
  identifier: CLIENT_ID,
  document: undefined,
  version: 1,
  kind: 'static',
  isVouchedFor: true,
  authMethod: 'client_secret_basic',
  assertionSigningAlg: undefined,
  secret: undefined,
  formerSecret: undefined,
  redirectUris: ['https://app.example/cb'],
  hasParsedRedirectUris: false,
  postLogoutRedirectUris: [],
  grantTypes: ['authorization_code'],
  scope: undefined,
  name: {},
  clientUri: undefined,
  logoUri: undefined,
  policyUri: undefined,
  tosUri: undefined,
  isFirstParty: false,
  defaultMaxAge: undefined,
  requiresAuthTime: false,
  defaultAcrValues: [],
  requiresPushedRequests: false,
  requiresSignedRequests: false,
  requestObjectSigningAlg: undefined,
  hasIdTokenClaims: true,
  claims: {},
  hasStrictAuthMethod: false,
  sector: undefined,
  hasBoundTokens: false,
  idTokenSignedResponseAlg: 'RS256',
  isFapi2: false,
  authorizationSignedResponseAlg: 'RS256',
  introspectionSignedResponseAlg: 'RS256',
  jwks: undefined,
  jwksUri: undefined,
  tokenExchange: undefined,
};

const USER = {
  id: newId<'user'>(NOW),
  username: 'alice',
  displayName: undefined,
  locale: undefined,
  canRequestAdmin: false,
  isLocked: false,
  isDeactivated: false,
};

const API = 'https://api.example';
const scopeRules = new ScopeRules('chat', ['read']);
const SUBJECTS = new Subjects({ pairwiseSubjects: Buffer.alloc(32, 1) });

const RULES: StepRules = {
  subjects: SUBJECTS,
  scopeRules,
  resourceRules: new ResourceRules(scopeRules, [], [{ identifier: API, scopes: ['read'] }]),
  adminRights: new AdminRights({ scopeRules, users: new Set(['operator']), clients: new Set() }),
  sessionLimit: new SessionLimit(undefined, undefined),
  adminArea: { maxAgeSeconds: 1800, requiresSecondFactor: false },
  reauthMaxAgeSeconds: 600,
  rememberConsent: true,
  registrationMethods: { isAnyOpen: true },
};

function active(options: { secondsAgo?: number; username?: string; canRequestAdmin?: boolean } = {}): Viewer {
  const { secondsAgo = 3600, ...user } = options;
  const authenticatedAt = NOW - secondsAgo * SECOND;
  const session = {
    id: newId<'browser-session'>(NOW),
    authenticatedAt,
    acr: undefined,
    amr: [],
    createdAt: authenticatedAt,
  };
  return { kind: 'active', session, user: { ...USER, ...user } };
}

function dead(kind: 'ended' | 'locked' | 'deactivated'): Viewer {
  return { kind, sessionId: newId(NOW), user: USER };
}

type Request = Partial<StepFacts['request']>;

function step(request: Request, facts: Partial<Omit<StepFacts, 'request'>> = {}, rules: Partial<StepRules> = {}) {
  const target = { redirectUri: 'https://app.example/cb', responseMode: 'query', state: undefined } as const;
  const pending = {
    target,
    scope: ['openid'],
    resources: [],
    prompts: [],
    maxAge: undefined,
    loginHint: undefined,
    locale: undefined,
    acr: { values: [], isEssential: false },
    claims: { idToken: [], userinfo: [] },
    expectedSubjects: [],
  };
  return nextStep(
    {
      request: { ...pending, createdAt: NOW - 10 * SECOND, ...request },
      client: CLIENT,
      viewer: active(),
      remembered: ['openid'],
      rememberedResources: [],
      strongestAcr: 'urn:latchkey:acr:1',
      openSessions: { count: 0, deviceIds: [] },
      isAdmitted: true,
      refusals: [],
      isBound: true,
      isRegistrationOffered: false,
      decision: undefined,
      now: NOW,
      ...facts,
    },
    { ...RULES, ...rules },
  );
}

function silently(request: Request = {}, facts: Partial<Omit<StepFacts, 'request'>> = {}) {
  return step({ prompts: ['none'], ...request }, facts);
}

describe('the next step of a request (oauth 7.3)', () => {
  test('4: signed out with prompt=none: login_required', () => {
    expect(silently({}, { viewer: { kind: 'anonymous' } })).toMatchObject({ kind: 'refuse', error: 'login_required' });
  });

  test('5: signed out with prompt=create: registration, however often it was offered', () => {
    const anonymous = { viewer: { kind: 'anonymous' } } as const;
    expect(step({ prompts: ['create'] }, anonymous)).toEqual({ kind: 'register' });
    expect(step({ prompts: ['create'] }, { ...anonymous, isRegistrationOffered: true })).toEqual({ kind: 'register' });
    expect(step({ prompts: ['create'] }, anonymous, { registrationMethods: { isAnyOpen: false } })).toEqual({
      kind: 'login',
    });
  });

  test('8: prompt=create with a session: registration once, and never while it is closed', () => {
    const prompts = ['create'] as const;
    expect(step({ prompts })).toEqual({ kind: 'register' });
    expect(step({ prompts }, { isRegistrationOffered: true }).kind).toBe('fulfill');
    expect(step({ prompts }, {}, { registrationMethods: { isAnyOpen: false } }).kind).toBe('fulfill');
    expect(step({ prompts }, { viewer: dead('ended') }).kind).toBe('interstitial');
    expect(step({ prompts }, { decision: 'cancel' }).kind).toBe('cancel');
    expect(step({ prompts: [...prompts, 'login'] }).kind).toBe('register');
  });

  test('6: signed out: the sign-in page', () => {
    expect(step({}, { viewer: { kind: 'anonymous' } })).toEqual({ kind: 'login' });
  });

  test.each(['ended', 'locked', 'deactivated'] as const)('7: %s: the page that says so, or login_required', (kind) => {
    expect(step({}, { viewer: dead(kind) })).toMatchObject({ kind: 'interstitial', viewer: { kind } });
    expect(silently({}, { viewer: dead(kind) })).toMatchObject({ kind: 'refuse', error: 'login_required' });
  });

  test('10: prompt=login reauthenticates until the authentication is later than the request', () => {
    expect(step({ prompts: ['login'] })).toEqual({ kind: 'reauth' });
    expect(step({ prompts: ['login'] }, { viewer: active({ secondsAgo: 10 }) })).toEqual({ kind: 'reauth' });
    expect(step({ prompts: ['login'] }, { viewer: active({ secondsAgo: 9 }) })).toMatchObject({ kind: 'fulfill' });
  });

  test('10: max_age reauthenticates beyond that age; max_age=0 does so once (S-11)', () => {
    expect(step({ maxAge: 3599 })).toEqual({ kind: 'reauth' });
    expect(step({ maxAge: 3600 })).toMatchObject({ kind: 'fulfill' });
    expect(step({ maxAge: 0 }, { viewer: active({ secondsAgo: 10 }) })).toEqual({ kind: 'reauth' });
    expect(step({ maxAge: 0 }, { viewer: active({ secondsAgo: 9 }) })).toMatchObject({ kind: 'fulfill' });
  });

  test('10: with prompt=none an old authentication is login_required', () => {
    expect(silently({ maxAge: 1 })).toMatchObject({ kind: 'refuse', error: 'login_required' });
  });

  test('10: an admin scope requires a recent authentication, even after the request (R-32)', () => {
    const scope = ['openid', 'urn:latchkey:admin'];
    expect(step({ scope }, { viewer: active({ canRequestAdmin: true, secondsAgo: 601 }) })).toEqual({ kind: 'reauth' });
    const later = { createdAt: NOW - 700 * SECOND, scope };
    expect(step(later, { viewer: active({ canRequestAdmin: true, secondsAgo: 601 }) })).toEqual({ kind: 'reauth' });
    expect(step({ scope }, { viewer: active({ canRequestAdmin: true, secondsAgo: 600 }) }).kind).toBe('consent');
  });

  test('10: with the setting off an old authentication is sufficient for an admin scope', () => {
    const facts = { viewer: active({ canRequestAdmin: true, secondsAgo: 9000 }) };
    expect(step({ scope: ['urn:mas:admin'] }, facts, { reauthMaxAgeSeconds: undefined }).kind).toBe('consent');
  });

  test.each(['urn:latchkey:admin', 'urn:mas:admin', 'urn:synapse:admin:*'])('12: %s is restricted (S-27)', (scope) => {
    const request = { scope: ['openid', scope] };
    expect(step(request)).toMatchObject({
      kind: 'forbidden',
      violations: [{ code: 'admin-scope', scopes: [scope] }],
    });
    expect(silently(request)).toMatchObject({ kind: 'refuse', error: 'access_denied' });
    expect(step(request, { client: { ...CLIENT, isFirstParty: true } })).toMatchObject({ kind: 'forbidden' });
    for (const viewer of [
      active({ canRequestAdmin: true, secondsAgo: 1 }),
      active({ username: 'operator', secondsAgo: 1 }),
    ]) {
      expect(step(request, { viewer }).kind).toBe('consent');
    }
  });

  test('13: asks for consent, or returns consent_required with prompt=none', () => {
    expect(step({}, { remembered: [] })).toMatchObject({ kind: 'consent' });
    expect(silently({}, { remembered: [] })).toMatchObject({ kind: 'refuse', error: 'consent_required' });
  });

  test('13: in another browser, prompt=none needs an interaction, otherwise asks for consent (R-31, S-24)', () => {
    expect(silently({}, { isBound: false })).toMatchObject({ kind: 'refuse', error: 'interaction_required' });
    expect(step({}, { isBound: false })).toMatchObject({ kind: 'consent' });
  });

  test('13: consent given in this browser session skips the page, but no earlier check', () => {
    const facts = { remembered: [], decision: 'consent' } as const;
    expect(step({}, facts)).toMatchObject({ kind: 'fulfill', isDecided: true });
    expect(step({ maxAge: 1 }, facts)).toEqual({ kind: 'reauth' });
    expect(step({ scope: ['urn:latchkey:admin'] }, facts)).toMatchObject({ kind: 'forbidden' });
    expect(step({}, { ...facts, viewer: dead('locked') })).toMatchObject({ kind: 'interstitial' });
  });

  test('a request canceled by its user is canceled, whatever else is missing', () => {
    expect(step({ maxAge: 1, scope: ['urn:latchkey:admin'] }, { decision: 'cancel' })).toEqual({ kind: 'cancel' });
  });

  test('14: all steps are done', () => {
    expect(step({})).toMatchObject({ kind: 'fulfill', isDecided: false });
    expect(silently()).toMatchObject({ kind: 'fulfill', isDecided: false });
  });
});

describe('consent is skipped only if all conditions hold (oauth 7.6)', () => {
  const confidential = CLIENT;
  const firstParty = { ...CLIENT, isFirstParty: true };
  const publicClient = { ...CLIENT, authMethod: 'none' } as const;
  const firstPartyPublic = { ...publicClient, isFirstParty: true };
  const selfMade = { ...publicClient, isVouchedFor: false };
  const loopback = { redirectUri: 'http://127.0.0.1:5173/cb', responseMode: 'query', state: undefined } as const;
  const plain = { ...loopback, redirectUri: 'http://app.example/cb' };
  const api = 'urn:chat:client:api:*';
  const device = 'urn:chat:client:device:ABCDEFGHIJ';
  const native = { redirectUri: 'com.example.app:/cb', responseMode: 'query', state: undefined } as const;

  test.each([
    ['every scope was agreed to', confidential, { scope: ['openid', 'email'] }, ['openid', 'email'], 'fulfill'],
    ['a scope is new', confidential, { scope: ['openid', 'email'] }, ['openid'], 'consent'],
    ['nothing is remembered', confidential, {}, [], 'consent'],
    ['nothing is remembered of a first-party client', firstParty, { scope: ['openid', 'email'] }, [], 'fulfill'],
    ['prompt=consent', confidential, { prompts: ['consent'] }, ['openid'], 'consent'],
    ['prompt=consent for a first-party client', firstParty, { prompts: ['consent'] }, ['openid'], 'consent'],
    ['prompt=select_account', confidential, { prompts: ['select_account'] }, ['openid'], 'consent'],
    ['the client API', confidential, { scope: [api] }, [api], 'consent'],
    ['a device', confidential, { scope: [api, device] }, [api, device], 'consent'],
    ['the client API for a first-party client', firstParty, { scope: [api, device] }, [], 'fulfill'],
    ['offline access is new', confidential, { scope: ['openid', 'offline_access'] }, ['openid'], 'consent'],
    ['offline access was agreed to', confidential, { scope: ['offline_access'] }, ['offline_access'], 'fulfill'],
    ['offline access is new to a first-party client', firstParty, { scope: ['offline_access'] }, [], 'consent'],
    ['a public client at https', publicClient, {}, ['openid'], 'fulfill'],
    ['a native application', publicClient, { target: native }, ['openid'], 'consent'],
    ['a native first-party application', firstPartyPublic, { target: native }, ['openid'], 'consent'],
    ['a configured public client on loopback', publicClient, { target: loopback }, ['openid'], 'fulfill'],
    ['a configured public client on plain http', publicClient, { target: plain }, ['openid'], 'fulfill'],
    ['a configured public client on loopback, never asked', publicClient, { target: loopback }, [], 'consent'],
    ['a public client on loopback that registered itself', selfMade, { target: loopback }, ['openid'], 'consent'],
    [
      'more than identity for a configured public client on loopback',
      publicClient,
      { target: loopback, scope: ['openid', 'offline_access'] },
      ['openid', 'offline_access'],
      'consent',
    ],
    [
      'more than identity for a first-party public client on loopback',
      firstPartyPublic,
      { target: loopback, scope: ['openid', 'offline_access'] },
      ['openid', 'offline_access'],
      'fulfill',
    ],
    [
      'the client API for a first-party public client on loopback',
      firstPartyPublic,
      { target: loopback, scope: [api] },
      ['openid'],
      'consent',
    ],
    ['a first-party public client on loopback, never asked', firstPartyPublic, { target: loopback }, [], 'consent'],
    ['a confidential client elsewhere', confidential, { target: native }, ['openid'], 'fulfill'],
  ] as const)('%s', (_, client, request: Request, remembered, kind) => {
    expect(step(request, { client, remembered }).kind).toBe(kind);
  });

  test('an admin scope always requires consent', () => {
    const facts = { client: firstParty, viewer: active({ canRequestAdmin: true, secondsAgo: 1 }) };
    expect(step({ scope: ['urn:latchkey:admin'] }, { ...facts, remembered: ['urn:latchkey:admin'] }).kind).toBe(
      'consent',
    );
  });

  test('with the setting off only first-party clients skip it', () => {
    expect(step({}, {}, { rememberConsent: false }).kind).toBe('consent');
    expect(step({}, { client: firstParty }, { rememberConsent: false }).kind).toBe('fulfill');
  });
});
