import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTemplate, TemplateError, TemplateSyntaxError } from './template.ts';

function failureOf(source: string, variables: Readonly<Record<string, unknown>>, now: () => number = () => 0): string {
  try {
    return `no failure but ${compileTemplate(source, { now }).render(variables)}`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function syntaxProblem(source: string): string {
  try {
    compileTemplate(source);
    return 'no problem';
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error.message;
    throw error;
  }
}

describe('S-112: a template can access only its variables', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'length'];

  test.each(NAMES)('%s is a member only where the data has one', (name) => {
    for (const value of [{ a: 1 }, [1], 'text', 1, true]) {
      expect(compileTemplate(`{{ v.${name} is defined }} {{ v["${name}"] is defined }}`).render({ v: value })).toBe(
        'false false',
      );
    }
    expect(compileTemplate(`{{ ${name} is defined }}`).render({})).toBe('false');
    const claims: unknown = JSON.parse(`{"${name}": "own"}`);
    expect(
      compileTemplate(`{{ v.${name} }} {{ (t | from_json)["${name}"] }}`).render({ v: claims, t: `{"${name}": "x"}` }),
    ).toBe('own x');
  });

  test('functions and getters of its data are never called', () => {
    let calls = 0;
    const count = () => {
      calls += 1;
      return String(calls);
    };
    const given = {
      v: {
        run: count,
        toString: count,
        toJSON: count,
      },
    };
    expect(compileTemplate('{{ v.run is defined }} {{ v.toString is defined }}').render(given)).toBe('false false');
    expect(failureOf('{{ v }}', given)).toContain('is a mapping');
    expect(failureOf('{{ v | tojson }}', given)).toContain('is undefined, which JSON cannot represent');
    expect(calls).toBe(0);
  });

  test('claims are data: template syntax in them is printed unchanged', () => {
    const claim = '{{ 7 * 7 }}{% for x in [1] %}{# <script>';
    expect(compileTemplate('{{ v }}{{ v | replace("7", "8") }}').render({ v: claim })).toBe(
      claim + claim.replaceAll('7', '8'),
    );
  });

  test('a template cannot modify its data', () => {
    const variables = Object.freeze({ user: Object.freeze({ sub: 'a', list: Object.freeze(['x']) }) });
    const template = compileTemplate('{% set user = {"sub": "b"} %}{% set list = [1] %}{{ user.sub }}');
    expect(template.render(variables)).toBe('b');
    expect(template.render(variables)).toBe('b');
    expect(variables).toEqual({ user: { sub: 'a', list: ['x'] } });
  });
});

describe('S-112: different users never get the same text for different values', () => {
  test.each([
    ['a number that JSON rounded', '{{ v }}', 9007199254740992, 'a number too large to be exact'],
    ['infinity', '{{ v }}', Number.POSITIVE_INFINITY, 'a number too large to be exact'],
    ['an unpaired surrogate', '{{ v }}', 'a\ud800b', 'the result is not well-formed Unicode'],
    ['an unpaired surrogate from a template', '{{ "\\udc00" }}', '', 'the result is not well-formed Unicode'],
    ['bytes that are not UTF-8', '{{ v | b64decode }}', '/////w==', 'bytes that are not UTF-8'],
    ['an overlong form of UTF-8', '{{ v | b64decode | string }}', 'wIA=', 'bytes that are not UTF-8'],
    ['null', '{{ v }}', null, 'is null'],
    ['an object', '{{ v }}', {}, 'is a mapping'],
    ['an empty list', '{{ v }}', [], 'is a list'],
    ['a text as a number', '{{ v | int }}', 'none', 'expects an integer'],
    ['a quotient without a result', '{{ v / 0 }}', 5, 'has no finite result'],
  ])('%s is an error', (_, source, value, expected) => {
    expect(failureOf(source, { v: value })).toContain(expected);
  });

  test('a byte order mark is preserved', () => {
    expect(compileTemplate('{{ v | b64decode }}').render({ v: '77u/YQ==' })).toBe('\ufeffa');
  });
});

