import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Finding } from '#domain/health/finding.ts';
import { fromUuid, newId, parseId, toUuid } from '#platform/base/ids.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { freePort } from '#test/support/free-port.js';
import { type ScriptedSmtp, startScriptedSmtp } from '#test/support/scripted-smtp.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { testSigningKeys } from '#test/support/signing-keys.ts';
import { startUpstreamPeer, type UpstreamPeer } from '#test/support/upstream-peer.ts';
import { runCommand } from './run-command.test-support.ts';

const ENCRYPTION = 'cd'.repeat(32);
const SMTP_PASSWORD = 'hush-of-the-mail-server';
const PROVIDER = '01JD3Q5Z8W2N4K6M7P9R0S1TPR';

let directory: string;
let service: TestService;
let smtp: ScriptedSmtp;
let peer: UpstreamPeer;

beforeAll(async () => {
  process.setMaxListeners(50);
  directory = mkdtempSync(join(tmpdir(), 'latchkey-doctor-'));
  service = await startService();
  smtp = await startScriptedSmtp();
  peer = await startUpstreamPeer();
});

beforeEach(async () => {
  await sql(service.database, 'truncate queue_jobs, server_state');
  smtp.reactions = {};
  peer.metadata = {};
  peer.handlers.clear();
});

afterAll(async () => {
  await service.stop();
  await smtp.stop();
  await peer.stop();
  rmSync(directory, { recursive: true });
});

type Settings = Readonly<Record<string, unknown>>;

function settings(changes: Settings = {}): Settings {
  const keys = testSigningKeys().map(({ key }) => ({ key }));
  return {
    data_dir: join(directory, 'data'),
    database: { uri: service.connectionString, max_connections: 5 },
    http: { public_base: service.issuer, trusted_proxies: [] },
    secrets: { encryption: ENCRYPTION, keys },
    ...changes,
  };
}

async function run(changes: Settings = {}, mode = 0o600) {
  const file = join(directory, 'latchkey.yaml');
  rmSync(file, { force: true });
  writeFileSync(file, stringify(settings(changes)), { mode });
  const { exitCode, out, err } = await runCommand(['--json', 'doctor', '-c', file], { workingDirectory: directory });
  expect(err).toBe('');
  const findings: Finding[] = JSON.parse(out);
  for (const secret of [ENCRYPTION, SMTP_PASSWORD, 'PRIVATE KEY']) expect(out).not.toContain(secret);
  const fails = findings.some(({ status }) => status === 'fail');
  const warns = findings.some(({ status }) => status === 'warn');
  expect(exitCode).toBe(fails ? 10 : warns ? 11 : 0);
  return findings;
}

/** Returns the findings that are neither `ok` nor `skip`. */
async function problems(changes: Settings = {}, mode?: number): Promise<Finding[]> {
  return (await run(changes, mode)).filter(({ status }) => status === 'fail' || status === 'warn');
}

async function insertJob(queue: string, minutesOverdue: number, changes: { failed?: boolean } = {}): Promise<void> {
  await sql(
    service.database,
    `insert into queue_jobs (id, queue, payload, created_at, due_at, failed_at)
     values ($1::uuid, $2::text, '{}', now(), now() - $3::integer * interval '1 minute',
       case when $4::boolean then now() end)`,
    [toUuid(newId(Date.now())), queue, minutesOverdue, changes.failed === true],
  );
}

test('a healthy deployment: every check is ok or not applicable, and nothing is written anywhere', async () => {
  const findings = await run();
  expect(Object.fromEntries(findings.map(({ name, status }) => [name, status]))).toEqual({
    config: 'ok',
    'secrets.files': 'ok',
    'listener.resources': 'skip',
    database: 'ok',
    'secrets.encryption': 'ok',
    queue: 'ok',
    cleanup: 'ok',
    'passwords.schemes': 'ok',
    client_ip: 'skip',
    public_base: 'ok',
    issuer: 'ok',
    'listener.self': 'ok',
    'secrets.keys': 'ok',
    usernames: 'ok',
    access: 'ok',
    email: 'skip',
    homeserver: 'skip',
    instances: 'skip',
  });
  expect(readdirSync(directory)).toEqual(['latchkey.yaml']);
  expect(await sql(service.database, 'select key from server_state')).toEqual([]);
});

