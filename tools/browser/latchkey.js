import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

// Whatever ends this process, the programs that it started end with it.
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START_LIMIT_MS = 60_000;

/** The built program as its users run it, on the embedded database of a folder that several may share. */
export class Latchkey {
  /** `http.public_base`, with a trailing slash. */
  base;
  #folder;
  #file;
  #child;
  #log = '';

  /**
   * @param settings of the configuration file; listener, public base and data directory are added
   * @param host of the public base
   */
  static async start(folder, name, settings, host = '127.0.0.1') {
    if (!existsSync(program)) throw new Error('dist/main.js is not there: run "npm run build" first');
    const latchkey = new Latchkey();
    const port = await freePort();
    latchkey.base = `http://${host}:${port}/`;
    latchkey.#folder = folder;
    latchkey.#file = join(folder, `${name}.json`);
    const listener = {
      resources: ['discovery', 'human', 'oauth', 'assets', 'health'],
      binds: [{ address: `127.0.0.1:${port}` }],
    };
    const http = { public_base: `http://${host}:${port}`, listeners: [listener] };
    const text = JSON.stringify({ ...settings, data_dir: join(folder, 'data'), http });
    writeFileSync(latchkey.#file, text, { mode: 0o600 });
    await latchkey.#serve();
    return latchkey;
  }

  /** Every line of the log so far. */
  logLines() {
    return this.#log.split('\n').slice(0, -1);
  }

  /** Runs a command of the program to its end. */
  async command(args, input) {
    const child = this.#spawn(args);
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    child.stdin.end(input);
    const code = await ended(child);
    if (code !== 0) throw new Error(`latchkey ${args.join(' ')} ended with ${code}: ${said}`);
  }

  /** Runs one statement on the service's database, for what time or an administrator would do. */
  async sql(text, values = []) {
    return await this.#query({ user: 'latchkey', database: 'latchkey' }, [[text, values]]);
  }

  /** What happens while the database takes no connections. */
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

  /** Asks it to end. @returns its exit code */
  async stop() {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    this.#child.kill('SIGTERM');
    return await ended(this.#child);
  }

  async #serve() {
    this.#child = this.#spawn(['serve']);
    this.#child.stdin.end();
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#log += text;
    });
    const deadline = performance.now() + START_LIMIT_MS;
    for (;;) {
      const isReady = await fetch(`${this.base}health`).then(
        (response) => response.ok,
        () => false,
      );
      if (isReady) return;
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        await this.stop();
        throw new Error(`the service did not start:\n${this.#log}`);
      }
      await pause(20);
    }
  }

  #spawn(args) {
    const node = process.env.LATCHKEY_TEST_NODE ?? process.execPath;
    const child = spawn(node, ['--max-semi-space-size=8', program, '--config', this.#file, ...args], {
      cwd: this.#folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    return child;
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

function ended(child) {
  return new Promise((resolve) => child.once('close', resolve));
}

/** A port that nobody listens on right now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
