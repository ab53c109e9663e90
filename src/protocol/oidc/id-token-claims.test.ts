import { describe, expect, test } from 'vitest';
import { type IdTokenFacts, idTokenClaims } from './id-token-claims.ts';

const facts: IdTokenFacts = {
  issuer: 'https://auth.example.org/',
  clientId: '01HZZZZZZZZZZZZZZZZZZZZZZZ',
  subject: '01J00000000000000000000000',
  now: 1_700_000_000_900,
  lifetimeSeconds: 3600,
  nonce: 'n-0S6_WzA2Mj',
  authenticatedAt: 1_699_999_990_500,
  acr: 'urn:latchkey:acr:1',
  amr: ['pwd'],
  sessionId: '01J11111111111111111111111',
  accessToken: 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y',
  code: 'Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk',
  personClaims: {},
  algorithm: 'RS256',
};

describe('ID token claims', () => {
  test('at_hash and c_hash match the examples of OpenID Connect Core 1.0 A.3 and A.4', () => {
    const claims = idTokenClaims(facts);
    expect(claims['at_hash']).toBe('77QmUPtjPfzWtF2AnpK9RQ');
    expect(claims['c_hash']).toBe('LDktKdoQak3Pk0cnXxCltA');
  });

  test('times are whole seconds and the lifetime is the configured one', () => {
    expect(idTokenClaims(facts)).toMatchObject({ iat: 1_700_000_000, exp: 1_700_003_600, auth_time: 1_699_999_990 });
  });

  test('unknown values are omitted', () => {
    const claims = idTokenClaims({
      ...facts,
      nonce: undefined,
      authenticatedAt: undefined,
      acr: undefined,
      amr: [],
      code: undefined,
    });
    expect(Object.keys(claims).sort()).toEqual(['at_hash', 'aud', 'exp', 'iat', 'iss', 'sid', 'sub']);
  });

  test.each([
    ['ES256', 22],
    ['ES256K', 22],
    ['PS384', 32],
    ['ES512', 43],
    ['EdDSA', 43],
  ])('at_hash with %s has %i characters: half of the corresponding hash', (algorithm, length) => {
    expect(idTokenClaims({ ...facts, algorithm })['at_hash']).toHaveLength(length);
  });
});
