import { expect, test } from 'vitest';
import { commonHost } from './sector.ts';

test.each<[readonly string[], string | undefined]>([
  [['https://app.example/cb'], 'app.example'],
  [['https://app.example/cb', 'https://APP.example:8443/other', 'http://app.example/'], 'app.example'],
  [['https://app.example/cb', 'https://www.app.example/cb'], undefined],
  [['https://app.example/cb', 'com.example.app:/cb'], undefined],
  [['com.example.app:/cb'], undefined],
  [['http://localhost:3000/cb'], undefined],
  [['http://127.0.0.1/cb'], undefined],
  [['http://[::1]/cb'], undefined],
  [[], undefined],
])('redirect URIs %j share the host %s (OpenID Connect Core 8.1)', (uris, host) => {
  expect(commonHost(uris)).toBe(host);
});
