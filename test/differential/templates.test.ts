/** Holds `src/platform/templates` against minijinja-js, by Jinja2's author, with strict undefined values. */
import fc from 'fast-check';
import { Environment } from 'minijinja-js';
import { describe, test } from 'vitest';
import { compileTemplate, TemplateError, TemplateSyntaxError } from '#platform/templates/template.ts';
import { compare, REJECTED } from './compare.ts';

const CLAIMS = {
  user: {
    sub: '248289761001',
    name: 'Ann Lee',
    email: 'Ann@Example.com',
    groups: ['staff', 'ops', 'Zürich'],
    level: 7,
    ratio: 1.5,
    email_verified: true,
    nothing: null,
    none_of: [],
    address: { country: 'CH', 'street address': 'Weg 1' },
  },
};

/** At the limit, only the first alternative is left. */
const DEPTH = { maxDepth: 3, depthIdentifier: 'template' } as const;

const texts = fc.constantFrom(
  'user.sub',
  'user.name',
  'user.email',
  'user.groups[0]',
  'user.groups[-1]',
  'user.address.country',
  'user.address["street address"]',
  '"a b c"',
  "'it\\'s'",
  '"ß \\n é"',
  '""',
);
const numbers = fc.oneof(fc.constantFrom('user.level', 'user.ratio'), fc.nat(20).map(String));
const truths = fc.constantFrom('user.email_verified', 'true', 'false', 'none');
const lists = fc.constantFrom('user.groups', 'user.none_of', '["b", "a"]', '[1, 2.5]');
const missing = fc.constantFrom(
  'user.nickname',
  'user.nothing',
  'user.nickname.first',
  'user.groups[9]',
  'user.address',
);

