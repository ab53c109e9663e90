import { expect, test } from 'vitest';
import { load, problemsOf } from './fixture.test-support.ts';

const YAML = 'assets:\n  path: build\n';

test('assets.path names a directory created by a build', () => {
  const files = { 'latchkey.yaml': YAML, 'build/manifest.json': '{}' };
  expect(load({ files }).config.assets).toMatchObject({ path: expect.stringMatching(/\/build$/) });
});

test.each([
  ['a missing directory', {}],
  ['a directory with other files', { 'build/account.js': '' }],
])('assets.path: %s is rejected', (_what, others) => {
  expect(problemsOf({ files: { 'latchkey.yaml': YAML, ...others } })).toEqual([
    expect.stringMatching(
      /^assets\.path: cannot read .*\/build\/manifest\.json: no such file; the directory .* \(latchkey\.yaml:2:9\)$/,
    ),
  ]);
});
