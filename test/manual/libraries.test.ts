import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPage } from './pages.ts';

const GUIDE = 'docs/guides/sign-in-an-app.md';

const [, settings = ''] = readPage(GUIDE).text.split('\n## Settings for libraries and servers\n');
const sections = settings
  .split('\n### ')
  .slice(1)
  .map((text) => {
    const [name = ''] = text.split('\n', 1);
    const [, link = ''] = /\]\(([^)]+)\)/.exec(text) ?? [];
    const [, block = ''] = /^```\w+\n(.*?)^```$/ms.exec(text) ?? [];
    return { name, link, lines: block.split('\n').map(withoutIndentation).filter(Boolean) };
  });

/** `tools/apps` runs those applications against the service; what the guide shows of them is what was tried. */
describe('guide "Sign in an app": settings for libraries and servers', () => {
  test('has the applications that are tried', () => {
    expect(sections.map(({ link }) => link.split('/').at(-2))).toEqual(
      expect.arrayContaining([
        'auth-js',
        'better-auth',
        'mozilla-django-oidc',
        'go-oidc',
        'mod-auth-openidc',
        'synapse',
      ]),
    );
  });

  test.each(sections)('$name: every line is in the application that is tried', ({ link, lines }) => {
    const application = readFileSync(join(GUIDE, '..', link), 'utf8')
      .split('\n')
      .map(withoutIndentation);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => !application.includes(line))).toEqual([]);
  });
});

function withoutIndentation(line: string): string {
  return line.trim();
}
