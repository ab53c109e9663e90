/** Instances on one PostgreSQL, for faults that are tried under load. */
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
/** Each account that is filled in has the event of its registration. */
const EVENTS = `
  insert into audit_events (id, kind, user_id, created_at)
  select md5('event' || u.id)::uuid, 'registered', u.id, now() from users u where u.username like 'person-%'`;
/** Short runs have seconds, in which each of a few people has to come to something. */
const isShort = process.argv.includes('--short');
const USERS = isShort ? 10 : 50;
const PAUSE_MS = isShort ? 300 : 1_000;

/** A server with its durability on. @param settings of postgresql.conf. @param environment variables of its processes */
export function startDatabase(folder, settings = {}, environment = {}) {
  return startPostgres({
    environment,
    ...{ folder: join(folder, 'postgres'), programs: findInstalledPrograms(), account: postgresAccount() },
    ...{ user: DATABASE_USER, settings: { max_connections: '100', ...settings }, isDurable: true },
  });
}

/** The section `database` for a server of `startDatabase`. */
export function databaseSettings({ host, port }) {
  return { socket: host, port, username: DATABASE_USER, database: 'postgres' };
}

export class Instances {
  /** Addresses of the instances that a load balancer would send requests to. */
  bases = [];
  all = [];
  /** What the instances have in common: the address that people see. */
  #publicBase;
  /** Where the mails of all instances go; there once an instance is. */
  mailboxes;
  /** Options of `pg.Client` for the database of the first one. */
  #connection;
  /** Transactions that filled the database. */
  #filling;
  #folder;

  /** @param folder of configuration files */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Adds an instance and starts it.
   * @param database settings of the section
   * @param change what becomes of the settings
   * @param dataDir by default a new one
   * @param reached the section for this process, where it gets to the database another way
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

  /** Ends an instance without a word, as a crash does. It takes no requests until it is started again. */
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

  /** Has the load balancer send requests to an instance again. */
  join(instance) {
    this.bases.push(instance.base);
  }

  /** Takes an instance out of the load balancer. */
  leave(instance) {
    const index = this.bases.indexOf(instance.base);
    if (index >= 0) this.bases.splice(index, 1);
  }

  /**
   * Makes the account of `load.signIn`, and the load.
   * @param users at work at once. @param pauseMs between two things that one of them does, at most
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
        // Nobody here steals tokens: a client that is taken for a thief was signed out for nothing.
        ...this.all.flatMap(({ log }) => log.split('\n').filter((line) => line.includes(' token.reuse '))),
      ],
    });
    await load.prepare();
    return load;
  }

  /** Fills the database of the first one. @param counts rows of each table. @param options of `fillRows` */
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

/** @param database section of the settings; undefined: the embedded one in `dataDir` */
function connectionTo(database, dataDir) {
  if (database === undefined) {
    return { user: 'latchkey', database: 'latchkey', host: join(dataDir, 'run'), port: 5432, ssl: false };
  }
  if (database.uri !== undefined) return { connectionString: database.uri };
  const { socket, host, port, username, password, database: name } = database;
  return { host: socket ?? host, port, user: username, password, database: name };
}

/**
 * Once the load has stopped: answers were right or 503, nothing acknowledged is lost, nothing is half done, and no
 * instance ended or left a request without an answer.
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
