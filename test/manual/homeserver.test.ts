/**
 * The guide for operators of Synapse. nginx and Caddy run with its configurations where they are installed. `.ci/run`
 * unpacks Debian's packages into a folder named by `LATCHKEY_TEST_PROXIES`. Without them, those tests are skipped and
 * reported as such. Debian has no Traefik, so its rules are parsed and applied to the same URLs.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { loadYaml } from '../../src/config/fixture.test-support.ts';
import { freePort } from '../support/free-port.js';
import { certificate } from '../support/https-peer.ts';
import { stopProcess } from '../support/program.js';
import { startService } from '../support/service.ts';
import { notifyHomeserver } from '../support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '../support/stand-in-homeserver/stand-in-homeserver.ts';
import { settingsOf } from './guide.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/guides/homeserver.md');
const SECRET = 'shared-secret-of-the-guide';

describe('guide "Connect a Synapse homeserver"', () => {
  test('has settings that connect a Synapse with the matrix protocol name', () => {
    const yaml = (page.blocks('yaml')[0] ?? '').replace('secret_file: secrets/homeserver', `secret: ${SECRET}`);
    const { homeserver, http, protocolName } = loadYaml(yaml);
    expect(homeserver).toMatchObject({
      kind: 'synapse',
      homeserver: 'example.org',
      endpoint: 'http://localhost:8008/',
    });
    expect(protocolName).toBe('matrix');
    expect(http.listeners[0]?.resources.map(({ name }) => name)).toContain('compat');
  });

  test('has settings for Synapse that match on server name and URLs', () => {
    const synapse: unknown = parse(page.blocks('text')[0] ?? '');
    expect(synapse).toMatchObject({
      server_name: 'example.org',
      public_baseurl: 'https://matrix.example.org/',
      listeners: [{ port: 8008, x_forwarded: true, resources: [{ names: expect.arrayContaining(['client']) }] }],
      matrix_authentication_service: { enabled: true, endpoint: 'http://localhost:8080/' },
    });
  });

  test('has commands that do what the guide says, in order', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'latchkey-homeserver-'));
    const homeserver = await startStandInHomeserver(SECRET, 'localhost');
    homeserver.state.protocolName = 'matrix';
    homeserver.addUser('bruno').devices.set('OLDDEVICE', 'of before');
    const connected = { homeserver: 'localhost', endpoint: homeserver.endpoint, secret: SECRET };
    const service = await startService({ protocol_name: 'matrix', homeserver: connected });
    homeserver.state.service = service.publicBase;
    try {
      const file = join(directory, 'latchkey.yaml');
      const settings = {
        ...settingsOf(page),
        data_dir: join(directory, 'data'),
        database: { uri: service.connectionString },
        logging: { output: join(directory, 'log') },
        http: { public_base: service.issuer },
        homeserver: connected,
        passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
      };
      writeFileSync(file, stringify(settings), { mode: 0o600 });
      const password = join(directory, 'password.txt');
      writeFileSync(password, 'correct horse battery staple\n', { mode: 0o600 });
      const commands = page.blocks('sh').flatMap((block) => block.match(/^latchkey .*$/gm) ?? []);
      expect(commands).toHaveLength(14);
      const isBack = async () => {
        await notifyHomeserver(service.core);
        return homeserver.user('amira')?.isDeactivated === false;
      };
      for (const command of commands) {
        const words = command.replace(/ +#.*/, '').replace('password.txt', password).split(' ').slice(1);
        const { exitCode, out, err } = await runCommand(['-c', file, ...words], { workingDirectory: directory });
        // The guide's host name does not resolve here, and clients need it.
        const expected = words.includes('doctor') ? 11 : 0;
        expect(exitCode, `${command}\n${out}${err}`).toBe(expected);
        if (expected === 11) {
          for (const name of ['versions', 'whoami', 'secret'])
            expect(out).toMatch(new RegExp(`^ok +homeserver\\.${name} `, 'm'));
        }
        await notifyHomeserver(service.core);
        // A job that conflicts with another job for the same user is retried two seconds later.
        if (words.includes('--reactivate')) await expect.poll(isBack, { timeout: 30_000 }).toBe(true);
      }
      expect([...(homeserver.user('amira')?.devices.keys() ?? [])].toSorted()).toEqual(['ADMIN', 'BOT']);
    } finally {
      await service.stop();
      await homeserver.stop();
      rmSync(directory, { recursive: true });
    }
  });
});

