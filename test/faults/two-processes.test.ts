import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/free-port.js';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const PARALLEL = 50;
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Little concurrency but many rounds, to hit different interleavings. */
const ROUNDS = 200;
const FEW = 4;
const ROUNDS_TIMEOUT_MS = 300_000;

interface TestResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

let folder: string;
const services: ChildProcess[] = [];
const bases: string[] = [];

/** Starts two processes on one data directory, each on a separate port. They share the embedded database. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-two-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
  const programs: Program[] = [];
  const ports = [await freePort(), await freePort()];
  const publicBase = `http://127.0.0.1:${ports[0]}/`;
  for (const [index, port] of ports.entries()) {
    bases.push(`http://127.0.0.1:${port}/`);
    const settings = {
      data_dir: join(folder, 'data'),
      http: {
        public_base: publicBase,
        listeners: [{ resources: ['human', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
          redirect_uris: [CALLBACK],
          first_party: true,
        },
      ],
      rate_limiting: { device_authorization: { per_client: { burst: 1000 } } },
      logging: { level: 'error' },
    };
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  // Starts both at the same time in an empty directory: one creates the database, the other joins it.
  services.push(...(await Promise.all(programs.map((program, index) => program.serve(bases[index] ?? '')))));
  await programs[0]?.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  const codes = await Promise.all(services.map((service) => stopProcess(service)));
  rmSync(folder, { recursive: true, force: true });
  expect(codes).toEqual([0, 0]);
});

/** Sends the same request many times concurrently, alternating between both processes. */
function storm(fields: Record<string, string>, length = PARALLEL): Promise<TestResponse[]> {
  return Promise.all(Array.from({ length }, (_, index) => token(bases[index % 2] ?? '', fields)));
}

/** @returns the only successful response. All others must be `invalid_grant` */
function winnerOf(responses: readonly TestResponse[]): TestResponse {
  const [winner, ...more] = responses.filter(({ status }) => status === 200);
  expect(more).toEqual([]);
  const lost = responses.filter(({ status, body }) => status === 400 && body['error'] === 'invalid_grant');
  expect(lost).toHaveLength(responses.length - 1);
  return winner ?? expect.fail('nobody won');
}

async function token(base: string, fields: Record<string, string>): Promise<TestResponse> {
  return await ask(`${base}oauth2/token`, fields);
}

async function ask(address: string, fields: Record<string, string>): Promise<TestResponse> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION },
    body: new URLSearchParams(fields),
  });
  return { status: response.status, body: await response.json() };
}

const AUTHORIZE = `/authorize?${new URLSearchParams({
  client_id: CLIENT_ID,
  redirect_uri: CALLBACK,
  response_type: 'code',
  scope: 'openid',
})}`;

/** Signs a user in. @returns the browser, and the code from the sign-in */
async function signIn(): Promise<{ browser: Browser; code: string }> {
  const browser = new Browser({ listener: (bases[0] ?? '').slice(0, -1), publicBase: bases[0] ?? '' });
  await browser.open(AUTHORIZE);
  await browser.submit({ username: 'amira', password: PASSWORD });
  return { browser, code: codeIn(await browser.follow()) };
}

function codeIn({ location }: { readonly location?: string | undefined }): string {
  return new URL(location ?? '').searchParams.get('code') ?? expect.fail('no code');
}

async function newCode(): Promise<string> {
  return (await signIn()).code;
}

test('fifty exchanges of one code on two processes: one succeeds, the others get invalid_grant, its tokens are valid (S-17)', async () => {
  const responses = await storm({ grant_type: 'authorization_code', code: await newCode(), redirect_uri: CALLBACK });
  const again = await token(bases[1] ?? '', {
    grant_type: 'refresh_token',
    refresh_token: String(winnerOf(responses).body['refresh_token']),
  });
  expect(again.status).toBe(200);
});

test('fifty refreshes of one token on two processes: all get the same successor (S-40)', async () => {
  const first = await token(bases[0] ?? '', {
    grant_type: 'authorization_code',
    code: await newCode(),
    redirect_uri: CALLBACK,
  });
  const responses = await storm({ grant_type: 'refresh_token', refresh_token: String(first.body['refresh_token']) });
  expectOnePair(responses);
});

function expectOnePair(responses: readonly TestResponse[]): void {
  expect(new Set(responses.map((response) => response.status))).toEqual(new Set([200]));
  expect(new Set(responses.map((response) => response.body['refresh_token'])).size).toBe(1);
  expect(new Set(responses.map((response) => response.body['access_token'])).size).toBe(1);
}

test('two hundred codes, each exchanged and refreshed four times at once: one session, one pair (S-17, S-40)', {
  timeout: ROUNDS_TIMEOUT_MS,
}, async () => {
  const { browser, code } = await signIn();
  let next = code;
  for (let round = 0; round < ROUNDS; round += 1) {
    const exchange = { grant_type: 'authorization_code', code: next, redirect_uri: CALLBACK };
    const { body } = winnerOf(await storm(exchange, FEW));
    expectOnePair(await storm({ grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) }, FEW));
    next = codeIn(await browser.get(AUTHORIZE));
  }
});

test('two hundred device codes, each redeemed four times at once: one session (S-115)', {
  timeout: ROUNDS_TIMEOUT_MS,
}, async () => {
  const { browser } = await signIn();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body } = await ask(`${bases[round % 2]}oauth2/device`, { scope: 'openid' });
    await browser.get('/link');
    await browser.submit({ code: String(body['user_code']) });
    await browser.follow();
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action: new URL(browser.page.url).pathname });
    expect(browser.page.status).toBe(303);
    winnerOf(await storm({ grant_type: DEVICE_CODE, device_code: String(body['device_code']) }, FEW));
  }
});
