import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillRequestsPage } from '../../scripts/reference/requests.ts';

const page = readFileSync('docs/reference/requests.md', 'utf8');
const revoke = {
  method: 'POST',
  path: '/oauth2/revoke',
  errorFormat: 'oauth-json',
  cors: 'get-post',
  codes: ['invalid_client', 'invalid_scope', 'internal'],
  parameters: ['token'],
} as const;

function filled(...routes: readonly Parameters<typeof fillRequestsPage>[1]['routes'][number][]): string {
  return fillRequestsPage(page, { routes, platformCodes: ['internal'] });
}

test('the request reference lists every route-specific error, without those of every endpoint', () => {
  const [, section = ''] = filled(revoke).split('\n## `POST /oauth2/revoke`\n');
  const [own = ''] = section.split('\n## ');
  expect([...own.matchAll(/^\| \d{3} `\w+` \| `(\w+)`/gm)].map(([, code]) => code)).toEqual([
    'invalid_client',
    'invalid_scope',
  ]);
});

test('a parameter that a route reads must be named in its section', () => {
  expect(() => filled({ ...revoke, parameters: ['token', 'brand_new'] })).toThrow(
    'requests.md: POST /oauth2/revoke does not name brand_new',
  );
});

test('a client route must have a section, a page gets a row', () => {
  const added = { ...revoke, path: '/oauth2/added' };
  expect(() => filled(revoke, added)).toThrow('requests.md has no section for POST /oauth2/added');
  const row = '| `POST /oauth2/added` | `token` | `invalid_client`, `invalid_scope` |';
  expect(filled(revoke, { ...added, errorFormat: 'page' })).toContain(row);
});
