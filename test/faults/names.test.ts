/**
 * Host names that do not resolve, or resolve to other addresses (security F-20). The program has its own resolver
 * configuration: files bind-mounted over the system's in a mount namespace, which requires root.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { insertTestAccount } from '../support/accounts.ts';
import { Browser } from '../support/browser.ts';
import { ChatClient } from '../support/chat-client.ts';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.js';
import { NameServer } from '../support/name-server.ts';
import { NetworkLink } from '../support/network-link.js';
import { mayMount, nodeWithFiles } from '../support/own-files.ts';
import { Program, stopProcess } from '../support/program.js';
import { startSmtpPeer } from '../support/smtp-peer.ts';
import { startStandInHomeserver } from '../support/stand-in-homeserver/stand-in-homeserver.ts';
import { startUpstreamPeer } from '../support/upstream-peer.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
/** One for each test, because both run at the same time. */
const [NAME_SERVER, OTHER_NAME_SERVER] = ['127.0.0.53', '127.0.0.54'];
const [FIRST, SECOND, THIRD, FOURTH, FIFTH] = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
const HEALED = { timeout: 60_000, interval: 100 };

test.runIf(mayMount())(
  "F-20: the database's name changes its address, is unknown, fails to resolve, and gets no answer: 503, and service within a minute of recovery",
  { concurrent: true, timeout: 180_000 },
  async ({ expect }) => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-names-'));
    chmodSync(folder, 0o711);
    const db = await createTestDatabase();
    const names = new NameServer();
    await names.listen(NAME_SERVER);
    const {
      host = '127.0.0.1',
      port: databasePort = 5432,
      user,
      password,
      database,
    } = parseConnectionUri(db.connectionString);
    const [linkPort, port] = [await freePort(), await freePort()];
    let cable = new NetworkLink({ host, port: databasePort });
    const moveTo = async (address: string): Promise<void> => {
      cable.close();
      cable = new NetworkLink({ host, port: databasePort });
      await cable.listen(linkPort, address);
    };
    await moveTo(FIRST);
    names.answer = FIRST;
    const node = nodeWithFiles(folder, { '/etc/resolv.conf': `nameserver ${NAME_SERVER}\n` });
    const base = `http://127.0.0.1:${port}/`;
    const account = [user, password].filter((part) => part !== undefined).map(encodeURIComponent);
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      database: { uri: `postgresql://${account.join(':')}@db.example.test:${linkPort}/${database}?sslmode=disable` },
      http: {
        public_base: base,
        listeners: [{ resources: ['discovery', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
        },
      ],
      logging: { level: 'error' },
    });
    const tokenStatus = async (): Promise<number> => {
      const headers = { authorization: AUTHORIZATION, connection: 'close' };
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const response = await fetch(`${base}oauth2/token`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    const service = await program.serve(base, { node });
    try {
      expect(await tokenStatus()).toBe(200);
      names.answer = SECOND;
      await moveTo(SECOND);
      await expect.poll(tokenStatus, HEALED).toBe(200);
      for (const [failure, next] of [
        ['nxdomain', FIRST],
        ['servfail', SECOND],
        ['silent', FIRST],
      ] as const) {
        names.answer = failure;
        await moveTo(next);
        expect(await tokenStatus(), failure).toBe(503);
        expect((await fetch(`${base}.well-known/openid-configuration`)).status).toBe(200);
        expect((await fetch(`${base}oauth2/keys.json`)).status).toBe(200);
        names.answer = next;
        await expect.poll(tokenStatus, HEALED).toBe(200);
      }
    } finally {
      await stopProcess(service);
      names.close();
      cable.close();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const PROVIDER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const HOSTS = '127.0.0.1 localhost\n127.0.0.1 db.internal\n';
const AT_ONCE = 50;
/** An unanswered lookup takes twice as long. */
const PROMPT_MS = 5_000;

test.runIf(mayMount())(
  'F-20: names of mail server, homeserver and provider change their address, are unknown, fail to resolve, and get no answer: dependent requests fail, passwords do not wait, and all recovers within a minute',
  { concurrent: true, timeout: 300_000 },
  async ({ expect }) => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-names-'));
    chmodSync(folder, 0o711);
    const db = await createTestDatabase();
    const names = new NameServer();
    await names.listen(OTHER_NAME_SERVER);
    const smtp = await startSmtpPeer();
    const homeserver = await startStandInHomeserver(SECRET);
    const provider = await startUpstreamPeer();
    const ports = {
      mail: await freePort(),
      chat: await freePort(),
      id: await freePort(),
      db: await freePort(),
      own: await freePort(),
    };
    const peers = [
      [ports.mail, smtp.port],
      [ports.chat, Number(new URL(homeserver.endpoint).port)],
      [ports.id, Number(new URL(provider.issuer).port)],
    ] as const;
    const issuer = `http://id.example.test:${ports.id}`;
    const endpoints = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'] as const;
    const paths = ['/authorize', '/token', '/userinfo', '/keys'];
    provider.metadata = {
      issuer,
      ...Object.fromEntries(endpoints.map((endpoint, index) => [endpoint, `${issuer}${paths[index]}`])),
    };
    const cables: NetworkLink[] = [];
    /** Moves the peers. The previous address goes silent and does not even close connections. */
    const moveTo = async (address: string): Promise<void> => {
      for (const cable of cables) cable.cut();
      for (const [port, peerPort] of peers) {
        const cable = new NetworkLink({ host: '127.0.0.1', port: peerPort }, { isDatabase: false });
        await cable.listen(port, address);
        cables.push(cable);
      }
    };
    const { host = '127.0.0.1', port = 5432, user, password, database } = parseConnectionUri(db.connectionString);
    const databaseCable = new NetworkLink({ host, port });
    await databaseCable.listen(ports.db);
    const account = [user, password].filter((part) => part !== undefined).map(encodeURIComponent);
    const base = `http://127.0.0.1:${ports.own}/`;
    const ample = { burst: 100_000, per_second: 1000 };
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      database: {
        uri: `postgresql://${account.join(':')}@db.internal:${ports.db}/${database}?sslmode=disable`,
        // Forces frequent lookups of its name.
        max_lifetime: '1s',
      },
      http: {
        public_base: base,
        listeners: [{ resources: ['human', 'compat', 'health'], binds: [{ address: `127.0.0.1:${ports.own}` }] }],
      },
      account: { password_recovery_enabled: true },
      email: {
        ...{ transport: 'smtp', hostname: 'mail.example.test', port: ports.mail, mode: 'plain' },
        ...{ from: 'noreply@example.org', security_notices: false },
      },
      homeserver: {
        ...{ kind: 'synapse', homeserver: homeserver.serverName, secret: SECRET },
        endpoint: `http://chat.example.test:${ports.chat}/`,
      },
      upstream_oauth2: {
        providers: [
          {
            ...{ id: PROVIDER_ID, issuer, discovery_mode: 'insecure', client_id: 'latchkey' },
            token_endpoint_auth_method: 'none',
          },
        ],
      },
      jobs: { poll_interval: '100ms' },
      passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
      rate_limiting: {
        login: { per_ip: ample, per_account: ample, per_known_browser: ample },
        account_recovery: { per_ip: ample, per_address: ample },
        upstream: { per_ip: ample },
      },
      logging: { level: 'error' },
    });
    const users = Array.from({ length: AT_ONCE }, (_, index) => `person-${index}`);
    for (const username of users) await insertTestAccount(db.database, { username, password: PASSWORD });
    const origin = { address: base.slice(0, -1) };
    const newBrowser = () => new Browser({ listener: origin.address, publicBase: base });
    const signIn = async (): Promise<number> => {
      const browser = newBrowser();
      await browser.open('/login');
      return (await browser.submit({ username: 'amira', password: PASSWORD })).status;
    };
    const signInChat = async (name: string) => (await new ChatClient(origin).tryLogin(name, PASSWORD)).status;
    const signInAtProvider = async (): Promise<number> => {
      const browser = newBrowser();
      const { location, status } = await browser.get(`/upstream/authorize/${PROVIDER_ID}`);
      if (location === undefined) return status;
      return (await browser.get(provider.signIn(location, { claims: { iss: issuer } }))).status;
    };
    const requestMail = async (): Promise<number> => {
      const browser = newBrowser();
      await browser.open('/recover');
      return (await browser.submit({ email: 'amira@mail.example' })).status;
    };
    const allWork = async (): Promise<void> => {
      const before = smtp.mails.length;
      expect(await requestMail()).toBe(303);
      await expect.poll(() => signInChat('amira'), HEALED).toBe(200);
      await expect.poll(signInAtProvider, HEALED).toBe(303);
      await expect.poll(() => smtp.mails.length - before, HEALED).toBeGreaterThan(0);
    };
    names.answer = FIRST;
    await moveTo(FIRST);
    const node = nodeWithFiles(folder, {
      '/etc/resolv.conf': `nameserver ${OTHER_NAME_SERVER}\n`,
      '/etc/hosts': HOSTS,
    });
    const service = await program.serve(base, { node, environment: { UV_THREADPOOL_SIZE: '4' } });
    try {
      const args = [
        'manage',
        'register-user',
        '--yes',
        '--email',
        'amira@mail.example',
        '--password-file',
        '-',
        'amira',
      ];
      await program.run(args, PASSWORD, { node });
      await allWork();

      await moveTo(SECOND);
      names.answer = SECOND;
      await allWork();

      for (const [failure, next] of [
        ['nxdomain', THIRD],
        ['servfail', FOURTH],
        ['silent', FIFTH],
      ] as const) {
        names.answer = failure;
        await moveTo(next);
        const waiting = users.map(signInChat);
        const refused = [signInAtProvider(), signInAtProvider()];
        expect(await requestMail(), failure).toBe(303);
        for (let count = 0; count < 5; count += 1) {
          const startedAt = performance.now();
          expect(await signIn(), failure).toBe(303);
          expect(performance.now() - startedAt, failure).toBeLessThan(PROMPT_MS);
        }
        expect(new Set(await Promise.all(waiting)), failure).toEqual(new Set([503]));
        expect(await Promise.all(refused), failure).toEqual([502, 502]);
        names.answer = next;
        await allWork();
      }
    } finally {
      await stopProcess(service);
      for (const cable of [...cables, databaseCable]) cable.close();
      names.close();
      await provider.stop();
      await homeserver.stop();
      await smtp.stop();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
