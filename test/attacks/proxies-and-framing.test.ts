/** Security 4.18: intermediaries between the caller and the service, and callers who impersonate them. */
import { describe, expect, test } from 'vitest';
import { attackedService, C1, ISSUER, PASSWORD, SETTINGS } from './attacked-service.ts';
import { headerOf, jsonOf, type RawResponse, requestBytes, sendBytes } from './raw-http.ts';

const attacked = attackedService();
/** Its only trusted proxy is not the address of these tests. */
const exposed = attackedService({ http: { ...SETTINGS.http, trusted_proxies: ['10.0.0.1/32'] } });

const FORWARDING: [string, string][] = [
  ['X-Forwarded-For', '127.0.0.1'],
  ['X-Forwarded-For', '10.0.0.1, 9.9.9.9'],
  ['Forwarded', 'for=9.9.9.9;host=evil.example;proto=http'],
  ['X-Real-IP', '9.9.9.9'],
  ['CF-Connecting-IP', '9.9.9.9'],
  ['True-Client-IP', '9.9.9.9'],
  ['X-Client-IP', '9.9.9.9'],
  ['X-Forwarded-Proto', 'javascript'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Prefix', '/evil'],
  ['X-Original-URL', '/health'],
  ['X-Rewrite-URL', '/health'],
];

function paths(): string[] {
  return [...new Set(attacked.routes().map(({ target }) => target))];
}

describe('a client that is not a trusted proxy (S-147)', () => {
  test.each(FORWARDING)('is logged by its own address whatever it sends: %s: %s', async (name, value) => {
    const response = await exposed.ask({ target: '/login', headers: [[name, value]] });
    expect(exposed.service.requestLines().at(-1)).toMatchObject({ path: '/login', address: '127.0.0.1' });
    expect(response.body).not.toMatch(/evil|9\.9\.9\.9/);
  });

  test('cannot choose the address that rate limits use', async () => {
    for (let count = 0; count < 3; count += 1) {
      const browser = exposed.browser({ address: '9.9.9.9' });
      await browser.get('/login');
      await browser.submit({ username: 'amira', password: 'guess' });
    }
    expect(await exposed.count("rate_limits where key like '%9.9.9.9%'")).toBe(0);
    expect(await exposed.count("rate_limits where key like '%127.0.0.1%'")).toBe(1);
  });
});

describe('a request through a trusted proxy (S-148)', () => {
  test.each([
    ['the right-most address that is not a proxy', ['1.2.3.4, 198.51.100.7'], '198.51.100.7'],
    ['the last of two headers', ['1.2.3.4', '198.51.100.7, 127.0.0.5'], '198.51.100.7'],
    ['a port', ['198.51.100.7:1234'], '198.51.100.7'],
    ['brackets', ['[2001:db8::7]:443'], '2001:db8::7'],
    ['unknown', ['1.2.3.4, unknown'], '127.0.0.1'],
    ['hidden', ['1.2.3.4, _hidden'], '127.0.0.1'],
    ['text', ['1.2.3.4, "evil'], '127.0.0.1'],
    ['an empty part', ['1.2.3.4,'], '127.0.0.1'],
    ['a zone', ['fe80::1%eth0'], 'fe80::1'],
    ['octal', ['0177.0.0.1'], '127.0.0.1'],
    ['a number', ['2130706433'], '127.0.0.1'],
  ])('gets its address from: %s', async (_, values, address) => {
    const headers = values.map((value): [string, string] => ['X-Forwarded-For', value]);
    await attacked.ask({ target: '/robots.txt', headers });
    expect(attacked.service.requestLines().at(-1)?.address).toBe(address);
  });
});

describe('the Host header of a request (S-149)', () => {
  const HOSTS = [
    'evil.example',
    'evil.example:8080',
    'user@evil.example',
    'evil.example/path',
    'EVIL.EXAMPLE',
    '[::1]',
    '',
  ];

  test.each(HOSTS)('%j never appears in a URL, a cookie or a page', async (host) => {
    const seen: RawResponse[] = [];
    for (const target of [
      '/',
      '/login',
      '/nowhere',
      '/reauth',
      '/.well-known/openid-configuration',
      attacked.authorizeUrl(C1),
    ]) {
      seen.push(await attacked.ask({ target, headers: [['Host', host], ...FORWARDING.slice(7)] }));
    }
    for (const response of seen) {
      expect(response.status).toBeLessThan(500);
      expect([...response.headers.values()].flat().join('\n').toLowerCase()).not.toContain('evil');
      expect(response.body.toLowerCase()).not.toContain('evil');
      const location = headerOf(response, 'location');
      if (location !== undefined) expect(location).toMatch(/^\/[a-z]/);
    }
    expect(jsonOf(seen[4] ?? expect.fail('no metadata'))['issuer']).toBe(ISSUER);
  });

  test('in an absolute-form target is ignored as well', async () => {
    const response = await attacked.ask({ target: 'http://evil.example/login?kind=change_password' });
    expect(response.status).toBe(200);
    expect(response.body).not.toContain('evil');
    expect(attacked.service.requestLines().at(-1)?.path).toBe('/login');
  });

  test.each([
    ['missing', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['duplicated', 'GET / HTTP/1.1\r\nHost: auth.example.test\r\nHost: evil.example\r\nConnection: close\r\n\r\n'],
    ['duplicated with equal values', 'GET / HTTP/1.1\r\nHost: auth.example.test\r\nHost: auth.example.test\r\n\r\n'],
  ])('%s: 400', async (_, bytes) => {
    const responses = await sendBytes(attacked.service.address, bytes);
    expect(responses.map(({ status }) => status)).toEqual([400]);
  });
});

describe('a request smuggled in the body of another (S-150)', () => {
  const HIDDEN = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  const POST = 'POST /oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n';
  const CHUNKED = `0\r\n\r\n${HIDDEN}`;

  test.each([
    ['CL.TE', `${POST}Content-Length: ${CHUNKED.length}\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`],
    ['TE.CL', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n${CHUNKED}`],
    ['TE.TE with two headers', `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n${CHUNKED}`],
    ['chunked twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n${CHUNKED}`],
    ['chunked, then identity', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNKED}`],
    ['identity, then chunked', `${POST}Transfer-Encoding: identity, chunked\r\n\r\n${CHUNKED}`],
    ['an unknown coding', `${POST}Transfer-Encoding: x\r\n\r\n${CHUNKED}`],
    ['a space before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n${CHUNKED}`],
    ['a folded header', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKED}`],
    ['a tab in the value', `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKED}`],
    [
      'a NUL in a name',
      `${POST}Transfer\0-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${HIDDEN}`.replace(HIDDEN, ''),
    ],
    ['two lengths', `${POST}Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
    ['two lengths in one header', `${POST}Content-Length: 0, ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
    ['a signed length', `${POST}Content-Length: +${HIDDEN.length}\r\n\r\n${HIDDEN}`],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n${HIDDEN}`],
    ['a hexadecimal length', `${POST}Content-Length: 0x0\r\n\r\n${HIDDEN}`],
    ['a length with spaces inside', `${POST}Content-Length: 1 0\r\n\r\n${HIDDEN}`],
    ['a length beyond the number range', `${POST}Content-Length: 18446744073709551616\r\n\r\n${HIDDEN}`],
    ['a chunk size with 0x', `${POST}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${HIDDEN}`],
    ['a signed chunk size', `${POST}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${HIDDEN}`],
    [
      'a chunk size beyond the number range',
      `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff0\r\n\r\n${HIDDEN}`,
    ],
    ['a chunk ended by a bare line feed', `${POST}Transfer-Encoding: chunked\r\n\r\n0\n\n${HIDDEN}`],
    ['a chunk longer than declared', `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n${CHUNKED}`],
    [
      'a chunk extension of 1 MB',
      `${POST}Transfer-Encoding: chunked\r\n\r\n0;${'x'.repeat(1_000_000)}\r\n\r\n${HIDDEN}`,
    ],
    ['bare line feeds', `${POST.replaceAll('\r\n', '\n')}Content-Length: 0\n\n${HIDDEN}`],
    ['bare carriage returns', `${POST.replaceAll('\r\n', '\r')}Content-Length: 0\r\r${HIDDEN}`],
    ['a body without a length', `${POST}\r\n${'x'.repeat(10)}${HIDDEN}`],
    ['chunked in HTTP/1.0', `${POST.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}`],
  ])('%s: refused, and the smuggled request is not answered', async (_, bytes) => {
    await attacked.changingNothing(async () => {
      const responses = await sendBytes(attacked.service.address, bytes);
      for (const response of responses) expect([400, 401, 413]).toContain(response.status);
      expect(responses.length).toBeGreaterThan(0);
    });
    expect(attacked.service.requestLines().some(({ path }) => path.includes('smuggled'))).toBe(false);
  });

  test('a trailer is not read as a header, a GET body not as a request, and an upgrade is not started', async () => {
    const trailer = `${POST}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n0\r\nAuthorization: Basic x\r\n\r\n`;
    expect((await sendBytes(attacked.service.address, trailer)).map(({ status }) => status)).toEqual([401]);
    const body = `GET /robots.txt HTTP/1.1\r\nHost: x\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`;
    expect((await sendBytes(attacked.service.address, body)).map(({ status }) => status)).toEqual([200]);
    const upgrade =
      'GET /robots.txt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n';
    expect((await sendBytes(attacked.service.address, upgrade)).map(({ status }) => status)).toEqual([200]);
    expect(attacked.service.requestLines().some(({ path }) => path.includes('smuggled'))).toBe(false);
  });
});

