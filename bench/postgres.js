/** A separate PostgreSQL server for the benchmark, with durability on, removed afterwards. */
import pg from 'pg';
import {
  findInstalledPrograms,
  postgresAccount,
  startPostgres as startServer,
} from '../test/support/start-postgres.js';

const USER = 'bench';
const DATABASE = 'latchkey';

/** Settings for durability and size; all others are defaults. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  max_connections: '100',
};

/** @param folder empty folder for the server's files */
export async function startPostgres(folder) {
  const server = await startServer({
    folder,
    programs: findInstalledPrograms(),
    account: postgresAccount(),
    user: USER,
    settings: SETTINGS,
    isDurable: true,
  });
  const { host, port } = server;
  const connection = { host, port, user: USER, database: DATABASE };
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database ${DATABASE}`);
  const { rows } = await admin.query('show server_version');
  await admin.end();
  return {
    pid: server.pid(),
    version: rows[0].server_version,
    settings: SETTINGS,
    connection,
    /** In the format of Latchkey's section `database`. */
    asConfiguration: { socket: host, port, username: USER, database: DATABASE },
    connect: async () => {
      const client = new pg.Client(connection);
      await client.connect();
      return client;
    },
    stop: async () => {
      await server.stop();
      await server.remove();
    },
  };
}
