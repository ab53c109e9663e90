/** The GraphQL playground (account-graphql 1.9). Its script is tested in a browser (tools/browser). */
import { afterEach, describe, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const PATH = '/graphql/playground';

let service: TestService;

afterEach(async () => {
  await service.stop();
});

const visitor = () => new Browser({ listener: service.address, publicBase: service.publicBase });
const lastLine = () => service.logLines().findLast((line) => line.includes(' http.server.response ')) ?? '';

describe('GET /graphql/playground', () => {
  test('is the same page for everybody, without a database query, and blocks third-party content (S-173)', async () => {
    service = await startService({});
    await service.registerUser('gita', PASSWORD);
    const gita = visitor();
    await gita.get('/login');
    await gita.submit({ username: 'gita', password: PASSWORD });
    const [signedIn, anonymous] = [await gita.get(PATH), await visitor().get(PATH)];
    expect([signedIn.status, anonymous.status, anonymous.body]).toEqual([200, 200, signedIn.body]);
    expect(lastLine()).toContain(' queries: 0,');
    expect(lastLine()).not.toContain('graphql.operation');
    expect(anonymous.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; " +
        "form-action 'none'",
    });
    expect(anonymous.body).toContain(' data-endpoint="/graphql"');
    const addresses = [...anonymous.body.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.filter((address) => !/^\/(?:assets\/[^/]+)?$/.test(address ?? ''))).toEqual([]);
    expect(anonymous.body).toContain('<script src="/assets/playground');
    expect(anonymous.body).not.toMatch(/<script[^>]*>[^<]|<style| style=| on[a-z]+=|<form/);
  });

  test("uses the reader's language", async () => {
    service = await startService({});
    const { address: listener, publicBase } = service;
    const { body, headers } = await new Browser({ listener, publicBase, acceptLanguage: 'de' }).get(PATH);
    expect(headers['content-language']).toBe('de');
    expect(body).toContain('<h1>API-Spielwiese</h1>');
  });

  test.each([
    ['HEAD', 200],
    ['POST', 405],
  ])('%s returns %d', async (method, status) => {
    service = await startService({});
    const response = await fetch(service.address + PATH, { method });
    expect(response.status).toBe(status);
  });

  test('returns 404 where it is disabled', async () => {
    service = await startService({ graphql: { playground: false } });
    expect((await visitor().get(PATH)).status).toBe(404);
    expect((await visitor().get(`${PATH}/`)).status).toBe(404);
  });
});