const { any: expressions } = fc.letrec<Record<'any' | 'text' | 'number' | 'truth' | 'list', string>>((tie) => ({
  text: fc.oneof(
    DEPTH,
    texts,
    texts,
    fc
      .tuple(
        tie('text'),
        fc.constantFrom(
          'lower',
          'upper',
          'trim',
          'trim("aA1")',
          'string',
          'first',
          'last',
          'replace("a", "xy")',
          'replace("9", "")',
          'default("d")',
          'tojson',
        ),
      )
      .map(([text, filter]) => `(${text} | ${filter})`),
    fc
      .tuple(tie('text'), fc.constantFrom('lower()', 'upper()', 'strip()', 'strip("a1")', 'replace("a", "b")'))
      .map(([text, method]) => `(${text}).${method}`),
    fc.tuple(tie('any'), tie('any')).map(([left, right]) => `(${left} ~ ${right})`),
    fc.tuple(tie('text'), tie('text')).map(([left, right]) => `(${left} + ${right})`),
    fc
      .tuple(tie('list'), fc.constantFrom('join', 'join("+")', 'first', 'last', 'tojson'))
      .map(([list, filter]) => `(${list} | ${filter})`),
    fc.tuple(tie('text'), fc.nat(3)).map(([text, index]) => `(${text})[${index}]`),
  ),
  number: fc.oneof(
    DEPTH,
    numbers,
    fc.tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number')).map((parts) => `(${parts.join(' ')})`),
    tie('number').map((number) => `(-${number})`),
    tie('number').map((number) => `(${number} | int)`),
    fc.oneof(tie('text'), tie('list')).map((value) => `(${value} | length)`),
  ),
  truth: fc.oneof(
    DEPTH,
    truths,
    fc
      .tuple(tie('number'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('number'))
      .map((parts) => `(${parts.join(' ')})`),
    fc
      .tuple(tie('text'), fc.constantFrom('==', '!=', '<', '>=', 'in', 'not in'), tie('text'))
      .map((parts) => `(${parts.join(' ')})`),
    fc.tuple(tie('any'), fc.constantFrom('in', 'not in'), tie('list')).map((parts) => `(${parts.join(' ')})`),
    fc.tuple(tie('any'), fc.constantFrom('and', 'or'), tie('any')).map((parts) => `(${parts.join(' ')})`),
    tie('any').map((value) => `(not ${value})`),
    fc
      .tuple(fc.oneof(tie('any'), missing), fc.constantFrom('is defined', 'is undefined', 'is none', 'is not none'))
      .map((parts) => `(${parts.join(' ')})`),
    fc
      .tuple(tie('text'), fc.constantFrom('startswith("a")', 'endswith("e")'))
      .map(([text, method]) => `(${text}).${method}`),
  ),
  list: fc.oneof(
    DEPTH,
    lists,
    fc.array(tie('any'), { maxLength: 3 }).map((elements) => `[${elements.join(', ')}]`),
    fc
      .tuple(tie('text'), fc.constantFrom('split(" ")', 'split("a", 1)', 'split()'))
      .map(([text, method]) => `(${text}).${method}`),
  ),
  any: fc.oneof(
    DEPTH,
    { weight: 8, arbitrary: tie('text') },
    { weight: 4, arbitrary: tie('number') },
    { weight: 4, arbitrary: tie('truth') },
    { weight: 2, arbitrary: tie('list') },
    { weight: 1, arbitrary: missing },
    {
      weight: 3,
      arbitrary: fc
        .tuple(tie('any'), tie('truth'), tie('any'))
        .map(([yes, condition, no]) => `(${yes} if ${condition} else ${no})`),
    },
    { weight: 1, arbitrary: missing.map((value) => `(${value} | default("d"))`) },
  ),
}));
const pieces = fc.constantFrom('a', ' b ', '\n', '{# no #}', '{#- no -#}');
const { body: templates } = fc.letrec<Record<'body' | 'part', string>>((tie) => ({
  body: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  part: fc.oneof(
    DEPTH,
    pieces,
    { weight: 6, arbitrary: expressions.map((value) => `{{ ${value} }}`) },
    { weight: 2, arbitrary: expressions.map((value) => `{{- ${value} -}}`) },
    fc
      .tuple(expressions, tie('body'), tie('body'))
      .map(([value, yes, no]) => `{% if ${value} %}${yes}{% else %}${no}{% endif %}`),
    fc.tuple(expressions, tie('body')).map(([value, body]) => `{% for x in ${value} %}{{ x }}${body}{% endfor %}`),
    expressions.map((value) => `{% set x = ${value} %}{{ x }}`),
  ),
}));

const library = new Environment();
library.undefinedBehavior = 'strict';
library.enablePyCompat();

function messageOf(source: string): string {
  try {
    return compileTemplate(source).render(CLAIMS);
  } catch (error) {
    return String(error);
  }
}

/** Our error has this reason. */
function failsWith(reason: string) {
  return (source: string, ours: string) => ours === REJECTED && messageOf(source).includes(reason);
}

describe('claim templates as minijinja-js', () => {
  test('templates of what both know', async () => {
    await compare<string, string>({
      inputs: templates,
      count: 4_000,
      ours: (source) => {
        try {
          return compileTemplate(source).render(CLAIMS);
        } catch (error) {
          if (error instanceof TemplateError || error instanceof TemplateSyntaxError) return REJECTED;
          throw error;
        }
      },
      library: (source) => library.renderStr(source, CLAIMS),
      decisions: {
        'undefined, null, lists and mappings have no text': failsWith('which cannot be converted to text'),
        'loops take lists only': failsWith('not a list'),
        'a division by zero is an error': failsWith('has no finite result'),
        '"and" and "or" have an operand as result, as in Jinja': (source, ours) =>
          ours !== REJECTED && / (?:and|or) /.test(source),
        'the result is text for no page, so "tojson" escapes nothing for HTML': (source, ours) =>
          ours !== REJECTED && source.includes('tojson'),
        'null counts as missing for "default"': (source) => source.includes('user.nothing | default'),
        'a result without a fraction is printed without one': (_, ours, other) =>
          ours !== REJECTED && other.replaceAll('.0', '') === ours.replaceAll('.0', ''),
        'a minus applies to the whole of what follows, as in Jinja': (source, ours, other) =>
          ours !== REJECTED && other === REJECTED && source.includes('-user.'),
        'a missing value is false, where Jinja in strict mode fails': (source, ours, other) =>
          ours !== REJECTED && other === REJECTED && /if|not|and|or/.test(source),
      },
    });
  });
});
