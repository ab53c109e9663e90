import { describe, expect, test } from 'vitest';
import { redirectTarget, redirectUriMatches, redirectUriProblem } from './redirect-uris.ts';

describe('registering a redirect URI', () => {
  test.each([
    'https://app.example/cb',
    'https://app.example/cb?keep=1&other=%20',
    'https://app.example',
    'http://intranet.example:8080/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:3000/cb',
    'com.example.app:/cb',
    'com.example.app://cb',
    'https://app.example/a..b/...',
    `https://app.example/${'a'.repeat(2028)}`,
  ])('accepts %.60s', (uri) => {
    expect(redirectUriProblem(uri)).toBeUndefined();
  });

  test.each([
    '',
    '/cb',
    '//app.example/cb',
    'app.example/cb',
    'localhost:3000/cb',
    'localhost:3000',
    'app.example:8443?x',
    'https:app.example/cb',
    'https:/app.example/cb',
    'https:///app.example/cb',
    'https://',
    'https://app.example/cb#f',
    'https://app.example/cb#',
    'https://user@app.example/cb',
    'https://user:password@app.example/cb',
    'com.example.app://user@host/cb',
    'https://*.app.example/cb',
    'https://app.example/c b',
    ' https://app.example/cb',
    'https://app.example/cb\n',
    'https://app.example/\u0007',
    'https://app.example/"',
    'https://app.example/<>',
    'https://app.example\\cb',
    'https://app.example/^`{|}',
    'https://äpp.example/cb',
    'https://app.example/%zz',
    'https://app.example/a/../cb',
    'https://app.example/./cb',
    'https://app.example/..',
    'https://app.example/%2E%2e/cb',
    'https://app.example/a%2f..%2Fcb',
    'https://app.example/a%5c../cb',
    'https://app.example/.%2e',
    'com.example.app:/../cb',
    `https://app.example/${'a'.repeat(2029)}`,
  ])('rejects %.60j (oauth 4.4)', (uri) => {
    expect(redirectUriProblem(uri)).toEqual(expect.any(String));
  });

  test.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://app.example/1',
    'about:blank',
    'ws://app.example/cb',
    'wss://app.example/cb',
    'view-source:https://app.example/',
  ])('rejects %j, so that no code runs and no file opens (S-05)', (uri) => {
    expect(redirectUriProblem(uri)).toEqual(expect.any(String));
  });
});

function publicClient(redirectUris: readonly string[]) {
  return { redirectUris, isPublic: true };
}

describe('redirect URI of a request', () => {
  test.each([
    'https://app.example/cb/',
    'https://app.example/cb/../evil',
    'https://app.example/cb%2f..',
    'https://app.example/cb?x=1',
    'https://app.example/cb#f',
    'https://app.example/CB',
    'https://APP.example/cb',
    'https://app.example:443/cb',
    'http://app.example/cb',
    'https://app.example.evil.example/cb',
    'https://app.example@evil.example/cb',
    'https://evil.example\\@app.example/cb',
    'https://app.example%00.evil.example/cb',
    'https://app.example/cb%0d%0aX:1',
    '//app.example/cb',
    ' https://app.example/cb',
    'https://ａpp.example/cb',
    'https://xn--pp-hza.example/cb',
    '',
  ])('%j does not match the registered https://app.example/cb (S-01)', (requested) => {
    expect(redirectUriMatches(publicClient(['https://app.example/cb']), requested)).toBe(false);
  });

  test('matches one of several registered ones', () => {
    expect(redirectUriMatches(publicClient(['https://app.example/cb', 'com.example:/cb']), 'com.example:/cb')).toBe(
      true,
    );
  });

  test.each(['1', '8080', '65535'])('a loopback URI can have port %s (RFC 8252 7.3)', (port) => {
    expect(redirectUriMatches(publicClient(['http://127.0.0.1/cb']), `http://127.0.0.1:${port}/cb`)).toBe(true);
    expect(redirectUriMatches(publicClient(['http://[::1]:9999/cb?x=1']), `http://[::1]:${port}/cb?x=1`)).toBe(true);
    expect(redirectUriMatches(publicClient(['http://localhost:9999/cb']), 'http://localhost/cb')).toBe(true);
  });

  test.each([
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:080/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:8080@evil.example/cb',
    'http://localhost/cb',
    'http://localhost:8080/cb',
    'http://[::1]/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'https://127.0.0.1/cb',
    'http://127.0.0.1/other',
    'http://127.0.0.1:8080/cb/',
    'http://127.0.0.1:8080/cb?x',
    'http://127.0.0.1.evil.example:8080/cb',
  ])('%s does not match the registered http://127.0.0.1/cb (S-03)', (requested) => {
    expect(redirectUriMatches(publicClient(['http://127.0.0.1/cb']), requested)).toBe(false);
  });

  test('a client with a secret gets codes only at the registered port (S-186, R-10)', () => {
    const client = { redirectUris: ['http://127.0.0.1:9999/cb', 'http://localhost/cb'], isPublic: false };
    expect(redirectUriMatches(client, 'http://127.0.0.1:9999/cb')).toBe(true);
    for (const requested of ['http://127.0.0.1:9998/cb', 'http://127.0.0.1/cb', 'http://localhost:8080/cb']) {
      expect(redirectUriMatches(client, requested)).toBe(false);
    }
  });

  test('the port of any other URI must match', () => {
    expect(redirectUriMatches(publicClient(['https://localhost/cb']), 'https://localhost:8443/cb')).toBe(false);
    expect(redirectUriMatches(publicClient(['http://app.example/cb']), 'http://app.example:8080/cb')).toBe(false);
  });
});

test.each([
  ['https://app.example:8443/cb', 'app.example:8443'],
  ['http://127.0.0.1:7777/cb', '127.0.0.1:7777'],
  ['com.example.app:/cb', 'com.example.app'],
  ['app:///cb', 'app'],
  // The app chose this host, which does not identify the recipient of the response.
  ['app://bank.example/cb', 'app://bank.example'],
])('shows that %s leads to %s', (uri, shown) => {
  expect(redirectTarget(uri)).toBe(shown);
});
