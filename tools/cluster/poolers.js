/** PgBouncer in transaction mode in front of each server, with fewer server connections than clients. */
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/free-port.js';
import { until } from './processes.js';

const SERVER_CONNECTIONS = 5;

/** @returns `{ port, process }` of each, in server order */
export async function startPoolers(cluster, { pgbouncer }) {
  const poolers = [];
  for (const node of cluster.nodes) {
    const port = await freePort();
    const { username, password } = new URL(cluster.uri([node.port]));
    const settings = [
      '[databases]',
      `latchkey = host=127.0.0.1 port=${node.port} dbname=latchkey user=${username} password=${password}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['pool_mode = transaction', `default_pool_size = ${SERVER_CONNECTIONS}`, 'max_client_conn = 200'],
      // Clients waiting for a dead server get an error, and try another PgBouncer.
      'query_wait_timeout = 3',
      ...['auth_type = plain', 'auth_file = users', 'server_login_retry = 1'],
    ].join('\n');
    const process = cluster.startNext(`pooler-${node.name}`, (folder) => [pgbouncer, join(folder, 'pgbouncer.ini')], {
      'pgbouncer.ini': `${settings}\n`,
      users: `"${username}" "${password}"\n`,
    });
    poolers.push({ port, process });
    await until(() => answers(cluster.uri([port])), `the PgBouncer of ${node.name}`);
  }
  return poolers;
}

async function answers(uri) {
  const client = new pg.Client({ connectionString: uri.split('?', 1)[0] });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
