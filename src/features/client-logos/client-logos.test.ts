import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type AuthorizationService,
  authorizeUrl,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { loopbackOutbound, startHttpsPeer } from '#test/support/https-peer.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { ClientLogos } from './client-logos.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
let requested: string[];
let respond: (response: ServerResponse) => void;
const clock = new FakeClock();

const testDatabase = await sharedByTests(createTestDatabase());
const host = await sharedByTests(
  startHttpsPeer((request, response) => {
    requested.push(JSON.stringify(request.headers));
    respond(response);
  }),
);
const service = await sharedByTests(
  startAuthorizationService(testDatabase.database, {
    clock,
    clientLogos: 'proxy',
    outbound: loopbackOutbound([host], { clock }),
  }),
);

beforeAll(async () => {
  await service.person('alice');
});
beforeEach(() => {
  requested = [];
  respond = (response) => response.writeHead(200, { 'Content-Type': 'image/png' }).end(PNG);
});

let logos = 0;
/** A client whose logo has not been requested yet. */
async function clientWithLogo(uri = `${host.origin}/logo-${logos}`, name = 'Example App'): Promise<ClientId> {
  logos += 1;
  const metadata = { client_name: { '': name }, logo_uri: { '': uri } };
  return await service.client({ secret: 's', isStatic: false, metadata });
}

