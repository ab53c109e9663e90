import { appendFileSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { uriConnection } from '#config/uri-connection.ts';
import { administer } from '#test/support/administer.ts';
import { startPostgresServer, waitUntil } from '#test/support/postgres-server.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { selfSigned } from '#test/support/self-signed.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { connect, connectWithRetries } from './connect.ts';

const ACCESS = `
local all tests trust
hostssl auth,missing by_scram all scram-sha-256
hostssl auth by_md5 all password
hostssl auth by_trust all trust
`;

/** A unique loopback address, because all test servers use the same port. */
const ADDRESS = `127.${process.pid % 250}.${(process.pid >> 8) % 250}.7`;
let certificate: string;

/** Starts a server that accepts only TLS, as hosting providers do. */
const server = await sharedByTests(startPostgresServer({ listen_addresses: ADDRESS }));

beforeAll(async () => {
  const [found] = await administer<{ hba: string }>(server.uri, `select current_setting('hba_file') as hba`);
  const hba = found?.hba ?? expect.fail('a server has the file');
  const { uid, gid } = statSync(hba);
  const pair = selfSigned(['localhost']);
  certificate = join(dirname(hba), 'server.crt');
  for (const [name, text] of [
    ['server.crt', pair.cert],
    ['server.key', pair.key],
  ] as const) {
    writeFileSync(join(dirname(hba), name), text, { mode: 0o600 });
    chownSync(join(dirname(hba), name), uid, gid);
  }
  writeFileSync(hba, ACCESS);
  appendFileSync(join(dirname(hba), 'postgresql.auto.conf'), 'ssl = on\n');
  for (const role of ['by_scram', 'by_md5', 'by_trust'])
    await administer(server.uri, `create role ${role} login password 'p%ss/w#rd'`);
  await administer(server.uri, 'create database auth');
  await administer(server.uri, 'select pg_reload_conf()');
  await waitUntil(async () => (await administer<{ ssl: string }>(server.uri, 'show ssl'))[0]?.ssl === 'on', 'TLS');
});

const PASSWORD = 'p%25ss%2Fw%23rd';

function target(login: string, query: string, database = 'auth') {
  const uri = `postgres://${login}@${ADDRESS}:${server.port}/${database}?${query}`;
  return uriConnection(uri, '--to', {}, (path) => readFileSync(path, 'utf8'));
}

/** Connects with the URI's settings. @returns the session as the server sees it */
async function session(login: string, query: string) {
  const client = await connect({ connection: target(login, query), applicationName: 'latchkey:1' });
  try {
    const { rows } = await client.query<{ name: string; path: string; ssl: boolean; version: string }>(
      `select current_setting('application_name') as name, current_setting('search_path') as path, ssl, version
         from pg_stat_ssl where pid = pg_backend_pid()`,
    );
    return rows[0];
  } finally {
    await client.end();
  }
}

async function refusal(login: string, query: string, database?: string): Promise<string> {
  const connection = target(login, query, database);
  const opening = connectWithRetries({ connection, applicationName: 'latchkey:1' }, 0, new RecordingLog());
  const error: unknown = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const message = error instanceof Error ? error.message : expect.fail('it was let in');
  expect(message).not.toContain('w#rd');
  return message;
}

describe('a connection URL as provided by hosting services', () => {
  test('channel_binding=require: binds the password to this certificate (SCRAM-SHA-256-PLUS)', async () => {
    expect(await session(`by_scram:${PASSWORD}`, 'sslmode=require&channel_binding=require')).toMatchObject({
      ssl: true,
    });
  });

  test.each([
    ['by_scram', 'sslmode=disable', 'requires TLS: set sslmode=require or stricter'],
    ['by_md5', 'sslmode=require', 'the server requests a password without SCRAM'],
    ['by_trust', 'sslmode=require', 'the server does not request a password'],
  ])('channel_binding=require rejects %s with %s and reports the reason', async (role, query, reason) => {
    expect(await refusal(`${role}:${PASSWORD}`, `${query}&channel_binding=require`)).toContain(
      `channel_binding=require${reason.startsWith('requires') ? ' ' : ': '}${reason}`,
    );
  });

  test('applies sslrootcert, options, application_name, connect_timeout and ssl_min_protocol_version', async () => {
    const query = `sslmode=verify-ca&sslrootcert=${certificate}&options=-c%20search_path%3Dpublic&application_name=auth`;
    const found = await session(`by_scram:${PASSWORD}`, `${query}&connect_timeout=10&ssl_min_protocol_version=TLSv1.3`);
    expect(found).toEqual({ name: 'auth latchkey:1', path: 'public', ssl: true, version: 'TLSv1.3' });
    const other = `sslmode=verify-full&sslrootcert=${certificate}`;
    expect(await refusal(`by_scram:${PASSWORD}`, other)).toContain(ADDRESS);
  });

  test('sslmode=no-verify encrypts', async () => {
    expect(await session(`by_scram:${PASSWORD}`, 'sslmode=no-verify')).toMatchObject({ ssl: true });
  });
});

describe('where only TLS is accepted, sslmode=prefer reports the TLS failure first and the unencrypted one second', () => {
  const WITHOUT = /; without TLS: no pg_hba\.conf entry .* no encryption \(28000\)\. /;

  test('a wrong password', async () => {
    const message = await refusal('by_scram:wrong', 'sslmode=prefer');
    expect(message).toContain('with TLS: password authentication failed for user "by_scram" (28P01)');
    expect(message).toMatch(WITHOUT);
    expect(message).toContain('Check user, password and pg_hba.conf');
  });

  test('a missing password, reported with the setting to set', async () => {
    const message = await refusal('by_scram', 'sslmode=prefer');
    expect(message).toContain('with TLS: the server requests a password, but none is configured; without TLS: ');
    expect(message).toContain('Set database.password or database.password_file');
  });

  test('a nonexistent database', async () => {
    const message = await refusal(`by_scram:${PASSWORD}`, 'sslmode=prefer', 'missing');
    expect(message).toContain('with TLS: database "missing" does not exist (3D000)');
    expect(message).toMatch(WITHOUT);
  });

  test('a server that requests the password in clear text, and none is set', async () => {
    expect(await refusal('by_md5', 'sslmode=require')).toContain(
      'the server requests a password, but none is configured. Set',
    );
  });
});
