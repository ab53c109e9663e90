import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const START_LIMIT_MS = 180_000;

// Whatever ends this process, the programs that it started end with it.
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** An application as a process of its own, on a port that it was registered with. */
export class Application {
  /** Where it is, without a trailing slash. */
  base;
  /** The client that it says it is. */
  clientId;
  /** The secret of that client. */
  clientSecret;
  /** What its operator types. */
  settings;
  #child;
  #output;

  /**
   * @param definition see `applications.js`
   * @param settings what its operator types: `ISSUER`, `CLIENT_ID`, `CLIENT_SECRET`, `PORT`, and `FOLDER` for its files
   */
  static async start(definition, settings) {
    const application = new Application();
    application.base = `http://localhost:${settings.PORT}`;
    application.settings = settings;
    application.clientId = settings.CLIENT_ID;
    application.clientSecret = settings.CLIENT_SECRET;
    mkdirSync(settings.FOLDER, { recursive: true, mode: 0o755 });
    const [command, ...args] = await definition.command(settings);
    // A file and no pipe, so that Apache can open it by the name of its standard error.
    application.#output = join(settings.FOLDER, 'output.log');
    const output = openSync(application.#output, 'a');
    application.#child = spawn(command, args, {
      cwd: join(import.meta.dirname, definition.folder),
      env: { ...process.env, ...settings },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    running.add(application.#child);
    application.#child.once('close', () => running.delete(application.#child));
    await application.#listens(settings.PORT);
    return application;
  }

  /** Everything that it printed. */
  get said() {
    return readFileSync(this.#output, 'utf8');
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGTERM');
    await closed;
  }

  async #listens(port) {
    const deadline = performance.now() + START_LIMIT_MS;
    while (!(await accepts(port))) {
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        await this.stop();
        throw new Error(`the application did not start:\n${this.said}`);
      }
      await pause(50);
    }
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