test('for humans: a line per check, the hint below it, and a last line with counts', async () => {
  const file = join(directory, 'latchkey.yaml');
  writeFileSync(file, stringify(settings({ http: { public_base: 'http://127.0.0.1:1' } })), { mode: 0o600 });
  const { exitCode, out } = await runCommand(['doctor', '-c', file], { workingDirectory: directory });
  expect(exitCode).toBe(10);
  const lines = out.trimEnd().split('\n');
  const at = lines.findIndex((line) => /^fail {2}listener\.self {2,}http:\/\/127\.0\.0\.1:1\/health: /.test(line));
  expect(lines[at + 1]).toMatch(/^ {8,}Check the logs/);
  expect(lines.at(-1)).toMatch(/^\d+ ok, 0 warn, 2 fail, \d+ skip$/);
});

describe('settings', () => {
  test('that are invalid: each with its position, and nothing else is checked', async () => {
    const findings = await run({ passwords: { schemas: [] }, homeserver: { kind: 'synapse' } });
    expect(findings.map(({ name, status }) => [name, status])).toEqual([
      ['config', 'fail'],
      ['config', 'fail'],
    ]);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('passwords.schemas: unknown key; did you mean "passwords.schemes"?'),
      expect.stringContaining('homeserver.secret: missing; the kind "synapse" needs it'),
    ]);
  });

  test('connection-info on a listener for pages is a warning, on its own listener it is not', async () => {
    const human = { name: 'web', resources: ['human', 'connection-info'], binds: [{ port: 0 }] };
    const own = { name: 'setup', resources: ['connection-info'], binds: [{ port: 0 }] };
    const findings = async (...listeners: object[]) =>
      (await run({ http: { public_base: service.issuer, trusted_proxies: [], listeners } })).filter(
        ({ name }) => name === 'listener.resources',
      );
    expect(await findings(human, own)).toMatchObject([
      { status: 'warn', message: 'web: serves both "connection-info" and "human"' },
    ]);
    expect(await findings({ ...human, resources: ['human'] }, own)).toMatchObject([{ status: 'ok' }]);
  });

  test('that are allowed and still deserve a warning', async () => {
    const homeserver = { kind: 'none', secret: 'short' };
    expect(await problems({ homeserver })).toMatchObject([
      { name: 'config', status: 'warn', message: 'homeserver.secret: at least 16 characters are recommended' },
    ]);
  });

  test('that every system user can read', async () => {
    expect(await problems({}, 0o644)).toMatchObject([
      { name: 'secrets.files', status: 'warn', message: expect.stringContaining('every system user can read it') },
    ]);
  });
});

