/** Where to report vulnerabilities (RFC 9116, security S-174). */
import { expect, test } from 'vitest';
import { FakeClock } from '#test/support/fake-clock.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PATH = '/.well-known/security.txt';

const clock = new FakeClock();

const service = await sharedByTests(
  startService({ branding: { security_contact: 'mailto:security@example.org' } }, { clock }),
);

async function ask(headers: Record<string, string> = {}, of = service, path = PATH) {
  return await fetch(of.address + path, { headers });
}

function fieldsOf(text: string): [name: string, value: string][] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]);
}

test('the contact is published as text, with an expiry and without a statement (S-174)', async () => {
  const response = await ask();
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
  const text = await response.text();
  expect(text).toMatch(/[^\n]\n$/);
  const fields = fieldsOf(text);
  expect(fields).toEqual([
    ['Contact', 'mailto:security@example.org'],
    ['Expires', expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/)],
    ['Canonical', `${service.publicBase}.well-known/security.txt`],
  ]);
  const days = (Date.parse(new Map(fields).get('Expires') ?? '') - clock.now()) / 86_400_000;
  // RFC 9116 2.5.5: less than a year.
  expect(days).toBeGreaterThan(170);
  expect(days).toBeLessThan(365);
  expect(service.requestLines().at(-1)).toMatchObject({ status: 200, queries: 0 });
});

test('a client that has it gets 304, until the expiry moves on the next day', async () => {
  const first = await ask();
  const known = { 'if-none-match': first.headers.get('etag') ?? '' };
  expect((await ask(known)).status).toBe(304);
  clock.advanceSeconds(86_400);
  const next = await ask(known);
  expect(next.status).toBe(200);
  expect(await next.text()).not.toBe(await first.text());
});

test('without a contact there is no document', async () => {
  const without = await startService({}, { clock, like: service });
  try {
    const response = await ask({}, without);
    expect([response.status, await response.json()]).toMatchObject([404, { error: 'not_found' }]);
  } finally {
    await without.stop();
  }
});

test('is also served at the origin if the public base has a path, and names both URLs', async () => {
  const below = await startService(
    {
      branding: { security_contact: 'https://example.org/report' },
      http: {
        public_base: 'https://example.org/auth/',
        listeners: [{ resources: ['discovery'], prefix: '/auth', binds: [{ address: '127.0.0.1:0' }] }],
      },
    },
    { clock },
  );
  try {
    for (const path of [PATH, `/auth${PATH}`]) {
      const fields = fieldsOf(await (await ask({}, below, path)).text());
      expect(fields[0], path).toEqual(['Contact', 'https://example.org/report']);
      expect(fields.filter(([name]) => name === 'Canonical').map(([, url]) => url)).toEqual([
        `https://example.org${PATH}`,
        `https://example.org/auth${PATH}`,
      ]);
    }
  } finally {
    await below.stop();
  }
});
