/** Security 4.19: responses that reach another recipient through a shared cache or a page of another site. */
import { describe, expect, test } from 'vitest';
import { attackedService, basic, C1, ISSUER } from './attacked-service.ts';
import { headerOf, type RawResponse } from './raw-http.ts';

const attacked = attackedService();
const SHARED = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/webfinger?resource=acct:amira@example.test',
  '/oauth2/keys.json',
  '/robots.txt',
];

/** Requests every route with its own method and with an unsupported one, and paths without a route. */
async function askEverything(
  headers: readonly [string, string][] = [],
): Promise<{ path: string; errorFormat: string; answer: RawResponse }[]> {
  const responses = [];
  for (const { method, target, path, errorFormat } of attacked.routes()) {
    const type: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
    const body = method === 'POST' ? { headers: [type, ...headers], body: '' } : { headers };
    responses.push({ path: `${method} ${path}`, errorFormat, answer: await attacked.ask({ method, target, ...body }) });
    responses.push({
      path: `PUT ${path}`,
      errorFormat,
      answer: await attacked.ask({ method: 'PUT', target, headers }),
    });
  }
  for (const target of ['/nowhere', '/oauth2/nowhere', '/.well-known/nowhere', '/_chat/client/v3/nowhere']) {
    const errorFormat = target === '/nowhere' ? 'page' : 'machine';
    responses.push({ path: `GET ${target}`, errorFormat, answer: await attacked.ask({ target, headers }) });
  }
  return responses;
}

describe('responses that shared caches may store (S-153)', () => {
  const POISON: [string, string][] = [
    ['Host', 'evil.example'],
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Proto', 'http'],
    ['X-Forwarded-Prefix', '/evil'],
    ['X-Original-URL', '/evil'],
    ['Accept-Language', 'de'],
    ['Accept', 'text/html'],
    ['Origin', 'https://evil.example'],
    ['Cookie', '__Host-latchkey_lang=evil; __Host-latchkey_session=evil'],
    ['Authorization', 'Bearer evil'],
    ['Range', 'bytes=0-1'],
    ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    ['X-HTTP-Method-Override', 'POST'],
  ];

  test.each(SHARED)('%s varies only by URL', async (target) => {
    const plain = await attacked.ask({ target });
    expect(headerOf(plain, 'cache-control')).toMatch(/^public, max-age=\d+/);
    for (const header of POISON) {
      const response = await attacked.ask({ target, headers: [header] });
      expect([header, response.status, response.body]).toEqual([header, 200, plain.body]);
      expect([...response.headers].filter(([name]) => name !== 'date')).toEqual(
        [...plain.headers].filter(([name]) => name !== 'date'),
      );
    }
    const separator = target.includes('?') ? '&' : '?';
    expect((await attacked.ask({ target: `${target}${separator}evil=1` })).body).toBe(plain.body);
  });

  test('revalidate by ETag, and a stale one gets the full response', async () => {
    const target = '/oauth2/keys.json';
    const tag = headerOf(await attacked.ask({ target }), 'etag');
    expect((await attacked.ask({ target, headers: [['If-None-Match', tag ?? '']] })).status).toBe(304);
    expect((await attacked.ask({ target, headers: [['If-None-Match', '"stale"']] })).status).toBe(200);
  });

  test('never set a cookie, show an error or depend on the caller', async () => {
    const browser = await attacked.signedIn('amira');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const { path, answer: response } of await askEverything([['Cookie', cookie]])) {
      const isShared = /^public/.test(headerOf(response, 'cache-control') ?? '');
      if (!isShared) continue;
      const status = path === 'GET /.well-known/change-password' ? 303 : 200;
      expect([path, response.status, headerOf(response, 'set-cookie')]).toEqual([path, status, undefined]);
      expect(response.body).not.toContain('amira');
    }
  });
});

describe('requests from other origins (S-154)', () => {
  const READ = { origin: '*', methods: 'GET' };
  const CALL = { origin: '*', methods: 'GET, POST' };
  const CHAT = { origin: '*', methods: 'GET, POST, PUT, DELETE, OPTIONS' };
  /** Security 3.7. Every other route has none. */
  const MATRIX: Readonly<Record<string, typeof READ>> = {
    '/.well-known/openid-configuration': READ,
    '/.well-known/oauth-authorization-server': READ,
    '//.well-known/openid-configuration': READ,
    '//.well-known/oauth-authorization-server': READ,
    '/.well-known/oauth-authorization-server/': READ,
    '/.well-known/webfinger': READ,
    '/.well-known/security.txt': READ,
    '/oauth2/keys.json': READ,
    '/oauth2/token': CALL,
    '/oauth2/revoke': CALL,
    '/oauth2/introspect': CALL,
    '/oauth2/registration': CALL,
    '/oauth2/registration/:client_id': { origin: '*', methods: 'GET, PUT, DELETE' },
    '/oauth2/device': CALL,
    '/oauth2/par': CALL,
    '/oauth2/userinfo': CALL,
    '/_chat/client/:version/login': CHAT,
    '/_chat/client/:version/logout': CHAT,
    '/_chat/client/:version/logout/all': CHAT,
    '/_chat/client/:version/refresh': CHAT,
  };

  test.each(['https://evil.example', 'https://evil.example.test', 'null', ISSUER.slice(0, -1)])(
    'of %s may read what security 3.7 lists, without credentials, and are never echoed',
    async (origin) => {
      for (const { method, target, path } of attacked.routes()) {
        const expected = MATRIX[path];
        const simple = await attacked.ask({ method, target, headers: [['Origin', origin]] });
        const preflight = await attacked.ask({
          method: 'OPTIONS',
          target,
          headers: [
            ['Origin', origin],
            ['Access-Control-Request-Method', 'POST'],
            ['Access-Control-Request-Headers', 'authorization'],
          ],
        });
        expect([path, headerOf(simple, 'access-control-allow-origin')]).toEqual([path, expected?.origin]);
        expect([path, headerOf(preflight, 'access-control-allow-origin')]).toEqual([path, expected?.origin]);
        expect([path, headerOf(preflight, 'access-control-allow-methods')]).toEqual([path, expected?.methods]);
        expect([path, preflight.status]).toEqual([path, 204]);
        expect(attacked.service.requestLines().at(-1)?.queries, 'a preflight asks no database').toBe(0);
        for (const response of [simple, preflight]) {
          expect(response.headers.has('access-control-allow-credentials')).toBe(false);
          expect([...response.headers.values()].flat().join(' ')).not.toContain('evil');
        }
      }
    },
  );

  test('a signed-in user’s page is not readable from another origin, including errors and preflights', async () => {
    const browser = await attacked.signedIn('amira');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: [string, string][] = [
      ['Cookie', cookie],
      ['Origin', 'https://evil.example'],
    ];
    for (const { path, errorFormat, answer: response } of await askEverything(headers)) {
      if (errorFormat === 'page')
        expect([path, headerOf(response, 'access-control-allow-origin')]).toEqual([path, undefined]);
    }
  });
});

