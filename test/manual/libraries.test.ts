import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPage } from './pages.ts';

const SIGN_IN = 'docs/guides/sign-in-an-app.md';
const RESOURCE_SERVER = 'docs/guides/resource-server.md';

/** Returns the applications that a guide quotes below a heading. */
function sectionsOf(guide: string, heading: string) {
  const [, below = ''] = readPage(guide).text.split(`\n## ${heading}\n`);
  const [settings = ''] = below.split('\n## ');
  return settings
    .split('\n### ')
    .slice(1)
    .map((text) => {
      const [name = ''] = text.split('\n', 1);
      const [, link = ''] = /\]\((\.\.[^)]+)\)/.exec(text) ?? [];
      const [, block = ''] = /^```\w+\n(.*?)^```$/ms.exec(text) ?? [];
      return { name, path: join(guide, '..', link), lines: block.split('\n').map(withoutIndentation).filter(Boolean) };
    });
}

const signIn = sectionsOf(SIGN_IN, 'Settings for libraries and servers');
const resourceServer = sectionsOf(RESOURCE_SERVER, 'Settings for frameworks');

/** `tools/apps` runs these applications against the service. The guides quote the tested code. */
describe('guides "Sign in an app" and "Connect a resource server": settings', () => {
  test('has the tested applications', () => {
    expect([...signIn, ...resourceServer].map(({ path }) => path.split('/')[2])).toEqual(
      expect.arrayContaining([
        'auth-js',
        'better-auth',
        'flask-authlib',
        'mozilla-django-oidc',
        'go-oidc',
        'mod-auth-openidc',
        'synapse',
        'spring',
        'pyjwt',
        'mcp',
      ]),
    );
  });

  test.each([...signIn, ...resourceServer])('$name: every line is in the tested application', ({ path, lines }) => {
    const application = readFileSync(path, 'utf8').split('\n').map(withoutIndentation);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => !application.includes(line))).toEqual([]);
  });
});

function withoutIndentation(line: string): string {
  return line.trim();
}