/** Client configuration endpoints accept additional methods (RFC 7592). */
const MANAGED = /^\/oauth2\/registration\/./;

describe('methods (S-151)', () => {
  test('that no route supports are refused everywhere, whatever an override header or field says', async () => {
    await attacked.changingNothing(async () => {
      for (const target of paths()) {
        for (const method of ['TRACE', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'get', 'FROB', 'X'.repeat(1000)]) {
          if (MANAGED.test(target) && ['PUT', 'DELETE'].includes(method)) continue;
          const responses = await sendBytes(
            attacked.service.address,
            requestBytes({ method, target, headers: [['X-HTTP-Method-Override', 'POST']] }),
          );
          expect([target, method.slice(0, 10), responses.map(({ status }) => status)]).toEqual([
            target,
            method.slice(0, 10),
            [405],
          ]);
        }
      }
      const fields = `_method=POST&username=amira&password=${encodeURIComponent(PASSWORD)}`;
      const form = attacked.ask({
        target: `/login?${fields}`,
        headers: [['X-HTTP-Method-Override', 'POST']],
        body: fields,
      });
      expect((await form).headers.get('set-cookie')?.some((line) => line.includes('session'))).toBe(false);
    });
  });

  test('HEAD is GET without a body and without effect, or 405 where GET has an effect', async () => {
    await attacked.changingNothing(async () => {
      for (const { target, headRefused } of attacked.routes({ method: 'GET' })) {
        const head = await attacked.ask({ method: 'HEAD', target });
        expect(head.body, target).toBe('');
        if (headRefused === true) {
          expect([target, head.status]).toEqual([target, 405]);
          continue;
        }
        const get = await attacked.ask({ target });
        expect([target, head.status]).toEqual([target, get.status]);
        expect([...head.headers.keys()].sort()).toEqual([...get.headers.keys()].sort());
      }
    });
  });

  test('CONNECT opens no tunnel, and OPTIONS * returns only methods', async () => {
    const tunnel = await sendBytes(attacked.service.address, 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(tunnel.map(({ status }) => status)).toEqual([405]);
    const options = await attacked.ask({ method: 'OPTIONS', target: '*' });
    expect([options.status, headerOf(options, 'access-control-allow-origin')]).toEqual([204, undefined]);
  });
});

describe('alternative spellings of a path (S-152)', () => {
  const SPELLINGS: [string, (path: string) => string][] = [
    ['a trailing slash', (path) => `${path}/`],
    ['two slashes', (path) => `/${path}`],
    ['a dot segment', (path) => `/.${path}`],
    ['an encoded dot segment', (path) => `/%2e${path}`],
    ['a parent segment', (path) => `/account/..${path}`],
    ['an encoded parent segment', (path) => `/account/%2e%2e${path}`],
    ['upper case', (path) => path.toUpperCase()],
    ['a path parameter', (path) => `${path};x=1`],
    ['a NUL', (path) => `${path}%00`],
    ['a static-looking end', (path) => `${path}.css`],
    ['a static-looking file', (path) => `${path}/x.js`],
    ['a backslash', (path) => path.replace('/', '\\')],
    ['an encoded slash', (path) => `/${path.slice(1).replaceAll('/', '%2f')}%2f`],
    ['an encoded letter', (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)],
  ];

  test.each(SPELLINGS)('by %s return 404 or exactly the same page, and are never cached', async (_, spell) => {
    const browser = await attacked.signedIn('amira');
    for (const path of paths().filter((candidate) => candidate !== '/' && candidate !== '/robots.txt')) {
      const target = spell(path);
      if (target === path || paths().includes(target)) continue;
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await attacked.ask({ target, headers: [['Cookie', cookie]] });
      const isKept = /^public/.test(headerOf(response, 'cache-control') ?? '');
      expect([target, isKept && response.body.includes('amira')]).toEqual([target, false]);
      if ([400, 404].includes(response.status)) continue;
      if (target.startsWith('/account/') && !/\.\.|%2e%2e/.test(target)) {
        // The account app is served at every path below it. Its page is the same for all users.
        expect([target, headerOf(response, 'cache-control')]).toEqual([target, 'no-store']);
        expect([target, response.body.includes('amira')]).toEqual([target, false]);
        continue;
      }
      const plain = await attacked.ask({ target: path, headers: [['Cookie', cookie]] });
      expect([target, response.status, headerOf(response, 'cache-control')]).toEqual([
        target,
        plain.status,
        headerOf(plain, 'cache-control'),
      ]);
    }
  });
});
