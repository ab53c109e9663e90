import { describe, expect, test } from 'vitest';
import { loadYaml, problemsOfYaml } from '#config/fixture.test-support.ts';

describe('rejected YAML', () => {
  test.each([
    ['a duplicate key', 'http:\n  hsts: true\n  hsts: false\n', 'http.hsts: duplicate key (latchkey.yaml:3:3)'],
    ['a tab as indentation', 'http:\n\thsts: true\n', 'tabs are not allowed as indentation (latchkey.yaml:2:1)'],
    ['a second document', 'http:\n---\nhttp:\n', 'expected one document, found several (latchkey.yaml:2:1)'],
    ['an alias without anchor', 'http:\n  hsts: *no\n', 'http.hsts: the alias does not refer to an earlier anchor'],
    ['a key that is a list', '? [a]\n: 1\n', 'a key must be a plain string (latchkey.yaml:1:3)'],
    ['a list as the whole document', '- http\n', 'expected a mapping of sections (latchkey.yaml:1:1)'],
    ['broken syntax', 'http: [\n', 'not valid YAML: '],
  ])('%s', (_, yaml, problem) => {
    expect(problemsOfYaml(yaml)[0]?.startsWith(problem)).toBe(true);
  });

  test.each(['!foo bar', '!!js/function "() => 1"', '!<tag:example.org,2026:x> 1', '!!set {a}', '!!binary aGk='])(
    'rejects the tag in %s',
    (value) => {
      expect(problemsOfYaml(`branding:\n  imprint: ${value}\n`)[0]).toMatch(
        /^branding\.imprint: tags are not allowed \(latchkey\.yaml:2:\d+\)$/,
      );
    },
  );

  test('a syntax error quotes nothing of the text, which could be a secret', () => {
    const problems = problemsOfYaml('database:\n  password: "hunter2" hunter3\n  uri: "hunter\\4"\n').join();
    expect(problems).toContain('latchkey.yaml:2');
    expect(problems).not.toContain('hunter');
  });

  test('endlessly nested brackets are an error, not a crash', () => {
    for (const text of ['[', '- ', '? ', '{a: ']) {
      expect(problemsOfYaml(text.repeat(100_000))).toEqual(['nested more than 50 levels deep (latchkey.yaml)']);
    }
  });
});

describe('anchors and aliases', () => {
  test('work, with top-level x- keys as a place for them', () => {
    const { rateLimiting } = loadYaml(`
x-slow: &slow {burst: 2, per_second: 0.5}
rate_limiting:
  login: {per_ip: *slow, per_account: *slow}
`);
    expect(rateLimiting.login.perIp).toEqual({ burst: 2, perSecond: 0.5 });
    expect(rateLimiting.login.perAccount).toEqual({ burst: 2, perSecond: 0.5 });
  });

  test('an x- key below the top level is unknown', () => {
    expect(problemsOfYaml('http: {x-note: 1}\n')).toEqual(['http.x-note: unknown key (latchkey.yaml:1:8)']);
  });

  test('100 expansions are accepted, one more is not', () => {
    const names = (count: number) => `x-a: &a alice\npolicy: {data: {admin_users: [${'*a, '.repeat(count)}]}}\n`;
    expect(loadYaml(names(100)).policy.data.adminUsers).toHaveLength(100);
    expect(problemsOfYaml(names(101))).toEqual([
      expect.stringMatching(/^contains more than 100 alias expansions \(latchkey\.yaml:2:\d+\)$/),
    ]);
  });

  test('a small text that expands to a huge tree is rejected immediately', () => {
    const level = (name: string, below: string) => `x-${name}: &${name} [${`*${below}, `.repeat(9)}]`;
    const bomb = ['x-a: &a [1]', level('b', 'a'), level('c', 'b'), level('d', 'c'), 'clients: *d', ''].join('\n');
    expect(problemsOfYaml(bomb).join()).toContain('more than 100 alias expansions');
  });

  test('an alias to its enclosing list is rejected immediately', () => {
    expect(problemsOfYaml('clients: &a [*a]\n').join()).toContain('nested more than 50 levels deep');
    expect(problemsOfYaml('clients: &a [*a, *a]\n')).toHaveLength(1);
  });
});

test('accepts JSON as a configuration file', () => {
  expect(loadYaml('{"http": {"hsts": false}, "clients": []}').http.hsts).toBe(false);
});

test('words that were booleans in YAML 1.1 are strings', () => {
  expect(problemsOfYaml('http: {hsts: on}\n')).toEqual([
    'http.hsts: expected true or false, got "on" (latchkey.yaml:1:14)',
  ]);
});
