import { h } from 'preact';
import { describe, expect, test } from 'vitest';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { contentSecurityPolicy, type FormActions } from '#browser/page-headers.ts';
import { Pages } from '#browser/pages.ts';
import { Urls } from '#browser/urls.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { startRouteServer } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { json, redirect } from './response.ts';
import type { ErrorFormat, Route } from './route.ts';

const urls = new Urls('https://auth.example.test/');
const site = { serviceName: 'Test', indexPath: urls.index(), assetPath: (name: string) => `/assets/${name}` };
const pages = new Pages({ site, catalog: loadTranslations(), defaultLanguage: 'en' });

function route(path: string, errorFormat: ErrorFormat, handle: Route['handle'], more: Partial<Route> = {}): Route {
  return { method: 'GET', path, resource: errorFormat === 'page' ? 'human' : 'oauth', errorFormat, handle, ...more };
}

function refuse(error: LatchkeyError): Route['handle'] {
  return () => {
    throw error;
  };
}

const secretCause = new Error('password authentication failed for user "latchkey" at 10.0.0.5');

const routes: Route[] = [
  route('/', 'page', (context) =>
    pages.answer({ title: 'Step', translations: pages.language(context), content: h('h1', null, 'Heading') }),
  ),
  route('/away', 'page', () => redirect('https://client.example/cb', { 'referrer-policy': 'no-referrer' })),
  route('/refused', 'page', refuse(new LatchkeyError('csrf_mismatch'))),
  route('/login', 'page', () => json(200, {})),
  route('/named/:name', 'page', ({ params }) => json(200, params['name'])),
  route('/login', 'page', refuse(new LatchkeyError('csrf_missing')), { method: 'POST' }),
  route('/gone', 'page', refuse(new LatchkeyError('expired'))),
  route('/taken', 'page', refuse(new LatchkeyError('already_used'))),
  route(
    '/down',
    'page',
    refuse(new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: 5, cause: secretCause })),
  ),
  route('/embeddable', 'page', () => json(200, {}), { embedding: 'allowed' }),
  route('/sets-cookie', 'page', (context) => {
    context.cookies.set({ name: 'lang' }, 'de');
    return { status: 200, headers: { 'cache-control': 'public, max-age=60' }, body: 'x' };
  }),
  route('/oauth2/keys.json', 'plain-json', () => json(200, { keys: [] }, { 'cache-control': 'public' }), {
    cors: 'get',
  }),
  ...(
    [
      ['client', new LatchkeyError('invalid_client', { description: 'unknown "client" \\ ü' })],
      ['token', new LatchkeyError('invalid_token')],
      ['own', new LatchkeyError('invalid_token', { headers: { 'WWW-Authenticate': 'Bearer realm="own"' } })],
      ['scope', new LatchkeyError('insufficient_scope')],
      ['grant', new LatchkeyError('invalid_grant', { description: 'the code was used before' })],
      ['limited', new LatchkeyError('rate_limited', { retryAfterSeconds: 7 })],
      [
        'denied',
        new LatchkeyError('access_denied', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }),
      ],
      ['down', new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: 5, cause: secretCause })],
    ] as const
  ).map(([name, error]) => route(`/oauth2/${name}`, 'oauth-json', refuse(error), { method: 'POST', cors: 'get-post' })),
  route('/oauth2/broken', 'oauth-json', () => {
    throw secretCause;
  }),
];

