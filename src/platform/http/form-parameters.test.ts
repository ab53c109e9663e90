import { describe, expect, test } from 'vitest';
import { FormParameters } from './form-parameters.ts';

describe('form and query parameters', () => {
  test('are decoded as browsers encode them', () => {
    const parameters = FormParameters.parse('a=1+2&b=%C3%A9%26&c&d=&e=x=y');
    expect(parameters?.get('a')).toBe('1 2');
    expect(parameters?.get('b')).toBe('é&');
    expect(parameters?.get('c')).toBeUndefined();
    expect(parameters?.get('d')).toBeUndefined();
    expect(parameters?.get('e')).toBe('x=y');
  });

  test('an empty value counts as absent, but also as a duplicate (RFC 6749 3.1)', () => {
    const parameters = FormParameters.parse('code=&code=1');
    expect(parameters?.isRepeated('code')).toBe(true);
    expect(parameters?.firstRepeated()).toBe('code');
    expect(parameters?.firstRepeated(new Set(['code']))).toBeUndefined();
    expect(parameters?.all('code')).toEqual(['1']);
  });

  test.each(['a=%', 'a=%zz', 'a=%ff%fe', 'a=%00', 'a=%ed%a0%80', '%c0%af=1'])('%s is rejected (S-159)', (text) => {
    expect(FormParameters.parse(text)).toBeUndefined();
  });

  test('more fields than the limit are rejected', () => {
    expect(FormParameters.parse(Array(100).fill('a=1').join('&'))?.all('a')).toHaveLength(100);
    expect(FormParameters.parse(Array(101).fill('a=1').join('&'))).toBeUndefined();
  });

  test('names of object properties are plain data (S-157)', () => {
    const parameters = FormParameters.parse('__proto__=1&constructor=2&toString=3');
    expect(parameters?.get('__proto__')).toBe('1');
    expect(parameters?.get('hasOwnProperty')).toBeUndefined();
    expect(Object.hasOwn({}, 'polluted')).toBe(false);
  });
});