describe('the database', () => {
  test('that does not respond: checks of its content are skipped', async () => {
    const uri = `postgres://latchkey@127.0.0.1:${await freePort()}/latchkey`;
    const findings = await run({ database: { uri } });
    expect(findings.filter(({ name }) => name === 'database')).toMatchObject([
      { status: 'fail', message: expect.stringContaining('cannot connect to database latchkey on 127.0.0.1') },
    ]);
    expect(findings.map(({ name }) => name)).not.toContain('queue');
  });

  test('without tables: migrations are pending', async () => {
    const empty = await createEmptyDatabase();
    try {
      const found = await problems({ database: { uri: empty.connectionString } });
      expect(found).toMatchObject([
        { name: 'database', status: 'warn', hint: expect.stringContaining('database migrate') },
      ]);
      expect(found[0]?.message).toContain('0001-baseline');
    } finally {
      await empty.drop();
    }
  });

  test('with fewer connections than its processes may use', async () => {
    const database = { uri: service.connectionString, max_connections: 1000 };
    expect(await problems({ database })).toMatchObject([
      { name: 'database', status: 'warn', message: expect.stringContaining('may open 1000 connections') },
    ]);
  });

  test('created with another root key', async () => {
    await sql(
      service.database,
      `insert into server_state values ('encryption-key-check', decode(repeat('00', 32), 'hex'))`,
    );
    expect(await problems()).toMatchObject([
      { name: 'secrets.encryption', status: 'fail', message: expect.stringContaining('Restore the previous key') },
    ]);
  });

  test('with usernames that look like IDs, from before they were rejected', async () => {
    const username = '01m8fnp7n8wtbq5ypd2n1p034g';
    await insertTestAccount(service.database, { username });
    const found = await problems();
    await sql(service.database, 'delete from users where username = $1::text', [username]);
    expect(found).toMatchObject([{ name: 'usernames', status: 'warn', message: expect.stringContaining(username) }]);
  });

  test('with a client that is limited to a group without members', async () => {
    const [client] = await sql<{ id: string }>(
      service.database,
      `update oauth2_clients set allowed_groups = array[gen_random_uuid()]
        where id = (select min(id::text)::uuid from oauth2_clients) returning id`,
    );
    const found = await problems();
    await sql(service.database, 'update oauth2_clients set allowed_groups = null');
    expect(found).toMatchObject([
      { name: 'access', status: 'warn', message: expect.stringContaining(fromUuid(client?.id ?? '')) },
    ]);
  });

  test('with passwords that no configured scheme can verify', async () => {
    await service.registerUser('samira', 'correct horse battery staple');
    await sql(service.database, 'update user_passwords set scheme_version = 7');
    const found = await problems();
    await sql(service.database, 'truncate user_passwords');
    expect(found).toMatchObject([
      { name: 'passwords.schemes', status: 'fail', message: expect.stringContaining('version 7') },
    ]);
  });
});

describe('background jobs', () => {
  test.each([
    [1, []],
    [3, ['fail']],
  ])('that has been due for %i minutes: %j', async (minutes, expected) => {
    await insertJob('send-security-notice', minutes);
    const found = await problems();
    expect(found.map(({ status }) => status)).toEqual(expected);
    for (const { name, message } of found) {
      expect(name).toBe('queue');
      expect(message).toContain(`1 job is due, the oldest for ${minutes} minutes`);
    }
  });

  test('that a live process can pick up are slow, not abandoned, and differing configurations are named', async () => {
    const live = (name: string, digest: string) =>
      sql(
        service.database,
        `insert into queue_workers values (gen_random_uuid(), $1, '1', true, sha256($2::bytea), now(), now())`,
        [name, digest],
      );
    await insertJob('send-security-notice', 16);
    await live('one:1', 'a');
    expect(await problems()).toMatchObject([{ name: 'queue', status: 'warn' }]);
    await live('two:2', 'b');
    expect(await problems()).toMatchObject([
      { name: 'instances', status: 'warn', message: expect.stringContaining('one:1, two:2') },
      { name: 'queue' },
    ]);
    await sql(service.database, 'delete from queue_workers');
  });

  test('that a process is running are slow, not abandoned', async () => {
    await insertJob('send-security-notice', 16);
    await insertJob('provision-user', 0);
    await sql(
      service.database,
      `update queue_jobs set worker = id, due_at = now() + interval '50 seconds' where queue = 'provision-user'`,
    );
    expect(await problems()).toMatchObject([{ name: 'queue', status: 'warn' }]);
  });

  test('that failed permanently', async () => {
    await insertJob('send-security-notice', 0, { failed: true });
    expect(await problems()).toMatchObject([{ name: 'queue', status: 'warn', message: '1 job is dead' }]);
  });

  test('that clean up and have not run for a day', async () => {
    await insertJob('cleanup-queue-jobs', 25 * 60);
    expect(await problems()).toMatchObject([
      { name: 'queue', status: 'fail' },
      { name: 'cleanup', status: 'warn', message: 'overdue for more than a day: cleanup-queue-jobs' },
    ]);
  });
});