type Target = 'latchkey' | 'synapse' | 'nobody';

/** Where each URL must be routed (chat-compat 3.1), and what must not be reachable from outside. */
const ADDRESSES: readonly (readonly [host: string, path: string, target: Target])[] = [
  ['matrix.example.org', '/_matrix/client/v3/login', 'latchkey'],
  ['matrix.example.org', '/_matrix/client/r0/login/sso/redirect?redirectUrl=https%3A%2F%2Fapp.example%2F', 'latchkey'],
  ['matrix.example.org', '/_matrix/client/v3/login/sso/redirect/01JD3Q5Z8W2N4K6M7P9R0S1TPR', 'latchkey'],
  ['matrix.example.org', '/_matrix/client/unstable/logout/all', 'latchkey'],
  ['matrix.example.org', '/_matrix/client/v1/refresh', 'latchkey'],
  ['matrix.example.org', '/_matrix/client/v3/loginx', 'synapse'],
  ['matrix.example.org', '/_matrix/client/v3/account/login', 'synapse'],
  ['matrix.example.org', '/_matrix/client/versions', 'synapse'],
  ['matrix.example.org', '/_matrix/client/v3/profile/%40amira%3Aexample.org', 'synapse'],
  ['matrix.example.org', '/_matrix/federation/v1/version', 'synapse'],
  ['matrix.example.org', '/_synapse/client/new_user_consent', 'synapse'],
  ['matrix.example.org', '/_synapse/mas/query_user', 'nobody'],
  ['matrix.example.org', '/_synapse/admin/v2/users', 'nobody'],
  ['auth.example.org', '/authorize?client_id=1', 'latchkey'],
];

interface TestResponse {
  readonly status: number;
  readonly body: string;
  readonly allowedOrigin: string | undefined;
}

