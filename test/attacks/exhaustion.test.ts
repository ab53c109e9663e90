/** Security 4.17: making the service compute, wait or store more than the caller pays for. */
import { describe, expect, test, vi } from 'vitest';
import { hashes } from '../support/counted-argon2.ts';
import { expectLinear, median, quantile } from '../support/measuring.ts';
import { attackedService, basic, C1, ISSUER, PASSWORD } from './attacked-service.ts';
import { headerOf, sendBytes } from './raw-http.ts';

vi.mock('@node-rs/argon2', async (original) => {
  const { countedArgon2 } = await import('../support/counted-argon2.ts');
  return countedArgon2(await original());
});

const attacked = attackedService(
  {
    http: { public_base: ISSUER, client_ip_header: 'forwarded' },
    limits: { headers_timeout: '1s', request_timeout: '2s', keep_alive_timeout: '1s' },
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 19_456, iterations: 7 }] },
  },
  { expectedStatuses: [503] },
);
/** The log has a resolution of a tenth of a millisecond for CPU time. */
const LOGGED = { resolution: 0.1 };
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';

/**
 * Returns all routes that read a body, with its content type. Excludes the sign-out routes of chat clients and the
 * upstream provider routes, which identify the caller or the provider before they read a body. Also excludes the
 * passkey options routes, which read no body.
 */
function posts(): { path: string; type: string }[] {
  const isRead = (path: string) =>
    !/\/client\/:version\/logout|^\/upstream\/(?:callback|backchannel-logout)\/|^\/login\/(?:add-)?passkey\/options$/.test(
      path,
    );
  const routes = attacked.routes({ method: 'POST' }).filter(({ path }) => isRead(path));
  return routes.map(({ target, errorFormat }) => ({
    path: target,
    type:
      target === '/oauth2/registration' || errorFormat === 'chat-json' || errorFormat === 'graphql-json'
        ? 'application/json'
        : 'application/x-www-form-urlencoded',
  }));
}

describe('request heads that are too large (S-140)', () => {
  test.each([
    ['10,000 fields', `GET / HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(10_000)}\r\n`, 431],
    ['101 fields', `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a: b\r\n'.repeat(99)}\r\n`, 431],
    ['a field of 1 MB', `GET / HTTP/1.1\r\nHost: x\r\na: ${'b'.repeat(1_000_000)}\r\n\r\n`, 431],
    ['100 KiB of cookies', `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c=x; '.repeat(20_480)}\r\n\r\n`, 431],
    ['a target of 64 KiB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a target of 9 KiB', `GET /${'x'.repeat(9000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 414],
  ])('%s: refused', async (_, bytes, status) => {
    expect((await sendBytes(attacked.service.address, bytes)).map((response) => response.status)).toEqual([status]);
  });

  test.each([
    ['1,000 entries', 1000, (size: number) => `${'for=9.9.9.9, '.repeat(size)}for=198.51.100.7`, '198.51.100.7'],
    ['unterminated quotes', 4000, (size: number) => '"\\'.repeat(size), '127.0.0.1'],
    ['quotes and commas', 5000, (size: number) => '",'.repeat(size), '127.0.0.1'],
    ['semicolons and spaces', 5000, (size: number) => '; '.repeat(size), '127.0.0.1'],
    ['repeated for=', 2000, (size: number) => 'for="['.repeat(size), '127.0.0.1'],
    ['blanks', 10_000, (size: number) => `for=${' '.repeat(size)}x`, '127.0.0.1'],
  ])('a Forwarded header of %s is read in linear time', async (_, largest, forwarded, address) => {
    await expectLinear(
      async (size) => {
        const cpu = await attacked.cpuOf({ target: '/robots.txt', headers: [['Forwarded', forwarded(size)]] });
        expect(attacked.service.requestLines().at(-1)?.address).toBe(address);
        return cpu;
      },
      largest,
      LOGGED,
    );
  });
});

describe('bodies that are too large, too long or misdeclared (S-141)', () => {
  test('with a Content-Length of 1 GB: refused before a byte is read, at every form', async () => {
    for (const { path, type } of posts()) {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 1000000000\r\n\r\n`;
      const responses = await sendBytes(attacked.service.address, head);
      expect([path, responses.map(({ status }) => status)]).toEqual([path, [413]]);
    }
  });

  test('in endless chunks: refused at the first excess byte, at every form', async () => {
    const chunk = `8000\r\n${'a'.repeat(0x8000)}\r\n`;
    for (const { path, type } of posts()) {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const responses = await sendBytes(attacked.service.address, head + chunk.repeat(path === '/graphql' ? 9 : 3));
      expect([path, responses.map(({ status }) => status)]).toEqual([path, [413]]);
    }
  });

  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'x-bomb'])(
    'compressed with %s: refused without decompression',
    async (coding) => {
      for (const { path, type } of posts()) {
        const headers: [string, string][] = [
          ['Content-Type', type],
          ['Content-Encoding', coding],
        ];
        const response = await attacked.ask({ method: 'POST', target: path, headers, body: Buffer.alloc(1000, 0x1f) });
        expect([path, response.status]).toEqual([path, 415]);
      }
    },
  );

  test('at the chat sign-out: authentication comes first, and nothing is read without it', async () => {
    for (const path of ['logout', 'logout/all']) {
      const head = `POST /_chat/client/v3/${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n`;
      const responses = await sendBytes(attacked.service.address, head);
      expect([path, responses.map(({ status }) => status)]).toEqual([path, [401]]);
    }
  });

  test('longer than declared: the rest is not read as a request; shorter: 408 or 400 without effect', async () => {
    const head = `POST /oauth2/token HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(C1)}\r\n${FORM}`;
    const body = 'grant_type=client_credentials';
    await attacked.changingNothing(async () => {
      const cut = await sendBytes(attacked.service.address, `${head}Content-Length: 5\r\n\r\n${body}`);
      for (const response of cut) expect(response.status).toBe(400);
      const short = await sendBytes(attacked.service.address, `${head}Content-Length: 5000\r\n\r\n${body}`);
      for (const response of short) expect([400, 408]).toContain(response.status);
    });
  });
});

