import { expect, test } from 'vitest';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { ASSET_NAMES } from './asset-manifest.ts';
import { load, problemsOf } from './fixture.test-support.ts';

const YAML = 'assets:\n  path: build\ntemplates:\n  assets_manifest: build/.vite/manifest.json\n';
const NAMES = [
  ...ASSET_NAMES,
  ...BUNDLED_LANGUAGES.flatMap((language) => [`account-${language}.json`, `admin-${language}.json`]),
];

/** A manifest as Vite writes it, with the files that it names. */
function build(changes: Readonly<Record<string, unknown>> = {}) {
  const manifest = Object.fromEntries(NAMES.map((name) => [`src/${name}`, { file: `assets/x-${name}` }]));
  const files = Object.fromEntries(NAMES.map((name) => [`build/x-${name}`, '']));
  const text = JSON.stringify({ ...manifest, ...changes });
  return { 'latchkey.yaml': YAML, ...files, 'build/.vite/manifest.json': text };
}

test('templates.assets_manifest replaces manifest.json of the directory', () => {
  expect(load({ files: build() }).config.assets).toMatchObject({
    path: expect.stringMatching(/\/build$/),
    manifest: expect.stringMatching(/\/build\/\.vite\/manifest\.json$/),
  });
});

test.each([
  [{ 'src/pages.css': 7 }, 'has no file for "src/pages.css"'],
  [
    { 'src/pages.css': { file: '../pages.css' } },
    'refers to "../pages.css", which is not a file name without a directory',
  ],
  [
    { 'src/pages.css': { file: 'deep/pages.css' } },
    'refers to "deep/pages.css", which is not a file name without a directory',
  ],
  [{ 'src/pages.css': undefined, 'src/account-en.json': undefined }, 'lacks pages.css, account-en.json'],
  [{ 'src/pages.css': { file: 'y.css' } }, expect.stringMatching(/^refers to y\.css, which is not in .*\/build$/)],
  [
    { 'src/pages.css': { file: 'x-pages.css', css: ['z.css'] } },
    expect.stringMatching(/^refers to z\.css, which is not in .*\/build$/),
  ],
])('a manifest with %j is rejected', (changes, expected) => {
  const [found = '', ...more] = problemsOf({ files: build(changes) });
  expect(more).toEqual([]);
  const [, message] = /^templates\.assets_manifest: .*manifest\.json (.*) \(latchkey\.yaml:4:20\)$/.exec(found) ?? [
    found,
  ];
  expect(message).toEqual(expected);
});

test.each([
  ['{', 'is not valid JSON'],
  ['[]', 'is not a JSON object that maps names to files'],
])('a manifest with the content %j is rejected', (text, expected) => {
  expect(problemsOf({ files: { ...build(), 'build/.vite/manifest.json': text } })).toEqual([
    expect.stringContaining(expected),
  ]);
});

test('a missing manifest is rejected', () => {
  const { 'build/.vite/manifest.json': _manifest, ...files } = build();
  expect(problemsOf({ files })).toEqual([
    expect.stringMatching(/^templates\.assets_manifest: cannot read .*manifest\.json: no such file/),
  ]);
});