/** Sends a request to a proxy on loopback. */
async function ask(port: number, host: string, path: string): Promise<TestResponse> {
  return await new Promise((resolve, reject) => {
    const options = { port, path, host: '127.0.0.1', servername: host, headers: { host }, rejectUnauthorized: false };
    const sent = request({ ...options, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      const allowedOrigin = response.headers['access-control-allow-origin'];
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, allowedOrigin }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const FOLDER = process.env['LATCHKEY_TEST_PROXIES'] ?? '/';

interface Proxy {
  readonly name: string;
  readonly program: string;
  /** Adapts the guide's configuration to this port and certificate. */
  configure(text: string, port: number, folder: string): string;
  check(file: string, folder: string): readonly string[];
  run(file: string, folder: string): readonly string[];
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: join(FOLDER, 'usr/sbin/nginx'),
    configure: (text, port, folder) => {
      const servers = text
        .replaceAll('listen 443 ', `listen 127.0.0.1:${port} `)
        .replaceAll('/etc/ssl/example.org/', `${folder}/`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temporary = paths.map((one) => `${one}_temp_path ${folder}/${one};`).join('\n');
      return `daemon off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${servers}\n}\n`;
    },
    check: (file, folder) => ['-t', '-e', 'stderr', '-p', folder, '-c', file],
    run: (file, folder) => ['-e', 'stderr', '-p', folder, '-c', file],
  },
  {
    name: 'caddy',
    program: join(FOLDER, 'usr/bin/caddy'),
    configure: (text, port, folder) => {
      const sites = text.replace(
        /^(\S+\.org) \{$/gm,
        `https://$1:${port} {\n  bind 127.0.0.1\n  tls ${folder}/fullchain.pem ${folder}/privkey.pem`,
      );
      return `{\n  admin off\n  auto_https disable_redirects\n}\n${sites}`;
    },
    check: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

describe.each(PROXIES)('$name with the configuration of the guide', ({ name, program, configure, check, run }) => {
  const isThere = existsSync(program);
  const targets: Server[] = [];
  let folder: string;
  let port: number;
  let file: string;
  let running: ChildProcess | undefined;

  /** Starts a server that responds with its name and the requested path. */
  async function startTarget(target: Target): Promise<number> {
    const targetPort = await freePort();
    const server = createServer((incoming, response) => response.end(`${target} ${incoming.url}`));
    targets.push(server);
    await new Promise<void>((resolve) => server.listen(targetPort, '127.0.0.1', resolve));
    return targetPort;
  }

  beforeAll(async () => {
    if (!isThere) return;
    folder = mkdtempSync(join(tmpdir(), 'latchkey-proxy-'));
    mkdirSync(join(folder, 'home'));
    const { cert, key } = certificate();
    writeFileSync(join(folder, 'fullchain.pem'), cert);
    writeFileSync(join(folder, 'privkey.pem'), key, { mode: 0o600 });
    port = await freePort();
    const [latchkey, synapse] = [await startTarget('latchkey'), await startTarget('synapse')];
    const [text = ''] = page.blocks(name === 'nginx' ? 'nginx' : 'caddyfile');
    const here = text
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${latchkey}`)
      .replaceAll('127.0.0.1:8008', `127.0.0.1:${synapse}`);
    file = join(folder, 'configuration');
    writeFileSync(file, configure(here, port, folder));
  });

  afterAll(async () => {
    if (!isThere) return;
    if (running !== undefined) await stopProcess(running);
    for (const server of targets) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(folder, { recursive: true });
  });

  test.skipIf(!isThere)('passes its configuration check', () => {
    const env = { ...process.env, HOME: join(folder, 'home') };
    const { status, stderr } = spawnSync(program, check(file, folder), { encoding: 'utf8', env });
    expect(status, stderr).toBe(0);
  });

  test.skipIf(!isThere)('routes every URL to its target unchanged', async () => {
    running = spawn(program, run(file, folder), {
      env: { ...process.env, HOME: join(folder, 'home') },
      stdio: 'ignore',
    });
    await expect
      .poll(
        () =>
          ask(port, 'example.org', '/').then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true);
    for (const [host, path, target] of ADDRESSES) {
      const { body } = await ask(port, host, path);
      if (target === 'nobody') expect(body, path).not.toMatch(/^(latchkey|synapse) /);
      else expect(body).toBe(`${target} ${path}`);
    }
    const document = await ask(port, 'example.org', '/.well-known/matrix/client');
    expect(document).toMatchObject({ status: 200, allowedOrigin: '*' });
    expect(JSON.parse(document.body)).toEqual({ 'm.homeserver': { base_url: 'https://matrix.example.org' } });
    const federation = await ask(port, 'example.org', '/.well-known/matrix/server');
    expect(JSON.parse(federation.body)).toEqual({ 'm.server': 'matrix.example.org:443' });
  });
});

const traefik = z.strictObject({
  http: z.strictObject({
    routers: z.record(
      z.string(),
      z.strictObject({
        rule: z.string(),
        priority: z.int().optional(),
        service: z.enum(['latchkey', 'synapse']),
        tls: z.strictObject({ certResolver: z.string() }),
      }),
    ),
    services: z.record(
      z.string(),
      z.strictObject({ loadBalancer: z.strictObject({ servers: z.array(z.strictObject({ url: z.url() })) }) }),
    ),
  }),
});

test('Traefik routes every URL to its target by its rules', () => {
  const { http } = traefik.parse(parse(page.blocks('traefik')[0] ?? ''));
  expect(Object.keys(http.services)).toEqual(['latchkey', 'synapse']);
  const routers = Object.values(http.routers).toSorted((one, other) => (other.priority ?? 0) - (one.priority ?? 0));
  for (const [host, path, target] of ADDRESSES) {
    const { pathname } = new URL(path, 'https://host.example');
    const router = routers.find(({ rule }) => matches(rule, host, pathname));
    expect(router?.service ?? 'nobody', path).toBe(target);
  }
});

/** Evaluates a rule of the form "host, and any of these paths". */
function matches(rule: string, host: string, path: string): boolean {
  const named = (matcher: string) =>
    [...rule.matchAll(new RegExp(`\\b${matcher}\\(\`([^\`]*)\`\\)`, 'g'))].map(([, value = '']) => value);
  const expressions = named('PathRegexp').map((value) => new RegExp(value));
  const prefixes = named('PathPrefix');
  const isAnyPath = expressions.length + prefixes.length === 0;
  const isPath = expressions.some((one) => one.test(path)) || prefixes.some((one) => path.startsWith(one));
  return named('Host').includes(host) && (isAnyPath || isPath);
}
