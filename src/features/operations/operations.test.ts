import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAssets } from '#browser/asset-files.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { type RouteServer, startRouteServer } from '#test/support/route-server.ts';
import type { HealthDeps } from './health.ts';
import { mount } from './routes.ts';

const NO_BRAND = { logo: undefined, darkLogo: undefined, icon: undefined, stylesheet: undefined };
const MAP = '{"version":3}';
const CSS = 'body { color: red }';
const instance = new InstanceState();
instance.isStarted = true;
const state = { isOverloaded: false, isStalled: false, database: 'up' };
instance.isOverloaded = () => state.isOverloaded;
const core: HealthDeps = {
  instance,
  process: {
    version: '1.2.3',
    lag: {
      isLagging: false,
      get isStalled() {
        return state.isStalled;
      },
    },
  },
  database: {
    ping: async () => {
      if (state.database === 'down') throw new Error('no connection');
    },
  },
};

let directory: string;
let service: RouteServer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-assets-'));
  writeFileSync(join(directory, 'pages-0a1b2c3d.css'), CSS);
  writeFileSync(join(directory, 'pages-0a1b2c3d.css.br'), brotliCompressSync(CSS));
  writeFileSync(join(directory, 'pages-0a1b2c3d.css.gz'), gzipSync(CSS));
  writeFileSync(join(directory, 'favicon-4e5f6a7b.svg'), '<svg/>');
  writeFileSync(join(directory, 'pages.css.map'), '{}');
  writeFileSync(join(directory, 'pages-0a1b2c3d.js'), 'one()');
  writeFileSync(join(directory, 'pages-0a1b2c3d.js.map'), MAP);
  symlinkSync('/etc/passwd', join(directory, 'passwd'));
  const manifest = {
    'pages.css': 'pages-0a1b2c3d.css',
    'favicon.svg': 'favicon-4e5f6a7b.svg',
    'pages.js': 'pages-0a1b2c3d.js',
  };
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'pages-00000000.css'), 'p {}');
  const before = { 'pages.css': 'pages-00000000.css', 'gone.css': 'gone-00000000.css' };
  writeFileSync(join(directory, 'manifest.before.json'), JSON.stringify(before));
  service = await startRouteServer(mount(core, { assets: loadAssets(directory), brand: NO_BRAND }));
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(service.origin + path, { headers, method });
}

describe('GET /health (operations 7.1)', () => {
  test.each(['/health', '/health?probe=ready', '/health?probe=live'])('%s returns ok', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('ok');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each([
    ['overloaded', { isOverloaded: true }],
    ['database', { database: 'down' }],
  ])('503 shows the failed check: %s', async (word, change) => {
    const before = { ...state };
    Object.assign(state, change);
    try {
      const response = await get('/health');
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('5');
      expect(await response.text()).toBe(word);
      expect((await get('/health?probe=live')).status).toBe(200);
    } finally {
      Object.assign(state, before);
    }
  });

  test.each([
    ['draining', 'isDraining', true],
    ['starting', 'isStarted', false],
    ['migrations', 'isSchemaUsable', false],
  ] as const)('503 shows the state of the instance: %s', async (word, fact, value) => {
    instance[fact] = value;
    const response = await get('/health');
    instance[fact] = !value;
    expect([response.status, await response.text()]).toEqual([503, word]);
    expect((await get('/health')).status).toBe(200);
  });

  test('503 warns of a possible clock error', async () => {
    instance.isClockRight = () => false;
    const response = await get('/health');
    instance.isClockRight = () => true;
    expect([response.status, await response.text()]).toEqual([503, 'clock']);
    expect((await get('/health')).status).toBe(200);
  });

  test('a stalled event loop fails the live probe', async () => {
    state.isStalled = true;
    const response = await get('/health?probe=live');
    state.isStalled = false;
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('stalled');
  });

  test('returns JSON when requested', async () => {
    const accept = { accept: 'application/json' };
    expect(await (await get('/health', accept)).json()).toEqual({
      status: 'ok',
      checks: {
        draining: 'ok',
        starting: 'ok',
        migrations: 'ok',
        clock: 'ok',
        overloaded: 'ok',
        database: 'ok',
      },
      version: '1.2.3',
    });
    state.database = 'down';
    const failing = await get('/health', accept);
    state.database = 'up';
    expect(failing.status).toBe(503);
    expect(await failing.json()).toMatchObject({ status: 'fail', checks: { database: 'fail' } });
  });

  test('supports HEAD, and returns 400 for an unknown probe', async () => {
    const head = await get('/health', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '2', '']);
    expect((await get('/health?probe=deep')).status).toBe(400);
  });
});