describe('addresses', () => {
  test('without https, also on other machines', async () => {
    const found = await problems({ http: { public_base: `http://0.0.0.0:${await freePort()}` } });
    expect(found.map(({ name, status }) => [name, status])).toEqual([
      ['public_base', 'warn'],
      ['issuer', 'fail'],
      ['listener.self', 'fail'],
    ]);
  });

  /** Runs another server in place of the service. */
  async function instead(response: RequestListener): Promise<Finding[]> {
    const port = await freePort();
    const server = createServer(response);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    try {
      return await problems({ http: { public_base: `http://127.0.0.1:${port}`, trusted_proxies: [] } });
    } finally {
      server.close();
    }
  }

  test('where another service responds', async () => {
    const found = await instead((request, response) => {
      if (request.url === '/.well-known/openid-configuration') response.end('{"issuer":"https://else.example"}');
      else if (request.url === '/oauth2/keys.json') response.end('{"keys":[{"kid":"other"}]}');
      else response.writeHead(503).end();
    });
    expect(found.map(({ name, status, message }) => [name, status, message])).toEqual([
      ['issuer', 'fail', expect.stringContaining('returns an issuer other than')],
      ['listener.self', 'fail', expect.stringContaining('responds 503')],
      ['secrets.keys', 'fail', expect.stringContaining('lacks configured keys')],
    ]);
  });

  test('of a host with a wrong clock', async () => {
    const found = await instead((request, response) => {
      response.setHeader('date', new Date(Date.now() - 90_000).toUTCString());
      response.end(request.url === '/health' ? 'ok' : '{}');
    });
    expect(found.find(({ name }) => name === 'listener.self')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/differs from the clock of this machine by (8|9)\d seconds/),
    });
  });

  test('that users seem to share, because a proxy does not forward the client address', async () => {
    const userId = await service.registerUser('joao', 'correct horse battery staple');
    for (let count = 0; count < 5; count += 1) {
      await sql(
        service.database,
        `insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, last_active_ip)
         values ($1::uuid, $2::uuid, '\\x00', now(), now(), '10.1.2.3')`,
        [toUuid(newId(Date.now())), toUuid(parseId(userId) ?? expect.fail('no id'))],
      );
    }
    const http = { public_base: 'https://127.0.0.1:1', trusted_proxies: ['10.0.0.0/8'] };
    const shared = (await run({ http })).find(({ name }) => name === 'client_ip');
    expect(shared).toMatchObject({ status: 'warn', message: expect.stringContaining('all come from 10.1.2.3') });
    await sql(
      service.database,
      `update user_sessions set last_active_ip = '203.0.113.9' where id = (select id from user_sessions limit 1)`,
    );
    const told = (await run({ http })).find(({ name }) => name === 'client_ip');
    expect(told).toMatchObject({ status: 'ok', message: 'users come from 2 addresses' });
  });
});

test('a reverse proxy that is not trusted: its address, and the configuration line to trust it', async () => {
  await sql(
    service.database,
    `insert into queue_workers (id, name, version, works, config_digest, started_at, last_seen_at, untrusted_proxies)
     values (gen_random_uuid(), 'm:1', '1', false, '\\x00', now(), now(), array['172.18.0.3'])`,
  );
  try {
    const finding = async (trusted: string[]) =>
      (await run({ http: { public_base: service.issuer, trusted_proxies: trusted } })).find(
        ({ name }) => name === 'client_ip',
      );
    expect(await finding(['127.0.0.0/8', '::1/128'])).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('172.18.0.3 sends x-forwarded-for but is not in http.trusted_proxies'),
      hint: expect.stringContaining('trusted_proxies: [127.0.0.0/8, "::1/128", 172.18.0.3]'),
    });
    expect(await finding(['private'])).toMatchObject({ status: 'skip' });
  } finally {
    await sql(service.database, 'delete from queue_workers');
  }
});

