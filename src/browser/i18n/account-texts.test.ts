import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AREA_PREFIXES, catalogues } from '../../../scripts/steps/catalogues.js';

const web = join(import.meta.dirname, '../../../web');
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.(?:test|generated)\./.test(name))
  .map((name) => readFileSync(join(web, name), 'utf8'))
  .join('\n');

test('every text of the account area is used in it', () => {
  const { english } = readEnglish();
  const composed = [...sources.matchAll(/`(account\.[a-z0-9_.]*)\$\{/g)].map((match) => match[1] ?? '');
  const unused = Object.keys(english).filter(
    (key) =>
      key.startsWith('account.') &&
      !sources.includes(`'${key}'`) &&
      !composed.some((beginning) => beginning.length > 'account.'.length && key.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

test('the browser files contain every text that the area can show, in every language', () => {
  const { english, folder } = readEnglish();
  const keys = Object.keys(english).filter((key) => AREA_PREFIXES.some((prefix) => key.startsWith(prefix)));
  const files = catalogues(folder);
  expect(files.map(([name]) => name).sort()).toEqual(
    readdirSync(folder)
      .map((name) => `account-${name}`)
      .sort(),
  );
  for (const [, , text] of files) expect(Object.keys(JSON.parse(text ?? ''))).toEqual(keys);
});

test('the text type of the area lists the same prefixes as the browser files', () => {
  const listed = /`\$\{((?:'[a-z_]+'(?: \| )?)+)\}\.\$\{string\}`/.exec(sources)?.[1];
  expect(listed?.split(' | ').map((name) => `${name.slice(1, -1)}.`)).toEqual(AREA_PREFIXES);
});

function readEnglish(): { readonly english: Record<string, string>; readonly folder: string } {
  const folder = join(web, '../locales');
  return { english: JSON.parse(readFileSync(join(folder, 'en.json'), 'utf8')), folder };
}
