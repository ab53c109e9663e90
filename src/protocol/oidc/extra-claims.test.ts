import { describe, expect, test } from 'vitest';
import { extraClaimsFromJson, extraClaimsProblem } from './extra-claims.ts';
import { isGroupName, sortedGroups } from './group-names.ts';
import { ID_TOKEN_CLAIM_NAMES } from './id-token-claims.ts';
import { ENTERED_CLAIM_NAMES, USER_CLAIM_NAMES } from './user-claims.ts';

function nested(levels: number): unknown {
  return levels === 0 ? 'x' : { inner: nested(levels - 1) };
}

describe('operator-defined claims', () => {
  test.each([
    ['none', {}],
    [
      'one of each kind',
      { text: 'x', number: 1.5, truth: false, nothing: null, list: ['a', 1], mapping: { a: ['b'] } },
    ],
    ['one of OpenID Connect that this service does not know', { given_name: 'Ada', picture: 'https://a.example/p' }],
    ['a name that is an address', { 'https://example.com/roles': ['admin'] }],
    ['names of JavaScript', { constructor: 1, toString: 2 }],
    ['as many as allowed', Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`claim${index}`, index]))],
    ['as deep as allowed', nested(5)],
    ['as large as allowed', { text: 'x'.repeat(8192 - '{"text":""}'.length) }],
  ])('can be %s', (_, claims) => expect(extraClaimsProblem(claims)).toBeUndefined());

  test.each([
    ['a list', [], undefined, 'an object'],
    ['a text', 'x', undefined, 'an object'],
    ['nothing', null, undefined, 'an object'],
    ['undefined', undefined, undefined, 'an object'],
    ['a date', new Date(0), undefined, 'an object'],
    ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`claim${i}`, i])), undefined, 'more than 32'],
    ['too deep', nested(6), 'inner', 'levels deep'],
    ['too large', { text: 'x'.repeat(8192) }, undefined, 'more than 8192 bytes'],
    ['without a name', { '': 1 }, '', 'a name of'],
    ['with a name too long', { ['x'.repeat(256)]: 1 }, 'x'.repeat(256), 'a name of'],
    ['with a control character in a name', { 'a\u0007': 1 }, 'a\u0007', 'a name of'],
    ['with an unpaired surrogate', { a: 'x\ud800' }, 'a', 'an invalid character'],
    ['with NUL', { a: ['\u0000'] }, 'a', 'an invalid character'],
    ['with NUL in a nested name', { a: { 'b\u0000': 1 } }, 'a', 'an invalid character'],
    ['with a number that JSON lacks', { a: Number.POSITIVE_INFINITY }, 'a', 'a JSON number'],
    ['with what JSON lacks', { a: undefined }, 'a', 'a JSON value'],
    ['with a nested date', { a: { b: new Date(0) } }, 'a', 'a JSON value'],
    ['with a prototype', JSON.parse('{"__proto__": 1}'), '__proto__', 'reserved'],
  ])('are rejected when they are %s', (_, claims, member, problem) => {
    expect(extraClaimsProblem(claims)).toEqual({ member, problem: expect.stringContaining(problem) });
  });

  test.each([
    ...ID_TOKEN_CLAIM_NAMES,
    ...USER_CLAIM_NAMES.filter((name) => !ENTERED_CLAIM_NAMES.some((entered) => entered === name)),
    ...['username', 'nbf', 'jti', 'azp', 'scope', 'client_id', 'events', 'cnf', 'act', 'active', 'token_type'],
  ])('cannot be %s, which the service writes itself, even when stored earlier', (name) => {
    expect(extraClaimsProblem({ [name]: 'x' })).toEqual({ member: name, problem: expect.stringContaining('reserved') });
    expect(extraClaimsFromJson({ [name]: 'x', role: 'y' })).toEqual({ role: 'y' });
  });
});

describe('group names', () => {
  test.each(['admins', 'Domain Admins', 'cn=ops,dc=example,dc=org', 'مشرفون', '🦉', 'x'.repeat(255), '🦉'.repeat(255)])(
    'can be %j',
    (name) => expect(isGroupName(name)).toBe(true),
  );
  test.each(['', ' ', ' ops', 'ops\t', 'a\nb', 'a\u0000', '\u009f', 'x\ud800', 'x'.repeat(256)])(
    'cannot be %j',
    (name) => expect(isGroupName(name)).toBe(false),
  );
  test('are sorted identically everywhere, each once', () => {
    expect(sortedGroups(['b', 'a', 'B', 'ä', 'b', 'Z'])).toEqual(['B', 'Z', 'a', 'b', 'ä']);
  });
});