/** Returns a header of a raw response. */
function headerOf(reply: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\r$`, 'im').exec(reply)?.[1];
}
const service = await sharedByTests(startRouteServer(routes));

function send(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.origin + path, { method, headers, redirect: 'manual' });
}

describe('headers (security 3.5 to 3.7)', () => {
  test('a page has every header of browser-flows 2.3', async () => {
    const response = await send('GET', '/', { 'accept-language': 'de' });
    const headers: Record<string, string> = {};
    response.headers.forEach((value, name) => {
      headers[name] = value;
    });
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'de',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'permissions-policy':
        'camera=(), microphone=(), geolocation=(), payment=(), usb=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
      'strict-transport-security': 'max-age=31536000',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      vary: 'Accept-Language, Cookie',
    });
    for (const absent of ['server', 'x-powered-by', 'cross-origin-opener-policy', 'set-cookie']) {
      expect(headers).not.toHaveProperty(absent);
    }
  });

  test.each(['/', '/away', '/refused', '/nowhere', '/login'])(
    '%s has the headers of pages, also on redirects and JSON',
    async (path) => {
      const { headers } = await send('GET', path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe(path === '/away' ? 'no-referrer' : 'same-origin');
      expect(headers.get('permissions-policy')).toContain('camera=()');
    },
  );

  test.each(['/', '/refused', '/gone', '/nowhere'])('%s cannot be framed (security S-60)', async (path) => {
    const { headers } = await send('GET', path);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test.each(['/', '/away', '/refused', '/oauth2/keys.json', '/oauth2/nowhere', '/oauth2/broken'])(
    '%s sends nosniff and HSTS',
    async (path) => {
      const { headers } = await send('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    },
  );

  test('HSTS is not sent with a public base of http or when it is turned off', async () => {
    for (const options of [{ publicBase: 'http://localhost:8080/' }, { http: { hsts: false } }]) {
      const other = await startRouteServer(routes, options);
      expect((await fetch(`${other.origin}/`)).headers.get('strict-transport-security')).toBeNull();
      await other.close();
    }
  });

  test('a response that sets a cookie is never cacheable', async () => {
    const { headers } = await send('GET', '/sets-cookie');
    expect(headers.get('set-cookie')).toMatch(/^__Host-latchkey_lang=/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('a cookie that cannot be opened is deleted, even by an error page', async () => {
    const { headers } = await send('GET', '/gone', { cookie: '__Host-latchkey_lang=garbage' });
    expect(headers.get('set-cookie')).toBe('__Host-latchkey_lang=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0');
  });

  test.each(['iframe', 'image', 'script', 'frame', 'style', 'object', 'embed'])(
    'a page requested as %s is not served, and the response has no content (security S-68)',
    async (destination) => {
      const embed = (path: string) =>
        service.exchange(
          `GET ${path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Dest: ${destination}\r\nConnection: close\r\n\r\n`,
        );
      expect(await embed('/')).toMatch(/^HTTP\/1\.1 403 .*content-length: 0\r\n.*\r\n\r\n$/s);
      expect(await embed('/embeddable')).toMatch(/^HTTP\/1\.1 200 /);
      expect(await embed('/oauth2/keys.json')).toMatch(/^HTTP\/1\.1 200 /);
    },
  );
});

describe('form-action (browser-flows 2.3)', () => {
  const formAction = (actions: FormActions) => /form-action ([^;]*);/.exec(contentSecurityPolicy(actions))?.[1];

  test.each([
    ['https://client.example/cb?x=1', "'self' https://client.example"],
    ['https://client.example:8443/', "'self' https://client.example:8443"],
    ['http://127.0.0.1:4711/cb', "'self' http://127.0.0.1:4711"],
    ['com.example.app:/cb', "'self' com.example.app:"],
    ['no address', "'self'"],
    ["https://a.example;script-src 'unsafe-inline'", "'self'"],
    ['https://client.example/cb;x', "'self' https://client.example"],
    ['https://user:secret@client.example/', "'self' https://client.example"],
  ])('of a page that submits itself to %s is %s', (post, expected) => {
    expect(formAction({ post })).toBe(expected);
  });

  test.each([
    [['https://client.example:8443/cb'], "'self' https:"],
    [['http://127.0.0.1:4711/cb'], "'self' http:"],
    [['com.example.app:/cb'], "'self' com.example.app:"],
    [["https://a.example;script-src 'unsafe-inline'"], "'self'"],
    [['https://a.example/', 'https://b.example/'], "'self' https:"],
  ])('of a page whose forms redirect to %j is %s, since a client may redirect further', (redirects, expected) => {
    expect(formAction({ redirects })).toBe(expected);
  });
});

describe('CORS (security 3.7, S-154)', () => {
  const EVIL = { origin: 'https://evil.example' };
  const PREFLIGHT = { ...EVIL, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x' };

  test.each([
    ['OPTIONS', '/oauth2/client', 204, '*', 'GET, POST'],
    ['OPTIONS', '/oauth2/keys.json', 204, '*', 'GET'],
    ['OPTIONS', '/', 204, null, null],
    ['OPTIONS', '/nowhere', 404, null, null],
    ['GET', '/oauth2/keys.json', 200, '*', null],
    ['POST', '/oauth2/client', 401, '*', null],
    ['GET', '/oauth2/nowhere', 404, '*', null],
    ['DELETE', '/oauth2/client', 405, '*', null],
    ['GET', '/', 200, null, null],
    ['GET', '/gone', 410, null, null],
    ['GET', '/nowhere', 404, null, null],
    ['POST', '/', 405, null, null],
  ])('%s %s: %i, origin %s, methods %s, never credentials', async (method, path, status, origin, methods) => {
    const { headers, status: actual } = await send(method, path, method === 'OPTIONS' ? PREFLIGHT : EVIL);
    expect(actual).toBe(status);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-methods')).toBe(methods);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe(origin === null ? 'same-origin' : 'cross-origin');
  });

  const ALLOWED = 'access-control-allow-headers';

  test.each(['/oauth2/client', '/oauth2/keys.json'])(
    'a preflight of %s allows every requested header for one hour',
    async (path) => {
      const requested = 'authorization,content-type, baggage, sentry-trace,x-datadog-trace-id';
      const preflight = await send('OPTIONS', path, { ...EVIL, 'access-control-request-headers': requested });
      expect(preflight.headers.get(ALLOWED)).toBe(requested);
      expect(preflight.headers.get('access-control-max-age')).toBe('3600');
      const unrequested = await send('OPTIONS', path, EVIL);
      expect(unrequested.headers.get(ALLOWED)).toMatch(/Authorization, Content-Type, .*traceparent/);
      // A value that is not a list of names is not reflected.
      const hostile = await send('OPTIONS', path, { ...EVIL, 'access-control-request-headers': 'x: y; z' });
      expect(hostile.headers.get(ALLOWED)).not.toContain('y;');
    },
  );

  test('a preflight of a page allows nothing', async () => {
    const preflight = await send('OPTIONS', '/login', { ...EVIL, 'access-control-request-headers': 'authorization' });
    expect(preflight.headers.get(ALLOWED)).toBeNull();
  });

  test('responses expose the challenge', async () => {
    const response = await send('POST', '/oauth2/client', EVIL);
    expect(response.headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, DPoP-Nonce');
  });
});

describe('errors of machine routes (oauth 18)', () => {
  const BASIC = 'Basic realm="https://auth.example.test/"';

  test.each([
    ['client', 401, 'invalid_client', BASIC],
    ['token', 401, 'invalid_token', 'Bearer realm="https://auth.example.test/", error="invalid_token"'],
    ['own', 401, 'invalid_token', 'Bearer realm="own"'],
    ['scope', 403, 'insufficient_scope', 'Bearer realm="https://auth.example.test/", error="insufficient_scope"'],
    ['denied', 401, 'access_denied', 'Bearer error="invalid_token"'],
    ['grant', 400, 'invalid_grant', null],
    ['limited', 429, 'temporarily_unavailable', null],
    ['down', 503, 'temporarily_unavailable', null],
  ])('%s: %i %s, challenge %s', async (path, status, error, challenge) => {
    const response = await send('POST', `/oauth2/${path}`);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(await response.json()).toMatchObject({ error });
  });

  test('descriptions are printable ASCII without quote and backslash (RFC 6749 5.2, security S-77)', async () => {
    const { error_description } = await (await send('POST', '/oauth2/client')).json();
    expect(error_description).toBe('unknown ?client? ? ?');
  });

  test('Retry-After is sent where a retry makes sense', async () => {
    expect((await send('POST', '/oauth2/limited')).headers.get('retry-after')).toBe('7');
  });

  test.each([
    ['GET', '/oauth2/nowhere', 404, 'not_found'],
    ['DELETE', '/oauth2/client', 405, 'method_not_allowed'],
    ['GET', '/.well-known/nowhere', 404, 'not_found'],
    ['POST', '/oauth2/keys.json', 405, 'method_not_allowed'],
  ])('%s %s: %i %s with a description', async (method, path, status, error) => {
    const response = await send(method, path);
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { error, error_description: expect.stringMatching(/^[\x20-\x7e]+$/) },
    ]);
  });

  test('an internal error shows a reference that is in the log, and nothing of its cause', async () => {
    service.lines.length = 0;
    const response = await send('GET', '/oauth2/broken');
    const text = await response.text();
    const reference = /reference (GET-\d+)/.exec(text)?.[1];
    expect(response.status).toBe(500);
    expect(text).toContain('"error":"server_error"');
    expect(text).not.toContain('password');
    expect(service.lines[0]).toContain(` ERROR error ${reference} - password authentication failed`);
  });

  test('a rejected request logs its request line, and its code at DEBUG', async () => {
    service.lines.length = 0;
    await send('POST', '/oauth2/grant');
    expect(service.lines).toEqual([
      expect.stringMatching(/ DEBUG http\.refused POST-\d+ - request rejected code=invalid_grant$/),
      expect.stringContaining('"POST /oauth2/grant HTTP/1.1" 400 Bad Request'),
    ]);
  });

  test('an environment failure is logged as WARN with its cause', async () => {
    service.lines.length = 0;
    await send('POST', '/oauth2/down');
    expect(service.lines[0]).toMatch(/ WARN error POST-\d+ - temporarily_unavailable stack=.*caused by: .*10\.0\.0\.5/);
  });
});

describe('error pages (browser-flows 10)', () => {
  test.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['POST', '/', 405, 'method_not_allowed'],
    ['GET', '/refused', 403, 'csrf_mismatch'],
    ['GET', '/gone', 410, 'expired'],
    ['GET', '/taken', 409, 'already_used'],
    ['GET', '/down', 503, 'temporarily_unavailable'],
  ])('%s %s: %i with code and request id, without cause', async (method, path, status, code) => {
    service.lines.length = 0;
    const response = await send(method, `${path}?secret=s3cret`);
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(text).toContain(`data-error-code="${code}"`);
    expect(text).toMatch(new RegExp(`<code>${method}-\\d+</code>`));
    expect(text).not.toContain('password');
    expect(service.lines.join()).not.toContain('s3cret');
  });

  const ALL = 'GET, HEAD, POST, OPTIONS';
  test.each([
    ['PUT', '/login', ALL, 'text/html; charset=utf-8'],
    ['TRACE', '/login', ALL, 'text/html; charset=utf-8'],
    ['PROPFIND', '/login', ALL, 'text/html; charset=utf-8'],
    ['FROB', '/login', ALL, 'text/html; charset=utf-8'],
    ['FROB', '/oauth2/client', 'POST, OPTIONS', 'application/json'],
    ['TRACE', '/oauth2/keys.json', 'GET, HEAD, OPTIONS', 'application/json'],
    ['FROB', '/nowhere', ALL, 'text/html; charset=utf-8'],
    ['TRACE', '/oauth2/nowhere', ALL, 'application/json'],
    ['CONNECT', 'x:443', ALL, 'text/html; charset=utf-8'],
  ])('%s %s: 405 with the allowed methods, in the error format of the route', async (method, path, allow, type) => {
    const reply = await service.exchange(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Language: de\r\n\r\n`,
    );
    expect(reply).toMatch(/^HTTP\/1\.1 405 /);
    expect(headerOf(reply, 'allow')).toBe(allow);
    expect(headerOf(reply, 'content-type')).toBe(type);
    expect(headerOf(reply, 'x-content-type-options')).toBe('nosniff');
    expect(headerOf(reply, 'strict-transport-security')).toBe('max-age=31536000');
    expect(headerOf(reply, 'connection')).toBe('close');
    const isPage = type.startsWith('text/html');
    expect(headerOf(reply, 'x-frame-options')).toBe(isPage ? 'DENY' : undefined);
    expect(headerOf(reply, 'content-language')).toBe(isPage ? 'de' : undefined);
    expect(reply).toContain(isPage ? 'data-error-code="method_not_allowed"' : '"error":"method_not_allowed"');
  });

  test('405 and OPTIONS list the same methods', async () => {
    for (const path of ['/login', '/oauth2/client', '/oauth2/keys.json', '/']) {
      const { headers, status } = await send('OPTIONS', path);
      expect([path, status, headers.get('allow')]).toEqual([
        path,
        204,
        (await send('DELETE', path)).headers.get('allow'),
      ]);
    }
  });

  test.each([
    ['a request line of HTTP/2', 'GET / HTTP/2.0\r\nHost: x\r\n'],
    ['a request line of HTTP/0.9', 'GET / HTTP/0.9\r\nHost: x\r\n'],
    ['GET *', 'GET * HTTP/1.1\r\nHost: x\r\n'],
    ['an address of another scheme', 'GET ftp://x/ HTTP/1.1\r\nHost: x\r\n'],
  ])('%s: 400, and the connection is closed (RFC 9112 3)', async (_case, head) => {
    const reply = await service.exchange(`${head}\r\n${head}\r\n`);
    expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400']);
  });

  test.each(['/%6cogin', '/logi%6e', '/%6Cogin', '/oauth2%2fclient', '/oauth2/%6beys.json', '/%2e/login'])(
    '%s is not the same path as its decoded form (security S-152)',
    async (path) => {
      const reply = await service.exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(reply).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  test('decodes a path parameter', async () => {
    expect(await (await send('GET', '/named/a%20%6cb')).json()).toBe('a lb');
  });

  test('a rejected form offers to reopen it at its own URL with the same query', async () => {
    const text = await (await send('POST', '/login?kind=x&b="')).text();
    expect(text).toContain('href="https://auth.example.test/login?kind=x&amp;b=%22"');
  });

  test('the error page does not repeat an unknown path (security S-74)', async () => {
    const text = await (await send('GET', '/<svg onload=x>?<script>')).text();
    expect(text).not.toContain('svg onload');
    expect(text).not.toContain('<script>');
  });

  test.each([
    [undefined, 'text/html'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['application/json', 'application/json'],
    ['application/json, text/html;q=0.9', 'application/json'],
    ['application/json, text/html', 'text/html'],
    ['application/json, */*', 'text/html'],
    ['application/json, */*;q=0.5', 'application/json'],
    ['application/json;q=0', 'text/html'],
    ['*/*', 'text/html'],
    ['text/plain', 'text/html'],
  ])('answers Accept %s with %s', async (accept, type) => {
    const header = accept === undefined ? '' : `Accept: ${accept}\r\n`;
    const reply = await service.exchange(`GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n`);
    expect(reply).toContain(`content-type: ${type}`);
  });

  test('JSON of a page’s error has code and request id', async () => {
    const response = await send('GET', '/gone', { accept: 'application/json' });
    expect(await response.json()).toEqual({ error: 'expired', request_id: expect.stringMatching(/^GET-\d+$/) });
  });

  test('machine paths respond with JSON whatever Accept says', async () => {
    for (const path of ['/.well-known/nothing', '/health', '/graphql']) {
      const response = await send('GET', path, { accept: 'text/html' });
      expect([response.status, await response.json()]).toMatchObject([404, { error: 'not_found' }]);
    }
    const response = await send('GET', '/_chat/client/v3/login', { accept: 'text/html' });
    expect([response.status, await response.json()]).toMatchObject([404, { errcode: 'M_UNRECOGNIZED' }]);
    const admin = await send('GET', '/api/x', { accept: 'text/html' });
    expect([admin.status, await admin.json()]).toMatchObject([404, { errors: [{ code: 'not_found' }] }]);
  });

  test('no response depends on the Host header (security S-149)', async () => {
    const reply = await service.exchange('GET /gone HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(reply).not.toContain('evil.example');
  });
});
