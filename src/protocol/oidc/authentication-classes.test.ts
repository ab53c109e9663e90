import { describe, expect, test } from 'vitest';
import { reachesAcr, strengthOf, type VerifiedFactor } from './authentication-classes.ts';

const PASSWORD: VerifiedFactor = { kind: 'password' };
const UPSTREAM: VerifiedFactor = { kind: 'upstream', amr: ['pwd', 'mfa'] };

describe('acr and amr of an authentication', () => {
  test.each<[string, readonly VerifiedFactor[], string, readonly string[]]>([
    ['a password', [PASSWORD], 'urn:latchkey:acr:1', ['pwd']],
    ['another service, with any request', [UPSTREAM], 'urn:latchkey:acr:1', ['pwd', 'mfa']],
    ['a one-time code after a password', [PASSWORD, { kind: 'totp' }], 'urn:latchkey:acr:2', ['pwd', 'otp', 'mfa']],
    [
      'a recovery code after a password',
      [PASSWORD, { kind: 'recovery_code' }],
      'urn:latchkey:acr:2',
      ['pwd', 'otp', 'mfa'],
    ],
    [
      'a one-time code after another service, each method named once',
      [UPSTREAM, { kind: 'totp' }],
      'urn:latchkey:acr:2',
      ['pwd', 'mfa', 'otp'],
    ],
    ['a passkey on one device', [{ kind: 'passkey', isSynced: false }], 'phr', ['hwk', 'user', 'mfa']],
    [
      'a synchronized passkey after a password',
      [PASSWORD, { kind: 'passkey', isSynced: true }],
      'phr',
      ['pwd', 'swk', 'user', 'mfa'],
    ],
  ])('%s', (_, factors, acr, amr) => {
    expect(strengthOf(factors)).toEqual({ acr, amr });
  });

  test.each([
    ['phr', 'urn:latchkey:acr:2', true],
    ['urn:latchkey:acr:2', 'urn:latchkey:acr:1', true],
    ['urn:latchkey:acr:1', 'urn:latchkey:acr:2', false],
    ['urn:latchkey:acr:2', 'phr', false],
    [undefined, 'urn:latchkey:acr:1', false],
  ])('%s is as strong as %s: %s', (reached, wanted, isStrong) => {
    expect(reachesAcr(reached, wanted)).toBe(isStrong);
  });
});
