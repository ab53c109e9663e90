import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess, untilHealthy } from '../../test/support/program.js';

// Child processes, which end with this process in any case.
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

const START_TIMEOUT_MS = 60_000;

/** The built program as operators run it, on the embedded database of a folder that several instances may share. */
export class Latchkey {
  /** `http.public_base`, with a trailing slash. */
  base;
  #folder;
  #environment;
  #program;
  #child;
  /** Resolves when the whole log has been read. */
  #closed;
  #log = '';

  /**
   * @param settings of the configuration file; listener, public base and data directory are added
   * @param host of the public base
   * @param environment variables in addition to those of this process
   */
  static async start(folder, name, settings, host = '127.0.0.1', environment = {}) {
    const latchkey = new Latchkey();
    const port = await freePort();
    latchkey.base = `http://${host}:${port}/`;
    latchkey.#folder = folder;
    latchkey.#environment = environment;
    const listener = {
      resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets', 'adminapi', 'adminarea', 'health'],
      binds: [{ address: `127.0.0.1:${port}` }],
    };
    const http = { public_base: `http://${host}:${port}`, listeners: [listener] };
    const all = { ...settings, data_dir: join(folder, 'data'), http };
    latchkey.#program = new Program(folder, all, { name: `${name}.json` });
    await latchkey.#serve();
    return latchkey;
  }

  /** All log lines so far. */
  logLines() {
    return this.#log.split('\n').slice(0, -1);
  }

  /**
   * Runs a command of the program to its end.
   * @returns its output
   */
  async command(args, input) {
    return await this.#program.run(args, input);
  }

  /** Runs one statement on the service's database, to simulate the passage of time or an administrator. */
  async sql(text, values = []) {
    return await this.#query({ user: 'latchkey', database: 'latchkey' }, [[text, values]]);
  }

  /** Runs `work` while the database accepts no connections. */
  async withoutDatabase(work) {
    const administrator = { user: 'latchkey_admin', database: 'postgres' };
    await this.#query(administrator, [
      ['alter role latchkey nologin'],
      [`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'latchkey'`],
    ]);
    try {
      return await work();
    } finally {
      await this.#query(administrator, [['alter role latchkey login']]);
    }
  }

  /**
   * Stops it gracefully.
   * @returns its exit code
   */
  async stop() {
    const code = await stopProcess(this.#child);
    await this.#closed;
    return code;
  }

  async #serve() {
    const child = this.#program.launch(['serve'], {
      environment: this.#environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    this.#closed = new Promise((resolve) => child.once('close', resolve)).then(() => running.delete(child));
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#log += text;
    });
    try {
      await untilHealthy(child, this.base, { timeoutMs: START_TIMEOUT_MS, output: () => this.#log });
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #query(role, statements) {
    const client = new pg.Client({ ...role, host: join(this.#folder, 'data', 'run'), port: 5432, ssl: false });
    await client.connect();
    try {
      let result;
      for (const [text, values] of statements) result = await client.query(text, values);
      return result.rows;
    } finally {
      await client.end();
    }
  }
}
