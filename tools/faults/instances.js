/** Instances on one PostgreSQL, for faults that are tried under load. */
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess, untilHealthy } from '../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../test/support/start-postgres.js';
import { instanceSettings } from '../cluster/instance-settings.js';
import { Load, PASSWORD, USERNAME } from '../cluster/load.js';

export const DATABASE_USER = 'faults';

/** A server with its durability on. @param settings of postgresql.conf */
export function startDatabase(folder, settings = {}) {
  return startPostgres({
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
  #folder;

  /** @param folder of configuration files */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Adds an instance and starts it.
   * @param database settings of the section
   * @param change what becomes of the settings
   * @param options of `Program.launch`
   * @returns `{ base, port, program, service, log, options }`
   */
  async add(database, { change = (settings) => settings, ...options } = {}) {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}/`;
    const settings = instanceSettings({ dataDir: join(this.#folder, `data-${port}`), database, port, level: 'warn' });
    const program = new Program(this.#folder, change(settings), { name: `instance-${port}.json` });
    const instance = { base, port, program, service: undefined, log: '', options };
    this.all.push(instance);
    await this.start(instance);
    return instance;
  }

  async start(instance) {
    instance.service = instance.program.launch(['serve'], { stdio: ['ignore', 'ignore', 'pipe'], ...instance.options });
    instance.service.stderr.setEncoding('utf8').on('data', (text) => {
      instance.log += text;
    });
    await untilHealthy(instance.service, instance.base, { output: () => instance.log.slice(-4_000) });
    this.bases.push(instance.base);
  }

  /** Takes an instance out of the load balancer. */
  leave(instance) {
    const index = this.bases.indexOf(instance.base);
    if (index >= 0) this.bases.splice(index, 1);
  }

  /** Makes the account that a load signs in with, and the load. */
  async load() {
    await this.all[0].program.run(['manage', 'register-user', '--yes', '--password-file', '-', USERNAME], PASSWORD);
    const load = new Load(this.bases);
    await load.prepare();
    return load;
  }

  async stop() {
    for (const { service } of this.all) if (service !== undefined) await stopProcess(service);
  }
}

export function requireNone(faults) {
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${[...new Set(faults)].slice(0, 5).join('\n')}`);
}
