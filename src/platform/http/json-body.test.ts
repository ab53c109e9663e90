import { describe, expect, test } from 'vitest';
import { LatchkeyError } from '#platform/base/errors.ts';
import { isJsonType, parseJson } from './json-body.ts';

function parse(text: string | Buffer): unknown {
  return parseJson(typeof text === 'string' ? Buffer.from(text) : text);
}

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

function members(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, ':'])));
}

describe('a JSON body', () => {
  test.each([
    '{}',
    '[]',
    'null',
    '1',
    '"x"',
    '{"a:":":","b":{"a":"\\":"}}',
    ' {"a" : [ {"a":1}, {"a":2} ]} ',
    nested(32),
    members(256),
  ])('parses %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test('may contain characters outside the BMP', () => {
    expect(parse('"\\ud83d\\ude00"')).toBe('\u{1F600}');
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{a: 1}'],
    ['text after it', '{} {}'],
    ['a byte order mark', '\ufeff{}'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['NUL', '{"a":"\\u0000"}'],
    ['NUL in a name', '{"\\u0000":1}'],
    ['an unpaired surrogate', '["\\ud800"]'],
    ['33 levels', nested(33)],
    ['30,000 levels', nested(30_000)],
    ['257 members in an object', members(257)],
    ['a repeated member', '{"a":1,"a":2}'],
    ['a repeated member in a list', '[{"a":1},{"b":{"c":1,"\\u0063":2}}]'],
    ['a repeated __proto__', '{"__proto__":1,"__proto__":2}'],
  ])('with %s is rejected', (_what, text) => {
    expect(() => parse(text)).toThrow(LatchkeyError);
  });

  test('with a member named __proto__ treats it like any other', () => {
    const value = parse('{"__proto__":{"polluted":true}}');
    expect(Object.entries(value ?? {})).toEqual([['__proto__', { polluted: true }]]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('the type of a JSON body', () => {
  test.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    '%s',
    (type) => {
      expect(isJsonType(type)).toBe(true);
    },
  );

  test.each([
    undefined,
    '',
    'text/json',
    'application/jsonx',
    'application/json; charset=utf-16',
    'application/jose+json',
  ])('rejects %s', (type) => {
    expect(isJsonType(type)).toBe(false);
  });
});