describe('emails', () => {
  const email = () => ({
    transport: 'smtp',
    ...{ hostname: '127.0.0.1', port: smtp.port, mode: 'plain', username: 'latchkey', password: SMTP_PASSWORD },
    from: 'latchkey@example.org',
  });

  test('that can be sent', async () => {
    expect((await run({ email: email() })).find(({ name }) => name === 'email')).toMatchObject({ status: 'ok' });
    expect(smtp.mails).toEqual([]);
  });

  test('that the server rejects', async () => {
    smtp.reactions = { greeting: 554 };
    expect(await problems({ email: email() })).toMatchObject([
      { name: 'email', status: 'fail', message: expect.stringContaining('responded 554') },
    ]);
  });

  test('that are required, and not sent', async () => {
    const found = await problems({ account: { password_recovery_enabled: true } });
    expect(found.map(({ name, status }) => [name, status])).toEqual([
      ['config', 'warn'],
      ['email', 'warn'],
    ]);
  });
});

describe('sign-in providers', () => {
  const upstream_oauth2 = () => ({
    providers: [
      {
        id: PROVIDER,
        issuer: peer.issuer,
        human_name: 'Harbour',
        client_id: 'latchkey',
        token_endpoint_auth_method: 'none',
        scope: 'openid',
      },
    ],
  });

  test('that are reachable', async () => {
    const findings = await run({ upstream_oauth2: upstream_oauth2() });
    expect(findings.find(({ name }) => name === `upstream.${PROVIDER}`)).toMatchObject({ status: 'ok' });
  });

  test.each<[string, () => void, string]>([
    [
      'call themselves something else',
      () => Object.assign(peer, { metadata: { issuer: 'https://else.example' } }),
      'issuer does not match',
    ],
    [
      'have no keys',
      () => peer.handlers.set('/keys', (_request, response) => response.end('{"keys":[]}')),
      'no keys at',
    ],
    [
      'do not answer',
      () => peer.handlers.set('/.well-known/openid-configuration', (_request, response) => response.destroy()),
      'no connection',
    ],
    [
      'answer an error',
      () =>
        peer.handlers.set('/.well-known/openid-configuration', (_request, response) => response.writeHead(500).end()),
      'responds 500',
    ],
  ])('that %s', async (_, provoke, message) => {
    provoke();
    expect(await problems({ upstream_oauth2: upstream_oauth2() })).toMatchObject([
      { name: `upstream.${PROVIDER}`, status: 'fail', message: expect.stringContaining(message) },
    ]);
  });
});

describe('of listeners', () => {
  const listener = (name: string, pair: { readonly cert: string; readonly key: string }) => ({
    ...{ name, resources: ['human', 'health'], binds: [{ port: 0 }] },
    tls: { certificate: pair.cert, key: pair.key },
  });
  const inDays = (days: number): string =>
    `${new Date(Date.now() + days * 86_400_000).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;

  test('fail when expired, and warn two weeks before or when they are for another host', async () => {
    const { hostname } = new URL(service.issuer);
    const listeners = [
      listener('good', selfSigned([hostname])),
      listener('expired', selfSigned([hostname], { to: inDays(-1) })),
      listener('early', selfSigned([hostname], { from: inDays(1) })),
      listener('soon', selfSigned([hostname], { to: inDays(13.5) })),
      listener('other', selfSigned(['elsewhere.example'])),
    ];
    const findings = await run({ http: { public_base: service.issuer, trusted_proxies: [], listeners } });
    const found = findings.filter(({ name }) => name.startsWith('tls.'));
    expect(found).toMatchObject([
      { name: 'tls.good', status: 'ok', hint: null },
      { name: 'tls.expired', status: 'fail', message: expect.stringContaining('expired on') },
      { name: 'tls.early', status: 'fail', message: expect.stringContaining('is not valid before') },
      { name: 'tls.soon', status: 'warn', message: expect.stringContaining('expires in 13 days') },
      {
        name: 'tls.other',
        status: 'warn',
        message: `the certificate is not valid for ${hostname}, the host of http.public_base`,
      },
    ]);
  });
});
