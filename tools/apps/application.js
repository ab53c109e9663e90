import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const START_LIMIT_MS = 180_000;

// Child processes, which end with this process in any case.
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** An application in a separate process, on its registered port. */
export class Application {
  /** Base URL without a trailing slash. */
  base;
  /** Its client ID. */
  clientId;
  /** Its client secret. */
  clientSecret;
  /** Settings from its operator. */
  settings;
  #child;
  #output;

  /**
   * @param definition see `applications.js`
   * @param settings from its operator: `ISSUER`, `CLIENT_ID`, `CLIENT_SECRET`, `PORT`, and `FOLDER` for its files
   */
  static async start(definition, settings) {
    const application = new Application();
    application.base = `http://localhost:${settings.PORT}`;
    application.settings = settings;
    application.clientId = settings.CLIENT_ID;
    application.clientSecret = settings.CLIENT_SECRET;
    mkdirSync(settings.FOLDER, { recursive: true, mode: 0o755 });
    const [command, ...args] = await definition.command(settings);
    // A file rather than a pipe, so that Apache can open it through the name of its standard error.
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

  /** Its complete output. */
  get said() {
    return readFileSync(this.#output, 'utf8');
  }

  async stop() {
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    await this.ended();
  }

  /** Waits until it has ended by itself. */
  async ended() {
    if (!this.#hasEnded) await once(this.#child, 'close');
  }

  get #hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
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
