import { describe, expect, test } from 'vitest';
import { ssoRedirectProblem, ssoTarget, withLoginToken } from './sso-redirect.ts';

describe('redirect URLs that a token can be sent to (chat-compat 8, S-70)', () => {
  test.each([
    'https://app.example',
    'https://app.example/',
    'HTTPS://App.Example/signed-in?a=b#/room',
    'http://localhost:8765/callback',
    'http://[::1]:8765/',
    'https://bücher.example/ä?ö=ü',
    'app.example:/signed-in',
    'app.example.client://signed-in',
    'element://vector/webapp/',
    'io.element.desktop:/vector/webapp/?x=%2F',
    'https://app.example/@amira',
    `https://app.example/${'x'.repeat(2028)}`,
  ])('allows %.60s', (address) => {
    expect(ssoRedirectProblem(address, undefined)).toBeUndefined();
  });

  test.each([
    ['', 'must be an absolute URL'],
    ['/signed-in', 'must be an absolute URL'],
    ['//app.example/', 'must be an absolute URL'],
    ['app.example', 'must be an absolute URL'],
    [' https://app.example/', 'must be an absolute URL'],
    ['https:', 'must be an absolute URL'],
    ['https:app.example', 'must have a host after ://'],
    ['https:///app.example', 'must have a host after ://'],
    ['http:/app.example', 'must have a host after ://'],
    ['https://?x', 'must be an absolute URL'],
    ['https://app example/', 'must be an absolute URL'],
    ['https://user@evil.example/', 'must not contain a username or password'],
    ['https://user:pass@evil.example/', 'must not contain a username or password'],
    ['https://@evil.example/', 'must not contain a username or password'],
    ['element://user@vector/', 'must not contain a username or password'],
    ['https://app.example\\@evil.example/', 'must not contain control characters or backslashes'],
    ['https://app.example/\r\nSet-Cookie: a=b', 'must not contain control characters or backslashes'],
    ['java\tscript:alert(1)', 'must not contain control characters or backslashes'],
    ['https://app.example/\u0085', 'must not contain control characters or backslashes'],
    [`https://app.example/${'x'.repeat(2029)}`, 'must have at most 2048 characters'],
    ...[
      ...['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd'],
      ...['blob:https://app.example/1', 'about:blank', 'view-source:https://app.example/', 'filesystem:https://a/'],
      ...['ws://app.example/', 'wss://app.example/', 'ftp://app.example/'],
    ].map((address): [string, string] => [
      address,
      `must not have the scheme ${address.slice(0, address.indexOf(':')).toLowerCase()}`,
    ]),
  ])('does not allow %.60j', (address, problem) => {
    expect(ssoRedirectProblem(address, undefined)).toBe(`redirectUrl ${problem}`);
  });
});

describe('the operator’s allowlist', () => {
  const ALLOWED = ['https://app.example/client', 'https://all.example', 'element://vector/', 'app.example:/in'];

  test.each([
    'https://app.example/client',
    'https://app.example:443/client',
    'https://APP.example/client/',
    'https://app.example/client?x#y',
    'https://app.example/client/deeper/still',
    'https://all.example',
    'https://all.example/anything?x=%2e%2e%2f',
    'element://vector/webapp/',
    'app.example:/in',
  ])('allows %s', (address) => {
    expect(ssoRedirectProblem(address, ALLOWED)).toBeUndefined();
  });

  test.each([
    'https://app.example/',
    'https://app.example/clients',
    'https://app.example/client.evil',
    'https://app.example/client/../other',
    'https://app.example/client/%2e%2e/other',
    'https://app.example/client/..%2fother',
    'https://app.example/client/..%5cother',
    'http://app.example/client',
    'https://app.example:8443/client',
    'https://app.example.evil.example/client',
    'https://evil.example/https://app.example/client',
    'https://sub.all.example/',
    'element://evil/webapp/',
    'element:/vector/',
    'app.example:/in/../out',
    'app.example:/inside',
  ])('rejects %s', (address) => {
    expect(ssoRedirectProblem(address, ALLOWED)).toBe('redirectUrl is not allowed by the configuration');
  });

  test.each(['im.client.app://', 'im.client.app:'])('%s matches every URL of that application', (prefix) => {
    for (const address of [
      'im.client.app://',
      'im.client.app://callback/x?y',
      'im.client.app:/x',
      'im.client.app:///x',
    ])
      expect(ssoRedirectProblem(address, [prefix]), address).toBeUndefined();
    for (const address of ['im.client.apps://callback', 'https://im.client.app/'])
      expect(ssoRedirectProblem(address, [prefix]), address).toContain('is not allowed by the configuration');
  });

  test('can contain a whole URL', () => {
    const whole = ['https://app.example/?client=chat'];
    expect(ssoRedirectProblem('https://app.example/?client=chat', whole)).toBeUndefined();
    expect(ssoRedirectProblem('https://app.example/?client=chat2', whole)).toBeDefined();
    expect(ssoRedirectProblem('https://app.example/in?client=chat', whole)).toBeDefined();
  });
});