async function logoOf(client: string, headers: HeadersInit = {}) {
  const response = await fetch(`${service.origin}/client-logos/${client}`, { headers });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

async function expectInitial(client: string, initial: string): Promise<void> {
  const { status, headers, body } = await logoOf(client);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('image/svg+xml');
  expect(headers.get('content-security-policy')).toBe(POLICY);
  expect(body.toString()).toContain(`>${initial}</text>`);
}

describe("a client's logo", () => {
  test('is shown on the consent page from our own origin', async () => {
    const client = await clientWithLogo();
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(client));
    expect(browser.page.body).toMatch(new RegExp(`<img class="client-logo" src="/client-logos/${client}" alt/?>`));
    expect(browser.page.body).not.toContain(host.origin);
    expect(requested).toEqual([]);
    expect(service.lastRequest().status).toBe(200);
  });

  test("is served with a fixed type, without leaking the viewer to the client's host (S-52)", async () => {
    const client = await clientWithLogo();
    const cookie = 'session=hush';
    const { status, headers, body } = await logoOf(client, {
      cookie,
      'user-agent': 'Browser of Alice',
      referer: 'https://x/',
    });
    expect(status).toBe(200);
    expect(body.equals(PNG)).toBe(true);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe(POLICY);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(requested).toHaveLength(1);
    expect(requested.join()).not.toMatch(/hush|Alice|https:\/\/x|203\.0|forwarded/);
  });

  test('is served only as an image on our own pages, not to other sites or into frames', async () => {
    const client = await clientWithLogo();
    const statusOf = async (destination: string, site: string): Promise<number> =>
      (await logoOf(client, { 'sec-fetch-dest': destination, 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': site }))
        .status;
    expect(await statusOf('image', 'cross-site')).toBe(403);
    expect(await statusOf('image', 'same-site')).toBe(403);
    expect(await statusOf('iframe', 'same-origin')).toBe(403);
    expect(requested).toEqual([]);
    expect(await statusOf('image', 'same-origin')).toBe(200);
    expect(requested).toHaveLength(1);
  });

  test('is fetched once in five minutes, and once for concurrent requests', async () => {
    const client = await clientWithLogo();
    const all = await Promise.all(Array.from({ length: 10 }, () => logoOf(client)));
    expect(all.every(({ body }) => body.equals(PNG))).toBe(true);
    const etag = all[0]?.headers.get('etag') ?? '';
    expect((await logoOf(client, { 'if-none-match': etag })).status).toBe(304);
    expect(requested).toHaveLength(1);
    clock.advanceSeconds(301);
    await logoOf(client);
    expect(requested).toHaveLength(2);
  });

  test('is kept when its host fails later', async () => {
    const client = await clientWithLogo();
    await logoOf(client);
    clock.advanceSeconds(301);
    respond = (response) => response.writeHead(500).end();
    expect((await logoOf(client)).body.equals(PNG)).toBe(true);
  });

  test.for([
    ['image/png', PNG, 'text/html'],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/png'],
    ['image/gif', Buffer.from('GIF89a'), ''],
    ['image/webp', Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 ', 'latin1'), 'image/x'],
    ['image/svg+xml', Buffer.from(SVG), 'image/svg+xml'],
    ['image/svg+xml', Buffer.from(`\ufeff \n<?xml version="1.0"?>${SVG}`), 'image/svg+xml; charset=utf-8'],
  ] as const)('has the content-sniffed type %s, and cannot run scripts (S-74)', async ([type, content, said]) => {
    respond = (response) => response.writeHead(200, said === '' ? {} : { 'Content-Type': said }).end(content);
    const { headers, body } = await logoOf(await clientWithLogo());
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-security-policy')).toBe(POLICY);
    expect(body.equals(content)).toBe(true);
  });

  test.for([
    ['a page', '<!DOCTYPE html><script>alert(1)</script>', 'text/html'],
    ['a page that is called a picture', '<!DOCTYPE html><script>alert(1)</script>', 'image/png'],
    ['a script', 'alert(1)', 'text/javascript'],
    ['text that is called a drawing', 'alert(1)', 'image/svg+xml'],
    ['a drawing that is called XML', SVG, 'text/xml'],
    ['nothing', '', 'image/png'],
  ])('that is %s is replaced by a letter (S-74)', async ([, content, type]) => {
    respond = (response) => response.writeHead(200, { 'Content-Type': type }).end(content);
    await expectInitial(await clientWithLogo(), 'E');
  });

  test('that cannot be fetched becomes a letter: blocked address, redirect, error (S-52)', async () => {
    await expectInitial(await clientWithLogo('https://127.0.0.1/logo', 'ägypten'), 'Ä');
    respond = (response) => response.writeHead(302, { Location: 'https://peer.example/' }).end();
    await expectInitial(await clientWithLogo(undefined, '<script>'), 'S');
    respond = (response) => response.writeHead(404).end(PNG);
    await expectInitial(await clientWithLogo(undefined, '\u202e &<'), '?');
  });

  test('takes no statement once the client is cached', async () => {
    await logoOf(await clientWithLogo());
    expect(service.lastRequest().queries).toBe(0);
  });

  test.for(['00000000000000000000000000', 'x', '..%2f..'])('of an unknown client returns 404: %s', async (id) => {
    expect((await logoOf(id)).status).toBe(404);
  });

  test('of a client without one returns 404', async () => {
    expect((await logoOf(await service.client())).status).toBe(404);
  });
});

describe('without account.client_logos', () => {
  let plain: AuthorizationService;
  beforeAll(async () => {
    plain = await startAuthorizationService(testDatabase.database, { clock, outbound: loopbackOutbound([host]) });
  });
  afterAll(async () => await plain.close());

  test('shows, fetches and serves no logo', async () => {
    const client = await clientWithLogo();
    const browser = await plain.signedIn('alice');
    await browser.open(authorizeUrl(client));
    expect(browser.page.text).toContain('Example App');
    expect(browser.page.body).not.toContain('client-logo');
    expect((await fetch(`${plain.origin}/client-logos/${client}`)).status).toBe(404);
    expect(requested).toEqual([]);
  });
});

describe('limits', () => {
  const open: (() => void)[] = [];
  afterEach(() => {
    for (const release of open.splice(0)) release();
  });

  test('sixteen requests wait for slow hosts, and the others are answered at once', async () => {
    const slow = new ClientLogos(
      {
        get: async () => {
          await new Promise<void>((resolve) => open.push(resolve));
          return { ok: false, reason: 'timeout' };
        },
      },
      clock,
    );
    const find = (index: number) => slow.find(`https://host-${index}.example/`, { kind: 'dynamic' });
    const waiting = Array.from({ length: 16 }, (_, index) => find(index));
    expect(await find(17)).toBeUndefined();
    expect(open).toHaveLength(16);
    for (const release of open.splice(0)) release();
    expect(await Promise.all(waiting)).toEqual(new Array(16).fill(undefined));
    const next = find(18);
    expect(open).toHaveLength(1);
    open[0]?.();
    expect(await next).toBeUndefined();
  });

  test('caches eight MiB, and evicts the oldest first', async () => {
    let fetched = 0;
    const content = Buffer.concat([PNG, Buffer.alloc(256 * 1024 - PNG.length)]);
    const kept = new ClientLogos(
      {
        get: async () => {
          fetched += 1;
          return { ok: true, mediaType: 'image/png', body: content, freshForSeconds: 300 };
        },
      },
      clock,
    );
    const find = (index: number) => kept.find(`https://host-${index}.example/`, { kind: 'dynamic' });
    for (let index = 0; index < 33; index += 1) await find(index);
    expect(fetched).toBe(33);
    for (let index = 1; index < 33; index += 1) await find(index);
    expect(fetched).toBe(33);
    await find(0);
    expect(fetched).toBe(34);
  });
});