describe('GET /assets/{path}', () => {
  test('caches a name with a content hash permanently, and revalidates a plain one', async () => {
    const hashed = await get('/assets/pages-0a1b2c3d.css');
    expect(hashed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(hashed.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(hashed.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await hashed.text()).toBe(CSS);
    const plain = await get('/assets/pages.css');
    expect(plain.headers.get('cache-control')).toBe('no-cache');
    const etag = plain.headers.get('etag') ?? '';
    const again = await get('/assets/pages.css', { 'if-none-match': `"other", ${etag}` });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  test.each([
    ['br', 'br', 'gzip, br'],
    ['gzip', 'gzip', 'gzip, br;q=0'],
    ['the first of equals', 'br', 'gzip;q=0.7, br;q=0.7'],
    ['the higher rank', 'gzip', 'br;q=0.2, gzip;q=0.9'],
    ['any', 'br', '*'],
    ['any but one', 'gzip', 'br;q=0, *;q=0.1'],
    ['the plain one before the others', null, 'identity, br;q=0.5, gzip;q=0.5'],
    ['none', null, 'identity'],
  ])('sends the best stored encoding: %s', async (_case, coding, accepted) => {
    const response = await get('/assets/pages.css', { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(await response.text()).toBe(CSS);
  });

  test.each([
    ['bytes=0-3', 'body', 'bytes 0-3/19'],
    ['bytes=5-', CSS.slice(5), 'bytes 5-18/19'],
    ['bytes=-4', 'red }'.slice(1), 'bytes 15-18/19'],
    ['bytes=10-400', CSS.slice(10), 'bytes 10-18/19'],
    ['bytes=-400', CSS, 'bytes 0-18/19'],
  ])('serves a range of the plain file: %s', async (range, content, named) => {
    const response = await get('/assets/pages.css', { range, 'accept-encoding': 'identity' });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      206,
      named,
      content,
    ]);
    expect(response.headers.get('accept-ranges')).toBe('bytes');
  });

  test.each([
    ['of a compressed one', { range: 'bytes=0-3', 'accept-encoding': 'br' }],
    ['of several parts', { range: 'bytes=0-1,3-4' }],
    ['in another unit', { range: 'lines=0-1' }],
    ['that ends before it begins', { range: 'bytes=4-3' }],
    ['of another version', { range: 'bytes=0-3', 'if-range': '"before"' }],
  ])('ignores the range and sends the whole file: %s', async (_case, headers) => {
    const response = await get('/assets/pages.css', { 'accept-encoding': 'identity', ...headers });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([200, null, CSS]);
  });

  test.each(['bytes=19-', 'bytes=-0', 'bytes=99999999999999999999-'])('returns 416: %s', async (range) => {
    const response = await get('/assets/pages.css', { range, 'accept-encoding': 'identity' });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      416,
      'bytes */19',
      '',
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('keeps files available to pages loaded before an upgrade', async () => {
    const response = await get('/assets/pages-00000000.css');
    expect([response.status, await response.text()]).toEqual([200, 'p {}']);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await get('/assets/gone-00000000.css')).status).toBe(404);
    expect(await (await get('/assets/pages.css', { 'accept-encoding': 'identity' })).text()).toBe(CSS);
  });

  test('returns an uncacheable error for a missing file, not a page', async () => {
    const response = await get('/assets/pages-99999999.css');
    expect([response.status, await response.text()]).toEqual([404, 'not found']);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('allows our own pages to load styles and scripts', async () => {
    const response = await service.exchange(
      'GET /assets/pages.css HTTP/1.1\r\nHost: x\r\nSec-Fetch-Dest: style\r\nConnection: close\r\n\r\n',
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    '/assets/',
    '/assets/.',
    '/assets/manifest.json',
    '/assets/manifest.before.json',
    '/assets/pages.css.map',
    '/assets/pages-0a1b2c3d.js.map',
    '/assets/pages-0a1b2c3d.css.br',
    '/assets/passwd',
    '/assets/../routes.ts',
    '/assets/..%2froutes.ts',
    '/assets/%2e%2e/routes.ts',
    '/assets/..\\routes.ts',
    '/assets/..%5croutes.ts',
    '/assets/%252e%252e/routes.ts',
    '/assets/....//routes.ts',
    '/assets//etc/passwd',
    '/assets/C:%5c',
    '/assets/pages.css%00.js',
    '/assets/%',
    '/assets/%zz',
    '/assets/__proto__',
    '/assets/constructor',
    '/assets/x/../pages.css',
  ])('serves only files of the manifest: not %s (security S-78)', async (path) => {
    const response = await service.exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 40[04] /);
  });
});

describe('source maps (assets.source_maps)', () => {
  test('are served where enabled, and referenced by their scripts', async () => {
    const own = await startRouteServer(mount(core, { assets: loadAssets(directory, true), brand: NO_BRAND }));
    try {
      for (const script of ['pages-0a1b2c3d.js', 'pages.js']) {
        const response = await fetch(`${own.origin}/assets/${script}`);
        expect(response.headers.get('sourcemap')).toBe('pages-0a1b2c3d.js.map');
        const map = await fetch(new URL(response.headers.get('sourcemap') ?? '', response.url));
        expect([map.status, map.headers.get('content-type'), await map.text()]).toEqual([200, 'application/json', MAP]);
      }
      expect((await fetch(`${own.origin}/assets/pages.css.map`)).status).toBe(404);
    } finally {
      await own.close();
    }
  });

  test('are not referenced otherwise', async () => {
    expect((await get('/assets/pages.js')).headers.get('sourcemap')).toBeNull();
  });
});

test('an unchanged SVG keeps its policy in the cache (RFC 9111 4.3.4)', async () => {
  const sandbox = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
  const first = await get('/assets/favicon.svg');
  expect(first.headers.get('content-security-policy')).toBe(sandbox);
  const again = await get('/assets/favicon.svg', { 'if-none-match': first.headers.get('etag') ?? '' });
  expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, sandbox]);
});

test('/favicon.ico is an image and /robots.txt keeps crawlers out', async () => {
  const icon = await get('/favicon.ico');
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  const robots = await get('/robots.txt');
  expect(robots.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await robots.text()).toBe('User-agent: *\nDisallow: /\n');
});

/** Headers that Chromium sends when it requests the icon of a document that names none. */
const ICON_HEADERS = [
  ['Host', 'a'],
  ['Accept', 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'],
  ['Sec-Fetch-Site', 'same-origin'],
  ['Sec-Fetch-Mode', 'no-cors'],
  ['Sec-Fetch-Dest', 'image'],
  ['Connection', 'close'],
];

describe('default requests of browsers and crawlers to an origin', () => {
  const requested = (path: string) =>
    `GET ${path} HTTP/1.1\r\n${ICON_HEADERS.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;

  test('the browser gets the icon', async () => {
    const response = await service.exchange(requested('/favicon.ico'));
    expect(response).toMatch(/^HTTP\/1\.1 200 [\s\S]*^content-type: image\/svg\+xml\r$/im);
  });

  test('they also work at the origin itself when the service is below a path', async () => {
    const binds = [{ host: '127.0.0.1', port: 0 }];
    const resources = [{ name: 'human' as const }, { name: 'assets' as const }];
    const routes = mount(core, { assets: loadAssets(directory), brand: NO_BRAND });
    const below = await startRouteServer(routes, {
      http: { listeners: [{ name: 'test', resources, binds, prefix: '/auth' }] },
    });
    try {
      for (const path of ['/favicon.ico', '/auth/favicon.ico', '/robots.txt', '/auth/robots.txt']) {
        expect(await below.exchange(requested(path)), path).toMatch(/^HTTP\/1\.1 200 /);
      }
      for (const path of ['/assets/favicon.svg', '/assets/*']) {
        expect(await below.exchange(requested(path)), path).toMatch(/^HTTP\/1\.1 404 /);
      }
    } finally {
      await below.close();
    }
  });
});