describe('the redirect target shown to users', () => {
  test.each([
    ['https://app.example/signed-in?a=b', 'app.example', false],
    ['https://app.example:8443/', 'app.example:8443', false],
    ['https://bücher.example/', 'xn--bcher-kva.example', false],
    ['https://\u0430pp.example/', 'xn--pp-6kc.example', false],
    ['http://app.example:80/', 'http://app.example', true],
    ['http://192.0.2.1/', 'http://192.0.2.1', true],
    ['http://127.0.0.1.evil.example/', 'http://127.0.0.1.evil.example', true],
    ['http://localhost.evil.example/', 'http://localhost.evil.example', true],
    ['http://localhost:8765/', 'http://localhost:8765', false],
    ['http://client.localhost/', 'http://client.localhost', false],
    ['http://127.1/', 'http://127.0.0.1', false],
    ['http://[::1]:8765/', 'http://[::1]:8765', false],
    ['element://vector/webapp/?x=y', 'element://vector/webapp/', false],
    ['App.Example:/signed-in#y', 'app.example:/signed-in', false],
    ['app.example:/\u202eni-dengis', 'app.example:/%E2%80%AEni-dengis', false],
    [`app.example:/${'x'.repeat(100)}`, `app.example:/${'x'.repeat(87)}…`, false],
  ])('%s', (address, name, isUnprotected) => {
    expect(ssoTarget(address)).toEqual({ name, isUnprotected });
  });
});

describe('position of the token (chat-compat 9.2, I-13)', () => {
  test.each([
    ['https://app.example', 'https://app.example?loginToken=T'],
    ['https://app.example/', 'https://app.example/?loginToken=T'],
    ['https://app.example/?', 'https://app.example/?loginToken=T'],
    ['https://app.example/?a=b&c', 'https://app.example/?a=b&c&loginToken=T'],
    ['https://app.example/?a=%2F+%20x&&=', 'https://app.example/?a=%2F+%20x&&=&loginToken=T'],
    ['https://app.example/#/room?x=y', 'https://app.example/?loginToken=T#/room?x=y'],
    ['https://app.example/?a=b#/c?d', 'https://app.example/?a=b&loginToken=T#/c?d'],
    ['https://app.example/?loginToken=old', 'https://app.example/?loginToken=T'],
    ['https://app.example/?a=b&loginToken=x&login%54oken&c=d', 'https://app.example/?a=b&c=d&loginToken=T'],
    ['https://app.example/?loginTokens=x&%zz=1', 'https://app.example/?loginTokens=x&%zz=1&loginToken=T'],
    ['HTTP://LocalHost:80/A%2fB', 'HTTP://LocalHost:80/A%2fB?loginToken=T'],
    ['app.example:signed-in', 'app.example:signed-in?loginToken=T'],
    ['element://vector/webapp/?x=y#z', 'element://vector/webapp/?x=y&loginToken=T#z'],
    [
      'https://bücher.example:8443/ä b?ö=\u{1f600}#ü',
      'https://xn--bcher-kva.example:8443/%C3%A4%20b?%C3%B6=%F0%9F%98%80&loginToken=T#%C3%BC',
    ],
  ])('%s', (address, expected) => {
    expect(withLoginToken(address, 'T')).toBe(expected);
  });
});
