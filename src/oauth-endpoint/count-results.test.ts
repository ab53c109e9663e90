import { expect, test } from 'vitest';
import { newToken } from '#protocol/oauth/token-format.ts';
import { tokenKindLabel } from './count-results.ts';

test.each([
  ['mat', 'access_token'],
  ['mct', 'access_token'],
  ['mpt', 'access_token'],
  ['mar', 'refresh_token'],
  ['mcr', 'refresh_token'],
  ['mgt', 'unknown'],
] as const)('metrics: a token with the prefix %s is counted as %s', (prefix, label) => {
  expect(tokenKindLabel(newToken(prefix))).toBe(label);
});
