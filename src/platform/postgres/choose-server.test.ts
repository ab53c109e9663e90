import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { freePort } from '#test/support/free-port.js';
import { startPostgresServer, type TestServer, waitUntil } from '#test/support/postgres-server.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import type { OpenDatabase } from './database.ts';
import type { ServerAddress, SessionAttributes } from './database-options.ts';
import { openDatabase } from './open-database.ts';
import { type NoParameters, statement } from './statement.ts';

const where = statement<{ place: string }, NoParameters>('test.where', 'select name as place from place');
const move = statement<never, { readonly to: string }>('test.move', 'insert into moves values (:to::text)');
const count = statement<{ count: number }, NoParameters>('test.moves', 'select count(*)::integer as count from moves');

const servers: TestServer[] = [];
const silent = new Set<Socket>();
let silentServer: Server;
let silentAddress: ServerAddress;
let database: OpenDatabase | undefined;
let log: RecordingLog;

beforeAll(async () => {
  for (const name of ['one', 'two']) {
    const server = await startPostgresServer();
    servers.push(server);
    await administer(
      server.uri,
      `create table place (name text); insert into place values ('${name}'); create table moves (name text)`,
    );
  }
  silentServer = createServer((socket) => silent.add(socket.on('error', () => {}))).listen(
    await freePort(),
    '127.0.0.1',
  );
  const bound = silentServer.address();
  silentAddress = { host: '127.0.0.1', port: typeof bound === 'object' && bound !== null ? bound.port : 0 };
});

afterEach(async () => {
  await database?.close();
  database = undefined;
  for (const server of servers) await takeWrites(server, true);
});

afterAll(async () => {
  for (const socket of silent) socket.destroy();
  silentServer.close();
  for (const server of servers) await server.remove();
});

function addressOf(index: number): ServerAddress {
  const { host, port } = parseConnectionUri(servers[index]?.uri ?? '');
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}

async function open(
  addresses: readonly ServerAddress[],
  sessionAttributes: SessionAttributes = 'read-write',
): Promise<OpenDatabase> {
  const [first, ...otherServers] = addresses;
  log = new RecordingLog();
  database = await openDatabase({
    connection: { ...parseConnectionUri(servers[0]?.uri ?? ''), ...first, otherServers, sessionAttributes },
    log,
    clock: systemClock,
    statementTimeoutSeconds: 0.2,
    connectTimeoutSeconds: 1,
  });
  return database;
}

/** Simulates a demotion, or a promotion. */
async function takeWrites(server: TestServer | undefined, isOn: boolean): Promise<void> {
  const uri = server?.uri ?? '';
  await administer(uri, `alter system set default_transaction_read_only = ${isOn ? 'off' : 'on'}`);
  await administer(uri, 'select pg_reload_conf()');
  await waitUntil(async () => {
    const [row] = await administer<{ is_off: boolean }>(
      uri,
      `select not current_setting('default_transaction_read_only')::boolean as is_off`,
    );
    return row?.is_off === isOn;
  }, 'the server to read its settings');
}

const lines = () => log.lines.filter(({ event }) => event === 'db.server').map(({ message }) => message);

describe('multiple servers in one connection URL', () => {
  test('uses the first writable one and logs which', async () => {
    await takeWrites(servers[0], false);
    const opened = await open([addressOf(0), addressOf(1)]);
    expect(await opened.first(where, {})).toEqual({ place: 'two' });
    expect(lines()).toEqual([`connected to database server ${addressOf(1).host}`]);
  });

  test('any: keeps a server that became read-only for reads', async () => {
    const opened = await open([addressOf(0), addressOf(1)], 'any');
    await takeWrites(servers[0], false);
    await expect(opened.execute(move, { to: 'nowhere' })).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    expect(await opened.first(where, {})).toEqual({ place: 'one' });
  });

  test('replaces a lost server by the next without a restart', async () => {
    const opened = await open([addressOf(0), addressOf(1)]);
    expect(await opened.first(where, {})).toEqual({ place: 'one' });
    await servers[0]?.kill();
    await waitUntil(
      async () => (await opened.first(where, {}).catch(() => undefined))?.place === 'two',
      'an answer of the other server',
    );
    await opened.transaction((transaction) => transaction.execute(move, { to: 'two' }));
    await servers[0]?.start();
    const isBack = () => administer(servers[0]?.uri ?? '', 'select').then(...[true, false].map((is) => () => is));
    await waitUntil(isBack, 'the server to be back');
  });

  test('a server that accepts connections and does not respond delays the start by half a second', async () => {
    const startedAt = performance.now();
    const opened = await open([silentAddress, addressOf(1)]);
    expect(await opened.first(where, {})).toEqual({ place: 'two' });
    // A connection attempt to a silent server times out after three seconds.
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  test('leaves a demoted server immediately: a statement and a repeatable transaction run on the other one', async () => {
    const opened = await open([addressOf(0), addressOf(1)]);
    await Promise.all(Array.from({ length: 20 }, () => opened.first(where, {})));
    await opened.transaction((transaction) => transaction.first(where, {}));
    await takeWrites(servers[0], false);
    const before = performance.now();
    // Connections younger than a second are kept, because a new one would be no better.
    await waitUntil(() => performance.now() - before > 1_000, 'the connections to be older than a second');
    await opened.execute(move, { to: 'two' });
    expect(await opened.first(where, {})).toEqual({ place: 'two' });
    await opened.transaction((transaction) => transaction.execute(move, { to: 'two' }), { isRepeatable: true });
    const moves = await Promise.all(
      servers.map((server) => administer(server.uri, `select from moves where name = 'two'`)),
    );
    expect(moves[0]).toHaveLength(0);
    expect(moves[1]?.length).toBeGreaterThanOrEqual(2);
  });

  test('gives up a silent server once for all its connections', async () => {
    const opened = await open([addressOf(0), addressOf(1)]);
    await Promise.all(Array.from({ length: 40 }, () => opened.first(count, {})));
    servers[0]?.freeze();
    try {
      const failing = opened.execute(move, { to: 'nowhere' });
      await expect(failing).rejects.toMatchObject({ code: 'temporarily_unavailable' });
      const responses = await Promise.all(Array.from({ length: 20 }, () => opened.first(where, {})));
      expect(new Set(responses.map((response) => response?.place))).toEqual(new Set(['two']));
    } finally {
      servers[0]?.thaw();
    }
  });

  test('reports the reason for each server when none is suitable', async () => {
    await takeWrites(servers[1], false);
    await expect(open([{ host: '127.0.0.1', port: 1 }, addressOf(1)])).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(
        /127\.0\.0\.1:1 or .*127\.0\.0\.1:1: .*ECONNREFUSED.*; .*: the server is read-only/,
      ),
    });
  });
});
