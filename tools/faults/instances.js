/** Instances on one PostgreSQL server, for faults under load. */
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/free-port.js';
import { killProcess, Program, stopProcess, untilHealthy } from '../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../test/support/start-postgres.js';
import { say } from '../browser/checks.js';
import { instanceSettings } from '../cluster/instance-settings.js';
import { PASSWORD, USERNAME } from '../cluster/load.js';
import { fillRows } from '../upgrade/rows.js';
import { checkInvariants } from './invariants.js';
import { Mailboxes } from './load/mailboxes.js';
import { openToLoad } from './load/settings.js';
import { StandingLoad } from './standing-load.js';

export const DATABASE_USER = 'faults';
/** Each generated account has its registration event. */
const EVENTS = `
  insert into audit_events (id, kind, user_id, created_at)
  select md5('event' || u.id)::uuid, 'registered', u.id, now() from users u where u.username like 'person-%'`;
/** Short runs take seconds, during which every one of a few users must complete some steps. */
const isShort = process.argv.includes('--short');
const USERS = isShort ? 10 : 50;
const PAUSE_MS = isShort ? 300 : 1_000;

/**
 * Starts a server with durability enabled.
 * @param settings of postgresql.conf
 * @param environment variables of its processes
 */
export function startDatabase(folder, settings = {}, environment = {}) {
  return startPostgres({
    environment,
    ...{ folder: join(folder, 'postgres'), programs: findInstalledPrograms(), account: postgresAccount() },
    ...{ user: DATABASE_USER, settings: { max_connections: '100', ...settings }, isDurable: true },
  });
}

/** Returns the section `database` for a server from `startDatabase`. */
export function databaseSettings({ host, port }) {
  return { socket: host, port, username: DATABASE_USER, database: 'postgres' };
}

export class Instances {
  /** URLs of the instances that the simulated load balancer uses. */
  bases = [];
  all = [];
  /** Public URL shared by all instances. */
  #publicBase;
  /** Mail server of all instances, started with the first instance. */
  mailboxes;
  /** Options of `pg.Client` for the database of the first instance. */
  #connection;
  /** Range of transactions that filled the database. */
  #filling;
  #folder;

  /** @param folder for configuration files */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Adds an instance and starts it.
   * @param database settings of the section
   * @param change modifies the settings
   * @param dataDir default: a new one
   * @param reached the section for this process, if it reaches the database in another way
   * @param options of `Program.launch`
   * @returns `{ base, port, dataDir, program, service, log, options }`
   */
  async add(database, { change = (settings) => settings, dataDir: given, reached = database, ...options } = {}) {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}/`;
    this.#publicBase ??= base;
    this.mailboxes ??= await Mailboxes.listen();
    const dataDir = given ?? join(this.#folder, `data-${port}`);
    this.#connection ??= connectionTo(reached, dataDir);
    const settings = instanceSettings({ dataDir, database, port, level: 'warn' });
    const all = openToLoad(settings, { publicBase: this.#publicBase, email: this.mailboxes.settings });
    const program = new Program(this.#folder, change(all), { name: `instance-${port}.json` });
    const instance = { base, port, dataDir, program, service: undefined, log: '', options };
    this.all.push(instance);
    await this.start(instance);
    return instance;
  }

  /** Kills an instance like a crash. It gets no requests until it is restarted. */
  async kill(instance) {
    await killProcess(instance.service);
    this.leave(instance);
  }

  async start(instance) {
    instance.service = instance.program.launch(['serve'], { stdio: ['ignore', 'ignore', 'pipe'], ...instance.options });
    instance.service.stderr?.setEncoding('utf8').on('data', (text) => {
      instance.log += text;
    });
    await untilHealthy(instance.service, instance.base, { output: () => instance.log.slice(-4_000) });
    this.bases.push(instance.base);
  }

  /** Adds an instance to the load balancer. */
  join(instance) {
    this.bases.push(instance.base);
  }

  /** Removes an instance from the load balancer. */
  leave(instance) {
    const index = this.bases.indexOf(instance.base);
    if (index >= 0) this.bases.splice(index, 1);
  }

  /**
   * Creates the account of `load.signIn`, and the load.
   * @param users number of concurrent users
   * @param pauseMs maximum pause between two steps of a user
   */
  async load({ users = USERS, pauseMs = PAUSE_MS } = {}) {
    const [{ program, options }] = this.all;
    const args = ['manage', 'register-user', '--yes', '--password-file', '-', USERNAME];
    await program.run(args, PASSWORD, { node: options.node });
    const load = new StandingLoad({
      ...{ bases: this.bases, publicBase: this.#publicBase, mailboxes: this.mailboxes },
      ...{ users, pauseMs },
      check: async (known) => [
        ...(await checkInvariants(this.#connection, { ...known, filling: this.#filling })),
        // No tokens are stolen here, so every detected reuse has wrongly signed a client out.
        ...this.all.flatMap(({ log }) => log.split('\n').filter((line) => line.includes(' token.reuse '))),
      ],
    });
    await load.prepare();
    return load;
  }

  /**
   * Fills the database of the first instance.
   * @param counts rows of each table
   * @param options of `fillRows`
   */
  async fill(counts, options) {
    this.#filling = await fillRows(this.#connection, counts, options);
    const client = new pg.Client(this.#connection);
    await client.connect();
    await client.query(EVENTS);
    await client.query('vacuum analyze audit_events');
    await client.end();
  }

  async stop() {
    for (const { service } of this.all) if (service !== undefined) await stopProcess(service);
    await this.mailboxes?.close();
  }
}

/** @param database section of the settings; undefined: the embedded database in `dataDir` */
function connectionTo(database, dataDir) {
  if (database === undefined) {
    return { user: 'latchkey', database: 'latchkey', host: join(dataDir, 'run'), port: 5432, ssl: false };
  }
  if (database.uri !== undefined) return { connectionString: database.uri };
  const { socket, host, port, username, password, database: name } = database;
  return { host: socket ?? host, port, user: username, password, database: name };
}

/**
 * Checks after the load has stopped: all responses were correct or 503, no acknowledged change is lost or partial, and
 * no instance exited or left a request without a response.
 */
export async function requireRight({ all }, load) {
  const compared = await load.compare();
  say(`${compared} facts hold; requests: ${JSON.stringify(load.counts)}`);
  requireNone(load.faults);
  if (load.counts.cut > 0) throw new Error(`${load.counts.cut} requests were not answered`);
  const ended = all.filter(({ service }) => service.exitCode !== null || service.signalCode !== null);
  if (ended.length > 0) throw new Error('an instance ended');
}

export function requireNone(faults) {
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${[...new Set(faults)].slice(0, 5).join('\n')}`);
}
