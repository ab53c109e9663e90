import { describe, expect, test } from 'vitest';
import { ResourceRules } from './resource-rules.ts';
import { ScopeRules } from './scopes.ts';

const ISSUER = 'https://auth.example/';
const CALENDAR = 'https://calendar.example/api';
const FILES = 'https://files.example';
const scopeRules = new ScopeRules('chat', ['events.read', 'files.read', 'shared']);
const rules = new ResourceRules(
  scopeRules,
  [ISSUER],
  [
    { identifier: CALENDAR, scopes: ['events.read', 'shared'] },
    { identifier: FILES, scopes: ['files.read', 'shared'] },
  ],
);

describe('requested resources (RFC 8707 2)', () => {
  test('are the issuer and the configured ones, each once, with or without a trailing slash', () => {
    const sent = [FILES, `${FILES}/`, 'https://auth.example', CALENDAR];
    expect(rules.accepted(sent)).toEqual([FILES, ISSUER, CALENDAR]);
    expect(rules.accepted([])).toEqual([]);
  });

  test.each([
    'https://other.example',
    'https://files.example/more',
    'https://files.example//',
    'https://files.example#',
    'https://files.example/#a',
    'https://files.example?a=b',
    'HTTPS://files.example',
    'http://files.example',
    'files.example',
    '/',
    '__proto__',
  ])('%s is rejected', (value) => {
    expect(rules.accepted([FILES, value])).toBeUndefined();
    expect(rules.spelled([`${FILES}/`, value])).toEqual([FILES, value]);
  });

  test('are limited to five', () => {
    const many = Array.from({ length: 6 }, (_, index) => ({ identifier: `https://${index}.example`, scopes: [] }));
    const identifiers = many.map(({ identifier }) => identifier);
    const crowded = new ResourceRules(scopeRules, [], many);
    expect(crowded.accepted(identifiers.slice(1))).toHaveLength(5);
    expect(crowded.accepted(identifiers)).toBeUndefined();
  });

  test('are shown to users unless they are this service', () => {
    expect(rules.shown([ISSUER, FILES])).toEqual([FILES]);
  });
});

describe('the scope of a token for resources (RFC 8707 3)', () => {
  const USER = ['openid', 'email', 'offline_access'];
  const POWERS = ['urn:chat:client:api:*', 'urn:latchkey:admin', 'urn:synapse:admin:*'];
  const granted = [...USER, ...POWERS, 'events.read', 'files.read', 'shared'];

  test.each([
    ['none', [], granted],
    ['one resource server', [FILES], [...USER, 'files.read', 'shared']],
    ['two', [FILES, CALENDAR], [...USER, 'events.read', 'files.read', 'shared']],
    ['this service', [ISSUER], [...USER, ...POWERS]],
    ['this service and another', [CALENDAR, ISSUER], [...USER, ...POWERS, 'events.read', 'shared']],
    ['one that is no longer configured', ['https://gone.example'], USER],
  ])('for %s', (_, resources, scope) => {
    expect(rules.scopeAt(resources, granted)).toEqual(scope);
  });
});
