import { expect, test } from 'vitest';
import { newToken } from '#protocol/oauth/token-format.ts';
import { exactTokenKindLabel, tokenKindLabel } from './count-results.ts';

test.each([
  ['mat', 'access_token', 'oauth2_access_token'],
  ['mct', 'access_token', 'compat_access_token'],
  ['mpt', 'access_token', 'personal_access_token'],
  ['mar', 'refresh_token', 'oauth2_refresh_token'],
  ['mcr', 'refresh_token', 'compat_refresh_token'],
  ['mgt', 'unknown', 'unknown'],
] as const)('metrics: a token with the prefix %s is counted as %s, exactly %s', (prefix, label, exact) => {
  const token = newToken(prefix);
  expect(tokenKindLabel(token)).toBe(label);
  expect(exactTokenKindLabel(token)).toBe(exact);
});