describe('response headers (S-155)', () => {
  test('declare content type, framing and caching', async () => {
    for (const { path, errorFormat, answer: response } of await askEverything()) {
      const get = (name: string): string | undefined => headerOf(response, name);
      expect([path, get('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect([path, get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
      expect([path, get('server'), get('x-powered-by')]).toEqual([path, undefined, undefined]);
      expect([path, get('cross-origin-resource-policy')]).toEqual([
        path,
        expect.stringMatching(errorFormat === 'page' ? /^same-origin$/ : /^(same|cross)-origin$/),
      ]);
      if (response.status >= 400) expect([path, get('cache-control')]).toEqual([path, 'no-store']);
      if (!get('content-type')?.startsWith('text/html')) continue;
      expect([path, get('cache-control')]).toEqual([path, 'no-store']);
      expect([path, get('vary')]).toEqual([path, 'Accept-Language, Cookie']);
      expect([path, get('x-frame-options')]).toEqual([path, 'DENY']);
      // The callback URL contains a code.
      const referrer = path === 'GET /api/doc/oauth2-callback' ? 'no-referrer' : 'same-origin';
      expect([path, get('referrer-policy')]).toEqual([path, referrer]);
      const opener = path === 'GET /api/doc/' ? 'same-origin-allow-popups' : undefined;
      expect([path, get('cross-origin-opener-policy')]).toEqual([path, opener]);
      expect([path, get('permissions-policy')]).toEqual([path, expect.stringContaining('camera=()')]);
      const policy = new Map(
        (get('content-security-policy') ?? '').split('; ').map((part) => [part.split(' ')[0], part]),
      );
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        // The playground has its own policy (account-graphql 1.9).
        ...(path === 'GET /graphql/playground'
          ? ["style-src 'self' 'unsafe-inline'", "form-action 'none'"]
          : ["style-src 'self'", "form-action 'self'", "object-src 'none'"]),
      ]) {
        expect([path, policy.get(rule.split(' ')[0])]).toEqual([path, rule]);
      }
    }
  });

  test('a redirect that carries a code is not cached and sends no referrer', async () => {
    const browser = await attacked.signedIn('amira');
    await attacked.code(browser, C1);
    const { headers } = await browser.get(attacked.authorizeUrl(C1));
    expect(headers.location).toContain('code=');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  test('tokens and token metadata are not cached', async () => {
    const { accessToken, answer: response } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    expect([headerOf(response, 'cache-control'), headerOf(response, 'pragma')]).toEqual(['no-store', 'no-cache']);
    const others = [
      await attacked.post('/oauth2/introspect', { token: accessToken }, basic(C1)),
      await attacked.ask({ target: '/oauth2/userinfo', headers: [['Authorization', `Bearer ${accessToken}`]] }),
      await attacked.post('/oauth2/revoke', { token: accessToken }, basic(C1)),
    ];
    for (const other of others) {
      expect(other.status).toBe(200);
      expect(headerOf(other, 'cache-control')).toBe('no-store');
    }
  });
});

test('private responses do not load as scripts or images of another site (S-156)', async () => {
  const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
  const bearer: [string, string] = ['Authorization', `Bearer ${accessToken}`];
  const info = await attacked.ask({ target: '/oauth2/userinfo', headers: [bearer, ['Accept', 'text/javascript']] });
  expect([headerOf(info, 'content-type'), headerOf(info, 'x-content-type-options')]).toEqual([
    'application/json',
    'nosniff',
  ]);
  // A page that redefines the array constructor can read a top-level array.
  expect(info.body).toMatch(/^\{/);
  for (const { path, answer: response } of await askEverything([['Accept', 'text/javascript, image/*']])) {
    const type = headerOf(response, 'content-type') ?? 'none';
    expect([path, type]).toEqual([
      path,
      expect.stringMatching(
        /^(application\/(jrd\+)?json(; charset=utf-8)?|text\/(html|plain); charset=utf-8|image\/svg\+xml|none)$/,
      ),
    ]);
  }
});
