import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ADMIN_PREFIXES, AREA_PREFIXES, catalogues } from '../../../scripts/steps/catalogues.js';

const web = join(import.meta.dirname, '../../../web');
const locales = join(web, '../locales');
const english: Record<string, string> = JSON.parse(readFileSync(join(locales, 'en.json'), 'utf8'));

function sourcesOf(isOwn: (name: string) => boolean): string {
  return readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(?:test|generated)\./.test(name) && isOwn(name))
    .map((name) => readFileSync(join(web, name), 'utf8'))
    .join('\n');
}

describe.each([
  { area: 'account', prefixes: AREA_PREFIXES, sources: sourcesOf((name) => !name.startsWith('admin/')), page: '' },
  {
    area: 'admin',
    prefixes: ADMIN_PREFIXES,
    sources: sourcesOf((name) => name.startsWith('admin/')),
    page: readFileSync(join(import.meta.dirname, '../../features/admin-area/admin.page.tsx'), 'utf8'),
  },
])('texts of the $area area', ({ area, prefixes, sources, page }) => {
  test('every text is used in it', () => {
    const composed = [...sources.matchAll(new RegExp(`\`(${area}\\.[a-z0-9_.]*)\\$\\{`, 'g'))].map(
      (match) => match[1] ?? '',
    );
    const unused = Object.keys(english).filter(
      (key) =>
        key.startsWith(`${area}.`) &&
        !(sources + page).includes(`'${key}'`) &&
        !composed.some((beginning) => beginning.length > area.length + 1 && key.startsWith(beginning)),
    );
    expect(unused).toEqual([]);
  });

  test('the browser files contain every text that the area can show, in every language', () => {
    const keys = Object.keys(english).filter((key) => prefixes.some((prefix) => key.startsWith(prefix)));
    const files = catalogues(locales).filter(([name]) => name?.startsWith(`${area}-`));
    expect(files.map(([name]) => name).sort()).toEqual(
      readdirSync(locales)
        .map((name) => `${area}-${name}`)
        .sort(),
    );
    for (const [, , text] of files) expect(Object.keys(JSON.parse(text ?? ''))).toEqual(keys);
  });

  test('its text type lists the same prefixes as the browser files', () => {
    const listed = /`\$\{((?:'[a-z_]+'(?: \| )?)+)\}\.\$\{string\}`/.exec(sources)?.[1];
    expect(listed?.split(' | ').map((name) => `${name.slice(1, -1)}.`)).toEqual(prefixes);
  });
});
