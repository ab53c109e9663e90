import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { startService, type TestService } from '#test/support/service.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><script>alert(1)</script></svg>';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

let directory: string;
let service: TestService;
let page: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-brand-'));
  const place = (name: string, content: string | Buffer) => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  service = await startService({
    branding: {
      service_name: '<Harbour> "Chat"',
      logo: place('logo', SVG),
      logo_dark: place('dark', PNG),
      favicon: place('icon', PNG),
      accent_color: '#0b5fa5',
    },
  });
  page = await (await fetch(`${service.address}/`)).text();
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

function addressOf(tag: RegExp): string {
  const [, path = ''] = tag.exec(page) ?? [];
  expect(path).toMatch(/^\/assets\/[a-z-]+-[0-9a-f]{8}\.(svg|png|css)$/);
  return service.address + path;
}

describe('a service with its own page template (browser-flows 12.4)', () => {
  const TEMPLATE = `<nav><a href="https://harbour.example/" title="{{ service_name }}">Harbour</a></nav>
<div class="{{ page_class }}">{{ brand }}{{ content }}{{ footer }}</div>
`;
  let own: TestService;
  beforeAll(async () => {
    const folder = join(directory, 'templates');
    mkdirSync(folder);
    writeFileSync(join(folder, 'page.html'), TEMPLATE);
    own = await startService({
      branding: { service_name: '<Harbour>', imprint: 'Quay Street 1' },
      templates: { path: folder },
    });
  });
  afterAll(() => own.stop());

  test.each(['/', '/login', '/no/such/page'])('renders %s in the template as a complete, clean page', async (path) => {
    const shown = await (await fetch(`${own.address}${path}`, { headers: { accept: 'text/html' } })).text();
    expectCleanPage(shown);
    expect(shown).toContain('<a href="https://harbour.example/" title="&lt;Harbour&gt;">Harbour</a></nav>');
    expect(shown).toMatch(/<main class="card">.*<\/main><footer class="foot">.*Quay Street 1/s);
  });

  test('does not interpret user input as a template', async () => {
    const query = new URLSearchParams({ login_hint: '{{ service_name }}{{ content }}' });
    const shown = await (await fetch(`${own.address}/login?${query}`)).text();
    expect(shown.match(/<main /g)).toHaveLength(1);
    expect(shown).not.toContain('value="&lt;Harbour');
  });
});

describe('a service with custom branding (browser-flows 12.4)', () => {
  test('shows its logo with the service name, and the dark variant to readers with dark mode', () => {
    expectCleanPage(page);
    expect(page).toMatch(
      /<picture><source srcset="\/assets\/logo-dark-[0-9a-f]{8}\.png" media="\(prefers-color-scheme: dark\)"\/?><img class="logo" src="[^"]+" alt="&lt;Harbour> &quot;Chat&quot;"\/?><\/picture>/,
    );
  });

  test('serves an SVG so that scripts in it cannot run', async () => {
    const response = await fetch(addressOf(/<img class="logo" src="([^"]+)"/));
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(SVG);
  });

  test('serves files with a content hash, immutable caching, and compression where useful', async () => {
    for (const [tag, type, coding] of [
      [/<img class="logo" src="([^"]+)"/, 'image/svg+xml', 'br'],
      [/<source srcset="([^"]+)"/, 'image/png', null],
      [/<link rel="icon" type="image\/png" href="([^"]+)"/, 'image/png', null],
      [/<link rel="stylesheet" href="([^"]*brand[^"]*)"/, 'text/css; charset=utf-8', 'br'],
    ] as const) {
      const response = await fetch(addressOf(tag), { headers: { 'accept-encoding': 'br' } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(response.headers.get('content-encoding')).toBe(coding);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  test('has its colors in a separate stylesheet after the bundled one, not inline', async () => {
    expect(page.indexOf('/assets/brand-')).toBeGreaterThan(page.indexOf('/assets/pages.css'));
    const css = await (await fetch(addressOf(/<link rel="stylesheet" href="([^"]*brand[^"]*)"/))).text();
    expect(css).toContain('--accent:#0b5fa5');
    expect(css).toContain('prefers-color-scheme:dark');
    expect(page).not.toContain('#0b5fa5');
  });

  test('serves its favicon at /favicon.ico', async () => {
    const response = await fetch(`${service.address}/favicon.ico`);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
  });
});
