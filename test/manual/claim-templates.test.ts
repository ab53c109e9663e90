import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILTERS, METHODS } from '#platform/templates/operations.ts';
import { compileTemplate } from '#platform/templates/template.ts';

const page = readFileSync('docs/reference/claim-templates.md', 'utf8');

const CLAIMS = {
  sub: '248289761001',
  name: 'Ann Lee',
  'given name': 'Ann',
  email: 'Ann@Example.com',
  email_verified: true,
  groups: ['staff', 'ops'],
  address: { country: 'CH' },
  profile: '{"level": 7}',
};

/** Returns the rows of the tables below a heading, without header rows. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? expect.fail(`no ${heading}`);
  return section
    .split('\n')
    .filter((line, index, lines) => line.startsWith('| ') && !lines[index + 1]?.startsWith('|---'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

const examples = ['Language', 'Filters', 'Missing values'].flatMap((heading) =>
  rowsBelow(heading).map((cells): [string, string] => [
    cells.at(-2)?.replace(/^`(.*)`$/, '$1') ?? '',
    cells.at(-1) ?? '',
  ]),
);

test.each(examples)('the manual shows the result of %s', (source, expected) => {
  const template = compileTemplate(source);
  if (expected === 'error') {
    expect(() => template.render({ user: CLAIMS })).toThrow();
    return;
  }
  // Tables show a line feed as a space.
  expect(template.render({ user: CLAIMS }).replaceAll(/\s+/g, ' ')).toBe(expected);
});

test('the manual lists every filter and method with its parameters', () => {
  const named = rowsBelow('Filters').map(([name = '']) => name);
  const written = (name: string, parameters: readonly string[]) => {
    const row = named.find((one) => new RegExp(`^\`${name}[(\`]`).test(one)) ?? '';
    const list = row.match(/\((.*)\)/)?.[1] ?? '';
    return (
      [name, list.split(', ').map((parameter) => parameter.split('=')[0])]
        .flat()
        .filter((part) => part !== '')
        .join(' ') === [name, ...parameters].join(' ')
    );
  };
  const missing = [...FILTERS, ...METHODS].filter(([name, { parameters }]) => !written(name, parameters));
  expect(missing.map(([name]) => name)).toEqual([]);
  expect(named.filter((name) => /^`[a-z0-9_]+/.test(name))).toHaveLength(FILTERS.size + METHODS.size);
});
