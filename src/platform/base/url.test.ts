import { expect, test } from 'vitest';
import { parseUrl } from './url.ts';

test('distinguishes URLs from other text', () => {
  expect(parseUrl('https://app.example/cb?a=b')?.host).toBe('app.example');
  expect(parseUrl('app://callback')?.protocol).toBe('app:');
  for (const text of ['', '/path', 'app.example', 'https://', 'http://[::1']) expect(parseUrl(text)).toBeUndefined();
});

// Node.js compiles functions that are called often, and some behave differently once compiled.
test('returns the same result however often it parses the same URL', () => {
  const hosts = new Set<string | undefined>();
  for (let calls = 0; calls < 50_000; calls += 1) hosts.add(parseUrl('https://bücher.example:8443/x')?.host);
  expect([...hosts]).toEqual(['xn--bcher-kva.example:8443']);
});
