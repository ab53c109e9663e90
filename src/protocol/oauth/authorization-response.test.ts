import { describe, expect, test } from 'vitest';
import {
  type AuthorizationResult,
  type ResponseMode,
  type ResponseTarget,
  responseFields,
  responseLocation,
} from './authorization-response.ts';

const ISSUER = 'https://auth.example.org/';

function target(redirectUri: string, responseMode: ResponseMode = 'query', state: string | undefined = 'st') {
  return { redirectUri, responseMode, state };
}

function locationOf(to: ResponseTarget, result: AuthorizationResult): string {
  return responseLocation(to, responseFields(to, ISSUER, result));
}

describe('authorization response', () => {
  test('in the query ends with an empty fragment, so that no fragment of the requesting page is kept', () => {
    expect(locationOf(target('https://app.example/cb'), { kind: 'code', code: 'abc' })).toBe(
      'https://app.example/cb?code=abc&state=st&iss=https%3A%2F%2Fauth.example.org%2F#',
    );
  });

  test('in the fragment preserves the query of the redirect URI', () => {
    expect(locationOf(target('https://app.example/cb?keep=1', 'fragment'), { kind: 'code', code: 'abc' })).toBe(
      'https://app.example/cb?keep=1#code=abc&state=st&iss=https%3A%2F%2Fauth.example.org%2F',
    );
  });

  test.each(['&code=x&iss=y', '#', '%23', 'a b+c', '"><script>', 'ä€\u{1F600}', 'line\nbreak'])(
    'returns state %j byte-equal with exactly one code and iss, keeping the existing query (S-08)',
    (state) => {
      const location = locationOf(target('https://app.example/cb?keep=1', 'query', state), { kind: 'code', code: 'c' });
      const { searchParams, hash } = new URL(location);
      expect([...searchParams]).toEqual([
        ['keep', '1'],
        ['code', 'c'],
        ['state', state],
        ['iss', ISSUER],
      ]);
      expect(hash).toBe('');
      expect(location).toMatch(/^[\x21-\x7e]+#$/);
    },
  );

  test.each([
    ['https://app.example/cb?', 'https://app.example/cb?code=c&'],
    ['https://app.example/cb?a=1&', 'https://app.example/cb?a=1&code=c&'],
    ['com.example:/cb', 'com.example:/cb?code=c&'],
  ])('extends the query of %s without an empty part', (redirectUri, start) => {
    expect(locationOf(target(redirectUri), { kind: 'code', code: 'c' }).startsWith(start)).toBe(true);
  });

  test('with an error contains iss too, and no state when none was sent (RFC 9207)', () => {
    const fields = responseFields({ ...target('https://app.example/cb'), state: undefined }, ISSUER, {
      kind: 'error',
      error: 'access_denied',
      description: 'no',
    });
    expect(fields).toEqual([
      ['error', 'access_denied'],
      ['error_description', 'no'],
      ['iss', ISSUER],
    ]);
  });
});
