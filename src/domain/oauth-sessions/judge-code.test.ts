import { describe, expect, test } from 'vitest';
import type { CodeRow } from './judge-code.ts';
import { type CodeRefusal, type CodeRequest, judgeCode } from './judge-code.ts';

const NOW = 1_800_000_000_000;

const good: CodeRow = {
  grant_id: 'g',
  is_own_client: true,
  client_admits: true,
  user_id: 'u',
  username: 'ada',
  display_name: null,
  given_name: null,
  family_name: null,
  time_zone: null,
  locale: null,
  updated_at: NOW,
  email: null,
  groups: null,
  extra_claims: null,
  claims: null,
  can_request_admin: false,
  sign_in_is_usable: true,
  user_session_id: 's',
  redirect_uri: 'https://app.example.org/cb',
  redirect_uri_sent: true,
  scope: ['openid'],
  resources: ['https://api.example.org/'],
  nonce: null,
  dpop_jkt: null,
  code_challenge: 'challenge',
  auth_time: null,
  acr: null,
  amr: [],
  fulfilled_at: NOW - 60_000,
  exchanged_at: null,
  is_cancelled: false,
  oauth2_session_id: null,
};
const request: CodeRequest = {
  redirectUri: good.redirect_uri,
  codeVerifier: 'verifier',
  resources: [],
  thumbprint: undefined,
  isBanned: false,
};
const rules = {
  lifetimeSeconds: 60,
  verifierFits: (verifier: string, challenge: string) => verifier === 'verifier' && challenge === 'challenge',
  isAdminScope: (scope: string) => scope === 'admin',
  mayRequestAdmin: (row: CodeRow) => row.can_request_admin,
};

function reasonOf(
  row: Partial<CodeRow>,
  sent: Partial<Record<keyof CodeRequest, unknown>> = {},
): CodeRefusal | 'accepted' {
  const verdict = judgeCode({ ...good, ...row }, { ...request, ...sent } as CodeRequest, rules, NOW);
  return verdict.ok ? 'accepted' : verdict.reason;
}

describe('checking an authorization code (oauth 8.2)', () => {
  test('accepts a code that passes every check in the last moment of its lifetime', () => {
    expect(reasonOf({})).toBe('accepted');
  });

  test.each<[CodeRefusal, Partial<CodeRow>, Partial<Record<keyof CodeRequest, unknown>>?]>([
    ['other-client', { is_own_client: false }],
    ['redeemed-just-now', { exchanged_at: NOW - 20_000 }],
    ['redeemed', { exchanged_at: NOW - 20_001 }],
    ['cancelled', { is_cancelled: true }],
    ['expired', { fulfilled_at: NOW - 60_001 }],
    ['redirect-uri', {}, { redirectUri: 'https://app.example.org/cb/' }],
    ['redirect-uri', { code_challenge: null }, { redirectUri: undefined, codeVerifier: undefined }],
    ['verifier-missing', {}, { codeVerifier: undefined }],
    ['verifier-unexpected', { code_challenge: null }],
    ['verifier-wrong', {}, { codeVerifier: 'other' }],
    ['sign-in-gone', { sign_in_is_usable: false }],
    ['admin-scope', { scope: ['openid', 'admin'] }],
    ['resource', {}, { resources: ['https://other.example.org/'] }],
  ])('%s', (reason, row, sent) => {
    expect(reasonOf(row, sent)).toBe(reason);
  });

  test('reports a missing grant as unknown', () => {
    expect(judgeCode(undefined, request, rules, NOW)).toEqual({ ok: false, reason: 'unknown' });
  });

  test.each<[string, Partial<CodeRow>, Partial<Record<keyof CodeRequest, unknown>>]>([
    ['the address left out because PKCE binds the code', {}, { redirectUri: undefined }],
    ['the address left out because none was sent', { redirect_uri_sent: false }, { redirectUri: undefined }],
    ['an admin scope of someone who may ask for it', { scope: ['admin'], can_request_admin: true }, {}],
    ['a resource that was granted', {}, { resources: ['https://api.example.org/'] }],
  ])('%s is accepted', (_, row, sent) => {
    expect(reasonOf(row, sent)).toBe('accepted');
  });

  test('keeps the order of checks: a stranger learns nothing of a code’s state, and a used code is not canceled', () => {
    expect(reasonOf({ is_own_client: false, exchanged_at: NOW - 60_000 })).toBe('other-client');
    expect(reasonOf({ exchanged_at: NOW - 60_000 }, { codeVerifier: 'other' })).toBe('redeemed');
    expect(reasonOf({ exchanged_at: NOW - 1000 }, { codeVerifier: 'other' })).toBe('redeemed');
    expect(reasonOf({ exchanged_at: NOW - 1000 }, { codeVerifier: undefined })).toBe('redeemed');
    expect(reasonOf({ exchanged_at: NOW - 1000, code_challenge: null })).toBe('redeemed');
    const unbound = { exchanged_at: NOW - 1000, code_challenge: null };
    expect(reasonOf(unbound, { codeVerifier: undefined })).toBe('redeemed-just-now');
    expect(reasonOf({ fulfilled_at: NOW - 61_000 }, { codeVerifier: 'other' })).toBe('expired');
  });
});
