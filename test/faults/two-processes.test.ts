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

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

let folder: string;
const services: ChildProcess[] = [];
const bases: string[] = [];

/** Two processes of one data directory, each on a port of its own, sharing its embedded database. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-two-'));
  // The database server's own account has to get through when the tests run as root.
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
      logging: { level: 'error' },
    };
    programs.push(new Program(folder, settings, { name: `latchkey-${index}.json` }));
  }
  // Both at once on a fresh directory: one makes the database, the other joins it.
  services.push(...(await Promise.all(programs.map((program, index) => program.serve(bases[index] ?? '')))));
  await programs[0]?.run(['manage', 'register-user', '--yes', '--password-file', '-', 'amira'], PASSWORD);
});

afterAll(async () => {
  const codes = await Promise.all(services.map((service) => stopProcess(service)));
  rmSync(folder, { recursive: true, force: true });
  expect(codes).toEqual([0, 0]);
});

/** The same request many times at once, in turns to both processes. */
function storm(fields: Record<string, string>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: PARALLEL }, (_, index) => token(bases[index % 2] ?? '', fields)));
}

async function token(base: string, fields: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${base}oauth2/token`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION },
    body: new URLSearchParams(fields),
  });
  return { status: response.status, body: await response.json() };
}

async function newCode(): Promise<string> {
  const browser = new Browser({ listener: (bases[0] ?? '').slice(0, -1), publicBase: bases[0] ?? '' });
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
  });
  await browser.open(`/authorize?${query}`);
  await browser.submit({ username: 'amira', password: PASSWORD });
  const shown = await browser.follow();
  return new URL(shown.location ?? '').searchParams.get('code') ?? '';
}

test('fifty exchanges of one code on two processes: one winner, the others invalid_grant, its tokens live (S-17)', async () => {
  const answers = await storm({ grant_type: 'authorization_code', code: await newCode(), redirect_uri: CALLBACK });
  const won = answers.filter((answer) => answer.status === 200);
  expect(won).toHaveLength(1);
  const lost = answers.filter((answer) => answer.status === 400 && answer.body['error'] === 'invalid_grant');
  expect(lost).toHaveLength(PARALLEL - 1);
  const again = await token(bases[1] ?? '', {
    grant_type: 'refresh_token',
    refresh_token: String(won[0]?.body['refresh_token']),
  });
  expect(again.status).toBe(200);
});

test('fifty refreshes of one token on two processes: all get the one successor (S-40)', async () => {
  const first = await token(bases[0] ?? '', {
    grant_type: 'authorization_code',
    code: await newCode(),
    redirect_uri: CALLBACK,
  });
  const answers = await storm({ grant_type: 'refresh_token', refresh_token: String(first.body['refresh_token']) });
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(new Set(answers.map((answer) => answer.body['refresh_token'])).size).toBe(1);
  expect(new Set(answers.map((answer) => answer.body['access_token'])).size).toBe(1);
});
