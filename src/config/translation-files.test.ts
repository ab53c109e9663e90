import { expect, test } from 'vitest';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { load, problemsOf } from './fixture.test-support.ts';

const YAML = 'templates:\n  translations_path: texts\n';

/** Returns the problems of a file without the directory and the location of the setting. */
function problemsIn(content: unknown, name = 'nb.json'): string[] {
  const text = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
  return problemsOf({ files: { 'latchkey.yaml': YAML, [`texts/${name}`]: text } }).map((line) => {
    const [, message] = /^templates\.translations_path: .*\/texts\/(.*) \(latchkey\.yaml:2:22\)$/.exec(line) ?? [];
    return message ?? line;
  });
}

test('reads texts from files named by language and ignores other files', () => {
  const files = {
    'latchkey.yaml': YAML,
    'texts/nb.json': '{"login.title": "Logg inn"}',
    'texts/pt-BR.json': '{}',
    'texts/README.txt': 'x',
  };
  expect(load({ files }).config.templates.translations).toEqual({ nb: { 'login.title': 'Logg inn' }, 'pt-BR': {} });
  expect(load().config.templates.translations).toEqual({});
});

test('an unknown text is rejected with its position and a suggestion', () => {
  expect(problemsIn('{\n  "login.title": "Logg inn",\n  "login.titel": "Logg inn"\n}')).toEqual([
    'nb.json:3:3: login.titel: unknown key; did you mean "login.title"?',
  ]);
  expect(problemsIn({ 'completely.different.thing': 'x' })).toEqual([
    'nb.json:1:2: completely.different.thing: unknown key',
  ]);
});

test.each([
  ['{client', 'is not a valid message: expect argument closing brace'],
  ['uten navn', 'must contain {client}'],
  ['{client} og {name}', 'unknown value {name}; available: {client}'],
  ['{client, plural, one {én} other {#}}', '{client} is a string and cannot be used as a number or a choice'],
  ['', 'expected a string'],
  [7, 'expected a string'],
])('a text with the variable {client} is rejected as %j', (text, expected) => {
  expect(problemsIn({ 'login.continue': text })).toEqual([`nb.json:1:2: login.continue: ${expected}`]);
});

test.each([
  ['{minutes, plural, one {ett minutt}}', 'is not a valid message: missing other clause'],
  [
    '{minutes, plural, oen {ett minutt} other {# minutter}}',
    'unknown plural form "oen"; available: zero, one, two, few, many, other, and =0 for a number',
  ],
  [
    '{minutes, number, ::currency/XX} minutter',
    expect.stringMatching(/^(?:cannot be formatted|is not a valid message): /),
  ],
])('a count is rejected as %j', (text, expected) => {
  const [found, ...more] = problemsIn({ 'login.rate_limit_exceeded': text });
  expect(more).toEqual([]);
  expect(found?.replace('nb.json:1:2: login.rate_limit_exceeded: ', '')).toEqual(expected);
});

test('a count can be written with and without plural forms, and with those of numbers', () => {
  for (const text of ['Vent {minutes} minutter', '{minutes, plural, =1 {ett minutt} other {# minutter}}'])
    expect(problemsIn({ 'login.rate_limit_exceeded': text })).toEqual([]);
});

test('an invalid translation file is rejected', () => {
  expect(problemsIn('{"login.title": ')).toEqual([expect.stringMatching(/^nb\.json:1:\d+: not valid JSON$/)]);
  expect(problemsIn('[]')).toEqual(['nb.json is not a JSON object that maps keys to texts']);
  expect(problemsIn(Buffer.from([0xff]))).toEqual(['nb.json is not UTF-8']);
  expect(problemsIn(' '.repeat(1024 * 1024 + 1))).toEqual(['nb.json is larger than 1024 KiB']);
  expect(problemsIn('{}', 'norsk bokmål.json')).toEqual([
    'norsk bokmål.json is not named after a language; expected a name like pt-BR.json',
  ]);
  expect(problemsIn('{}', 'pt_BR.json')).toEqual([
    'pt_BR.json is not named after a language; expected a name like pt-BR.json',
  ]);
  expect(problemsIn('{}', 'pt-br.json')).toEqual(['pt-br.json must be named pt-BR.json']);
  expect(problemsOf({ files: { 'latchkey.yaml': YAML } })).toEqual([
    expect.stringMatching(/^templates\.translations_path: cannot read the directory .*\/texts: no such file/),
  ]);
});

test('the default language must be one of the available ones', () => {
  const yaml = `${YAML}i18n:\n  default_language: eo\n`;
  const files = { 'latchkey.yaml': yaml, 'texts/eo.json': '{}' };
  expect(load({ files }).config.i18n.defaultLanguage).toBe('eo');
  const available = [...BUNDLED_LANGUAGES, 'cy'].map((tag) => `"${tag}"`).join(', ');
  expect(problemsOf({ files: { 'latchkey.yaml': yaml, 'texts/cy.json': '{}' } })).toEqual([
    `i18n.default_language: expected one of ${available}, got "eo" (latchkey.yaml:4:21)`,
  ]);
});