describe('S-112: the work of a template is limited', () => {
  const MEBIBYTE = 'a'.repeat(1024 * 1024);

  test.each([
    [
      'turns of a loop',
      '{% for x in v %}{% endfor %}',
      Array.from({ length: 1001 }, () => 1),
      'more than 1000 elements',
    ],
    [
      'loops in loops',
      '{% for x in v %}{% for y in v %}{% endfor %}{% endfor %}',
      Array.from({ length: 1000 }, () => 1),
      'exceeds the work limit',
    ],
    ['a text that doubles', `{% set a = v %}${'{% set a = a ~ a %}'.repeat(40)}`, 'a', 'exceeds the work limit'],
    ['a list that doubles', `{% set a = [v] %}${'{% set a = a + a %}'.repeat(40)}`, 'a', 'exceeds the work limit'],
    ['replacements that grow', '{{ v | replace("a", v) }}', 'a'.repeat(9000), 'exceeds the work limit'],
    ['a search for a long text', '{{ v | replace(v ~ "b", "") }}', MEBIBYTE, 'exceeds the work limit'],
    ['a long text in a longer one', '{{ (v ~ "b") in (v ~ v) }}', 'a'.repeat(65_536), 'exceeds the work limit'],
    ['many pieces', '{{ v | split("a") | length }}', MEBIBYTE, 'produces more than 10000 parts'],
    ['many words', '{{ v | split | length }}', 'a '.repeat(65_536), 'exceeds the work limit'],
    ['characters of a long text', '{{ v | length }}', MEBIBYTE, 'exceeds the work limit'],
    ['the last character of a long text', '{{ v[1048575] }}', MEBIBYTE, 'exceeds the work limit'],
    [
      'a long text in capitals, often',
      `{% set a = v %}${'{% set a = a | upper %}'.repeat(3)}`,
      MEBIBYTE,
      'exceeds the work limit',
    ],
    ['a long JSON text', '{{ (v | from_json) | length }}', `[${'1,'.repeat(300_000)}1]`, 'exceeds the work limit'],
    [
      'JSON that is nested deeply',
      '{{ (v | from_json) | length }}',
      `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
      'nested deeper than 64',
    ],
    ['a claim that is nested deeply', '{{ v[0] is defined }}', nestedList(10_000), 'nested deeper than 64'],
    [
      'a long list as JSON',
      '{{ (v | tojson) | length }}',
      Array.from({ length: 60_000 }, () => 1),
      'exceeds the work limit',
    ],
    [
      'the comparison of long lists',
      '{% if v == v %}{% endif %}',
      Array.from({ length: 60_000 }, () => 1),
      'exceeds the work limit',
    ],
    ['a long result', '{{ v }}', 'a'.repeat(4097), 'the result is longer than 4096 bytes'],
    ['a long result in bytes', '{{ v }}', 'é'.repeat(2049), 'the result is longer than 4096 bytes'],
    [
      'a long result in parts',
      '{% for x in v %}12345{% endfor %}',
      Array.from({ length: 1000 }, () => 1),
      'longer than 4096 bytes',
    ],
  ])('%s', (_, source, value, expected) => {
    expect(failureOf(source, { v: value })).toContain(expected);
  });

  test('the limits leave room for what they allow', () => {
    const list = Array.from({ length: 1000 }, () => 'ab');
    expect(compileTemplate('{% for x in v %}{{ x | upper }}{% endfor %}').render({ v: list })).toBe('AB'.repeat(1000));
    expect(compileTemplate('{{ v }}').render({ v: 'a'.repeat(4096) })).toHaveLength(4096);
    expect(compileTemplate('{{ (v | from_json).a }}').render({ v: `{"a": "x", "b": "${'y'.repeat(65_536)}"}` })).toBe(
      'x',
    );
  });

  test('time is the second limit, checked only after much work', () => {
    let readings = 0;
    const slow = () => {
      readings += 1;
      return readings * 51;
    };
    expect(failureOf('{% for x in v %}{{ x }}{% endfor %}', { v: [1, 2, 3] }, slow)).toBe('no failure but 123');
    expect(readings).toBe(1);
    const list = Array.from({ length: 900 }, () => 1);
    expect(failureOf('{% for x in v %}{{ x }}{% endfor %}', { v: list }, slow)).toContain(
      'work limit of 50 milliseconds',
    );
    expect(failureOf('{% for x in v %}{{ x }}{% endfor %}', { v: list }, () => 50)).toContain('no failure');
  });

  test.each([
    ['brackets', `{{ ${'('.repeat(2000)}1${')'.repeat(2000)} }}`, 'nested deeper than 30 levels'],
    ['lists', `{{ ${'['.repeat(2000)}${']'.repeat(2000)} }}`, 'nested deeper than 30 levels'],
    ['signs', `{{ ${'- '.repeat(2000)}1 }}`, 'nested deeper than 30 levels'],
    ['negations', `{{ ${'not '.repeat(1000)}1 }}`, 'nested deeper than 30 levels'],
    ['conditions', '{% if true %}'.repeat(100), 'nested deeper than 30 levels'],
    ['choices', `{{ ${'1 if 1 else '.repeat(500)}1 }}`, 'nested deeper than 30 levels'],
    ['operators', `{{ 1${'+1'.repeat(3000)} }}`, 'more than 500 parts'],
    ['filters', `{{ "a"${'|trim'.repeat(1000)} }}`, 'more than 500 parts'],
    ['members', `{{ a${'.a'.repeat(3000)} }}`, 'more than 500 parts'],
    ['branches', `{% if 1 %}${'{% elif 1 %}'.repeat(600)}{% endif %}`, 'more than 500 parts'],
    ['the template itself', 'a'.repeat(8193), 'longer than 8192 characters'],
  ])('rejects a template for its %s', (_, source, expected) => {
    expect(syntaxProblem(source)).toContain(expected);
  });

  test('the longest accepted chains can also be evaluated', () => {
    expect(compileTemplate(`{{ 1${'+1'.repeat(248)} }}`).render({})).toBe('249');
    expect(compileTemplate(`{{ "a"${'|trim'.repeat(498)} }}`).render({})).toBe('a');
    expect(compileTemplate(`{{ ${'('.repeat(29)}1${')'.repeat(29)} }}`).render({})).toBe('1');
  });
});

describe('any template and variables', () => {
  const part = fc.constantFrom(
    ...[
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      '-',
      ' ',
      '\n',
      'user',
      'v',
      '.',
      '[',
      ']',
      '(',
      ')',
      '{',
      '}',
      ',',
      ':',
      '|',
    ],
    ...['"a"', "'", '"', '\\', '1', '1.5', '~', '+', '*', '/', '==', '<', 'in', 'not', 'and', 'or', 'is', 'defined'],
    ...[
      'if',
      'elif',
      'else',
      'endif',
      'for',
      'endfor',
      'set',
      'x',
      '=',
      'split',
      'default',
      'join',
      'from_json',
      'tojson',
    ],
    ...[
      'true',
      'none',
      'first',
      'length',
      'b64decode',
      'tlvdecode',
      'truncate',
      'int',
      'replace',
      '__proto__',
      '😀',
      '\ud800',
    ],
  );

  test('produce a result or one of the two errors', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), fc.dictionary(fc.string(), fc.jsonValue()), (parts, user) => {
        const wrapped = [parts.join(' '), `{{ ${parts.join(' ')} }}`, `{% ${parts.join('')} %}{% endif %}{% endfor %}`];
        for (const source of wrapped) {
          try {
            const result = compileTemplate(source, { now: () => 0 }).render({ user, v: 'a' });
            expect(Buffer.byteLength(result)).toBeLessThanOrEqual(4096);
          } catch (error) {
            if (!(error instanceof TemplateSyntaxError) && !(error instanceof TemplateError)) throw error;
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('never put a value into an error message', () => {
    const secret = 'zqx-secret-zqx';
    const given = { v: secret, o: { [secret]: 1 }, l: [secret] };
    const sources = [
      ...[
        '{{ v.x.y }}',
        '{{ o }}',
        '{{ l }}',
        '{{ v + 1 }}',
        '{{ v | int }}',
        '{{ v | b64decode }}',
        '{{ v | from_json }}',
      ],
      ...[
        '{{ v | tlvdecode }}',
        '{{ o[v][v] }}',
        '{{ l | join | join }}',
        '{% for x in v %}{% endfor %}',
        '{{ v < 1 }}',
      ],
      ...['{{ v | truncate(v) }}', '{{ v in 5 }}', '{{ -v }}', '{{ o | tojson | from_json | string }}'],
    ];
    for (const source of sources) {
      const message = failureOf(source, given);
      expect(message).not.toContain('no failure');
      expect(message).not.toContain('zqx');
    }
  });
});

function nestedList(depth: number): unknown {
  let list: unknown[] = [];
  for (let level = 0; level < depth; level += 1) list = [list];
  return list;
}
