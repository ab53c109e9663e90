import { describe, expect, test } from 'vitest';
import { formatted, placeIn, readJson } from './json-text.ts';

const ACCEPTED = [
  '{}',
  ' [1, -0.5e+3, true, false, null, "a\\u00e9\\n\\"", {"a": {"b": []}}] ',
  '"\\ud83d\\ude00"',
  '0',
  '{"": 1, "__proto__": 2}',
];
const REJECTED: readonly [string, string, number, number][] = [
  ['', 'end', 1, 1],
  ['{', 'end', 1, 2],
  ['{"a": 1,}', 'unexpected', 1, 9],
  ['{\n  "a": 1\n  "b": 2\n}', 'unexpected', 3, 3],
  ['[1 2]', 'unexpected', 1, 4],
  ['[01]', 'unexpected', 1, 3],
  ['[.5]', 'unexpected', 1, 2],
  ["{'a': 1}", 'unexpected', 1, 2],
  ['{"a": tru}', 'unexpected', 1, 7],
  ['{} x', 'unexpected', 1, 4],
  ['"a\\x"', 'escape', 1, 3],
  ['"a\nb"', 'control', 1, 3],
  ['["abc', 'end', 1, 6],
  ['[1] // note', 'unexpected', 1, 5],
  ['\u{1f600}', 'unexpected', 1, 1],
];

test.each(ACCEPTED)('reads %s as JSON.parse does', (text) => {
  expect(readJson(text)).toMatchObject({ ok: true, value: JSON.parse(text) });
});

test.each(REJECTED)('finds the first error of %s', (text, kind, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  const read = readJson(text);
  if (read.ok) expect.fail('read');
  expect(read.error.kind).toBe(kind);
  expect(placeIn(text, read.offset)).toEqual({ line, column });
});

test('rejects a repeated member, of which JSON.parse would drop one', () => {
  const text = '{"admin_users": ["adele"], "admin_users": []}';
  expect(readJson(text)).toEqual({ ok: false, offset: 27, error: { kind: 'duplicate', name: 'admin_users' } });
});

test('rejects what is nested too deeply, without an overflow of the stack', () => {
  expect(readJson('['.repeat(100_000))).toMatchObject({ ok: false, error: { kind: 'deep' } });
});

test('agrees with JSON.parse about texts with one character changed', () => {
  const text = '{"a": [1, "b\\n", {"c": null}], "d": true}';
  for (let at = 0; at <= text.length; at += 1) {
    for (const character of ['', '"', ',', '}', ']', '1', ' ', '\\', ':', 'x', '\n']) {
      const changed = text.slice(0, at) + character + text.slice(at + (character === '' ? 1 : 0));
      let isValid = true;
      try {
        JSON.parse(changed);
      } catch {
        isValid = false;
      }
      expect([changed, readJson(changed).ok]).toEqual([changed, isValid]);
    }
  }
});

describe('places', () => {
  test('are those of the values, by pointer', () => {
    const text = '{\n  "requester": {"banned_ips": ["192.0.2.1", "x"]},\n  "a/b": 1\n}';
    const read = readJson(text);
    if (!read.ok) expect.fail('not read');
    const at = (pointer: string) => placeIn(text, read.places.get(pointer) ?? -1);
    expect(at('/requester/banned_ips/1')).toEqual({ line: 2, column: 45 });
    expect(at('/a~1b')).toEqual({ line: 3, column: 10 });
  });
});

test('formats data independently of the order of its members', () => {
  expect(formatted({ b: [{ d: 1, c: 2 }], a: null })).toBe(formatted({ a: null, b: [{ c: 2, d: 1 }] }));
});
