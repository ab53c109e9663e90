import { CombinedError } from '@urql/core';
import { expect, test } from 'vitest';
import { isSignedOut, problemOf } from './problem.ts';

function responseFor(status: number, extensions?: Record<string, unknown>, headers: Record<string, string> = {}) {
  return new CombinedError({
    graphQLErrors: extensions === undefined ? [] : [{ message: 'refused', extensions }],
    response: new Response(null, { status, headers }),
  });
}

const RETRY = { 'retry-after': '90' };

test.each([
  ['a request beyond the limit', responseFor(429, { code: 'RATE_LIMITED' }, RETRY), 90],
  ['429 of a proxy, without a GraphQL error', responseFor(429, undefined, RETRY), 90],
  ['429 that does not say until when', responseFor(429), undefined],
  ['429 with a date', responseFor(429, undefined, { 'retry-after': 'Mon, 23 Nov 2026 18:00:00 GMT' }), undefined],
  ['a limit of one mutation', responseFor(200, { code: 'RATE_LIMITED', retryAfter: 12.4 }), 13],
])('%s provides the time to retry', (_, error, retryAfterSeconds) => {
  expect(problemOf(error)).toEqual({ kind: 'rate-limited', retryAfterSeconds });
});

test('a sensitive change redirects to reauthentication', () => {
  const error = responseFor(200, { code: 'REAUTH_REQUIRED', reauthUrl: '/reauth?kind=manage_account' });
  expect(problemOf(error)).toEqual({ kind: 'reauthentication', url: '/reauth?kind=manage_account' });
});

test('distinguishes an unavailable service from a rejection', () => {
  const failed = new CombinedError({ networkError: new TypeError('Failed to fetch') });
  expect(problemOf(failed)).toEqual({ kind: 'network' });
  expect(problemOf(responseFor(503, { code: 'UNAVAILABLE' }))).toEqual({ kind: 'network' });
  expect(problemOf(responseFor(502))).toEqual({ kind: 'network' });
  expect(problemOf(responseFor(200, { code: 'FORBIDDEN', requestId: 'POST-7' }))).toEqual({
    kind: 'refused',
    code: 'FORBIDDEN',
    requestId: 'POST-7',
  });
  expect(problemOf(responseFor(200, {}))).toEqual({ kind: 'refused', code: 'INTERNAL', requestId: undefined });
});

test('only unauthenticated errors mean that the session has ended', () => {
  expect(isSignedOut(responseFor(200, { code: 'UNAUTHENTICATED' }))).toBe(true);
  expect(isSignedOut(responseFor(401, { code: 'INVALID_TOKEN' }))).toBe(true);
  expect(isSignedOut(responseFor(200, { code: 'FORBIDDEN' }))).toBe(false);
});
