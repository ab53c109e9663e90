import { expect, test } from 'vitest';
import { headerRecord } from '#test/support/header-record.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const service = await sharedByTests(startService({}));

const get = (path: string) => fetch(service.address + path, { redirect: 'manual' });

test('GET /api/doc redirects permanently to the reference', async () => {
  const { status, headers } = await get('/api/doc');
  expect([status, headers.get('location')]).toEqual([308, `${service.publicBase}api/doc/`]);
});

test('GET /api/doc/ is a public page whose script loads the OpenAPI document (S-173)', async () => {
  const response = await get('/api/doc/');
  const body = await response.text();
  expect(response.status).toBe(200);
  expect(service.requestLines().at(-1)).toMatchObject({ status: 200, queries: 0 });
  expect(body).toContain('data-description="/api/spec.json"');
  expect(body).toContain(`data-callback="${service.publicBase}api/doc/oauth2-callback"`);
  expect(body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on[a-z]+=/);
  expect(headerRecord(response.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; script-src 'self'; style-src 'self'; .*connect-src 'self'; .*frame-ancestors 'none'/,
    ),
  });
});

test('the callback page is identical for all queries, and reveals them to nobody (S-173)', async () => {
  const plain = await (await get('/api/doc/oauth2-callback')).text();
  const response = await get('/api/doc/oauth2-callback?code=NeverShown1&state=%22%3E%3Cscript%3Ealert(1)%3C/script%3E');
  expect(await response.text()).toBe(plain);
  expect(headerRecord(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
  });
  expect(service.logLines().join('\n')).not.toContain('NeverShown1');
});

test('rejects other methods, and is served only together with the API', async () => {
  const { status, headers } = await fetch(`${service.address}/api/doc/`, { method: 'POST' });
  expect([status, headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
  const listeners = [{ resources: ['human', 'health'], binds: [{ address: '127.0.0.1:0' }] }];
  const other = await startService({ http: { listeners } });
  try {
    for (const path of ['/api/doc', '/api/doc/', '/api/doc/oauth2-callback', '/api/spec.json']) {
      expect((await fetch(other.address + path, { redirect: 'manual' })).status, path).toBe(404);
    }
  } finally {
    await other.stop();
  }
});
