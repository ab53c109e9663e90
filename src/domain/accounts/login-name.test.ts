import { describe, expect, test } from 'vitest';
import { usernameOfHint } from './login-name.ts';

const rules = { serverName: 'example.org', isEmailAllowed: false };

describe('login_hint suggests a username', () => {
  test.each([
    ['mxid:@amira:example.org', 'amira'],
    ['mxid:@amira:EXAMPLE.org', 'amira'],
    ['amira', 'amira'],
    ['a.b_c=d/e+f-1', 'a.b_c=d/e+f-1'],
  ])('%s: %s', (hint, username) => {
    expect(usernameOfHint(hint, rules)).toBe(username);
  });

  test.each([
    undefined,
    'mxid:@amira:other.example',
    'mxid:amira',
    'mxid:@:example.org',
    'mxid:@"><svg onload=alert(1)>:example.org',
    '@amira:example.org',
    'amira@example.org',
    'Amira Okafor',
    '<script>',
    'a'.repeat(257),
  ])('no name from %.40s', (hint) => {
    expect(usernameOfHint(hint, rules)).toBeUndefined();
  });

  test('an email address only where sign-in by email address is allowed', () => {
    const open = { ...rules, isEmailAllowed: true };
    expect(usernameOfHint('amira@example.org', open)).toBe('amira@example.org');
    expect(usernameOfHint('no address @ all', open)).toBeUndefined();
  });
});