describe('150 concurrent sign-ins with long passwords (S-143)', () => {
  test('are hashed two at a time, and wait in a queue or get 503; API clients do not wait behind them', async () => {
    const { accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    const browsers = Array.from({ length: 150 }, () => attacked.browser());
    for (const browser of browsers) await browser.get('/login');
    const from = attacked.service.requestLines().length;
    const hashed = hashes.started.length;
    hashes.most = 0;
    let isDone = false;
    const signingIn = Promise.all(
      browsers.map((browser) => browser.submit({ username: 'bruno', password: 'x'.repeat(1024) })),
    ).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      expect((await attacked.introspect(accessToken))['active']).toBe(true);
      expect((await attacked.ask({ target: '/health' })).status).toBe(200);
    }
    const responses = await signingIn;
    for (const response of responses) {
      expect([200, 503]).toContain(response.status);
      expect(response.errorCodes).toEqual([response.status === 200 ? 'invalid_credentials' : 'overloaded']);
      if (response.status === 503) expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(responses.filter(({ status }) => status === 503).length).toBeGreaterThan(0);
    expect(hashes.most).toBe(2);
    expect(hashes.started.length - hashed).toBe(responses.filter(({ status }) => status === 200).length);
    const lines = attacked.service.requestLines().slice(from);
    const waited = lines.filter(({ path, status }) => path === '/login' && status === 200);
    const machines = lines.filter(({ path }) => path !== '/login');
    const slowMachine = quantile(
      machines.map(({ elapsed }) => elapsed),
      0.95,
    );
    // Requests in the queue wait for a second and more. Requests to machine endpoints would too if they were queued.
    expect(slowMachine).toBeLessThan(median(waited.map(({ elapsed }) => elapsed)) / 2);
  });
});

describe('text that is crafted to be slow to parse (S-144)', () => {
  const KILLERS = ['a', '@', '.', ' ', '/', 'a@b.', 'a-', '%', '@a:', '"\\'];

  test.each(KILLERS)('%j repeated in every field: its cost is linear in its length', async (part) => {
    const browser = attacked.browser();
    await browser.get('/login');
    let text = '';
    const names = ['scope', 'redirect_uri', 'state', 'nonce', 'login_hint', 'ui_locales', 'prompt', 'max_age'];
    const fields: [string, () => Promise<unknown>][] = [
      ['sign-in', async () => await browser.submit({ username: text, password: '' })],
      [
        'continuation',
        async () =>
          await attacked.ask({
            target: `/login?${new URLSearchParams({ kind: 'manage_account', action: text.slice(0, 2000), login_hint: text.slice(0, 2000) })}`,
          }),
      ],
      ...names.map((name): [string, () => Promise<unknown>] => [
        name,
        async () => {
          const [, query] = attacked.authorizeUrl(C1, { [name]: text }).split('?');
          await browser.post('/authorize', new URLSearchParams(query), { cookie: undefined });
        },
      ]),
      ...['code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope', 'resource'].map(
        (name): [string, () => Promise<unknown>] => [
          name,
          async () => await attacked.post('/oauth2/token', { grant_type: 'refresh_token', [name]: text }, basic(C1)),
        ],
      ),
      ['token', async () => await attacked.post('/oauth2/introspect', { token: text }, basic(C1))],
      ...['Accept-Language', 'User-Agent', 'Accept', 'Cookie', 'If-None-Match', 'Authorization', 'traceparent'].map(
        (name): [string, () => Promise<unknown>] => [
          name,
          async () => await attacked.ask({ target: '/login', headers: [[name, text]] }),
        ],
      ),
    ];
    for (const [what, send] of fields) {
      const cost = async (size: number): Promise<number> => {
        // The last character does not match, which causes backtracking.
        text = `${part.repeat(size / part.length)}x`;
        await send();
        return attacked.lastCpu();
      };
      await expectLinear(cost, 7600, { ...LOGGED, what });
    }
  });

  test('500 language ranges cost as much per range as 60', async () => {
    const headerOfSize = (size: number): [string, string] => [
      'Accept-Language',
      Array.from({ length: size }, (_, index) => `x${index}-y;q=0.${index % 10}`).join(','),
    ];
    await expectLinear(
      async (size) => await attacked.cpuOf({ target: '/login', headers: [headerOfSize(size)] }),
      500,
      LOGGED,
    );
    const response = await attacked.ask({ target: '/login', headers: [headerOfSize(500)] });
    expect(headerOf(response, 'content-language')).toBe('en');
  });
});

test('a password of 1,025 bytes is rejected without hashing, even behind a proxy that allows it (S-143)', async () => {
  const browser = attacked.browser();
  await browser.get('/login');
  const hashed = hashes.started.length;
  await browser.submit({ username: 'amira', password: `${PASSWORD}${'é'.repeat(600)}` });
  expect(browser.page.errorCodes).toEqual(['invalid_credentials']);
  expect(hashes.started.length).toBe(hashed);
});
