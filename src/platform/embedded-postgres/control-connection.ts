/** The superuser connection that each process keeps to the server. */
import pg from 'pg';
import { isErrno } from '#platform/base/system-errors.ts';
import { ADMINISTRATOR, SERVICE_DATABASE, SERVICE_ROLE } from './cluster.ts';

export const PORT = 5432;
const CONNECT_TIMEOUT_MS = 5_000;
const USER_PREFIX = 'latchkey:';

/**
 * SQLSTATEs of a server that is starting, recovering or shutting down (57P03), or was just asked to shut down (57P01).
 */
const IN_TRANSITION = new Set(['57P03', '57P01']);
/** duplicate_database, duplicate_object, unique_violation */
const ALREADY_THERE: ReadonlySet<string> = new Set(['42P04', '42710', '23505']);

/**
 * The connection that every process keeps open while it uses the server. It makes the process visible to the others,
 * and the process notices immediately when the server stops.
 */
export interface ControlConnection {
  /** Lists the process ids of the other such connections. Includes the id of this process once per additional use. */
  listOthers(): Promise<number[]>;
  /** Creates the service's role and database if they do not exist. */
  createServiceDatabase(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Tries to connect. `transition`: a server is starting, recovering or stopping; `absent`: no server responds.
 * @param onLost called once if the connection ends without a call to `close`
 */
export async function connectControl(
  socketDirectory: string,
  onLost: () => void,
): Promise<ControlConnection | 'transition' | 'absent'> {
  const client = new pg.Client({
    host: socketDirectory,
    port: PORT,
    user: ADMINISTRATOR,
    database: 'postgres',
    application_name: `${USER_PREFIX}${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Set explicitly so that PGSSLMODE and PGOPTIONS, which are meant for another server, do not apply.
    ssl: false,
    options: '-c statement_timeout=0',
  });
  let isOpen = false;
  client.on('error', () => {});
  client.once('end', () => {
    if (isOpen) onLost();
  });
  try {
    await client.connect();
  } catch (error) {
    return stateOfServer(error);
  }
  isOpen = true;
  return {
    listOthers: async () => {
      const { rows } = await client.query<{ name: string }>(
        `select application_name as name from pg_stat_activity
         where usename = $1 and starts_with(application_name, $2) and pid <> pg_backend_pid()`,
        [ADMINISTRATOR, USER_PREFIX],
      );
      return rows.map(({ name }) => Number(name.slice(USER_PREFIX.length)));
    },
    createServiceDatabase: () => createServiceDatabase(client),
    close: async () => {
      isOpen = false;
      await client.end();
    },
  };
}

function stateOfServer(error: unknown): 'transition' | 'absent' {
  if (error instanceof pg.DatabaseError && error.code !== undefined && IN_TRANSITION.has(error.code)) {
    return 'transition';
  }
  if (error instanceof pg.DatabaseError || isErrno(error, 'EACCES', 'EPERM')) throw error;
  return 'absent';
}

/** Can be repeated, since a start that was killed may have done only part of it. */
async function createServiceDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
            exists (select from pg_database where datname = $2) as database`,
    [SERVICE_ROLE, SERVICE_DATABASE],
  );
  if (rows[0]?.role !== true) await createUnlessThere(client, `role ${SERVICE_ROLE} login`);
  if (rows[0]?.database !== true) {
    await createUnlessThere(client, `database ${SERVICE_DATABASE} owner ${SERVICE_ROLE} template template0`);
  }
}

/** The server may just have completed the same statement for a process that was killed. */
async function createUnlessThere(client: pg.Client, what: string): Promise<void> {
  try {
    await client.query(`create ${what}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && ALREADY_THERE.has(error.code ?? ''))) throw error;
  }
}
