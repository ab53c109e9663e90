// @ts-check
/**
 * Runs the built program as users do, for tests, benchmarks and tools. Plain JavaScript, so that all three run it
 * without a build.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from '../../scripts/steps/places.js';

/** @import { ChildProcess, StdioOptions } from 'node:child_process' */

/**
 * @typedef {object} LaunchOptions
 * @property {NodeJS.ProcessEnv} [environment] additional variables
 * @property {number} [openFiles] maximum number of open files, as in `ulimit -n`
 * @property {readonly string[]} [flags] additional Node.js flags
 * @property {string} [node] replaces the Node.js that the tests run on
 * @property {StdioOptions} [stdio] pipes by default
 */

/** @typedef {LaunchOptions & { readonly command?: readonly string[] }} ServeOptions `command`: `serve` by default */

/** The Node.js flags that `package.json` and `bin/` pass to the program. */
export const NODE_FLAGS = ['--max-semi-space-size=8'];

const TESTED_NODE = process.env['LATCHKEY_TEST_NODE'] ?? process.execPath;
const POLL_MS = 5;
const STOP_TIMEOUT_MS = 15_000;
/** `limits.work` for services whose users share one address. */
export const UNLIMITED_WORK = { per_address: { burst: 0 }, per_account: { burst: 0 } };

/**
 * The built program with its own folder and configuration file. Runs on the Node.js in `LATCHKEY_TEST_NODE`, if set.
 */
export class Program {
  /** @type {string} */
  #folder;
  /** @type {string} */
  #file;
  /** @type {string} */
  #main;

  /**
   * @param {string} folder
   * @param {Readonly<Record<string, unknown>>} settings the configuration as an object
   * @param {{ readonly name?: string, readonly checkout?: string }} [options] `name`: of the configuration file in the
   * folder; `checkout`: a folder with a `dist/`, by default this checkout
   */
  constructor(folder, settings, { name = 'latchkey.json', checkout = root } = {}) {
    this.#folder = folder;
    this.#file = join(folder, name);
    this.#main = join(checkout, 'dist/main.js');
    if (!existsSync(this.#main)) throw new Error(`${this.#main} does not exist: run "npm run build" first`);
    const given = typeof settings['limits'] === 'object' ? settings['limits'] : {};
    const limits = knowsWork(checkout) ? { limits: { work: UNLIMITED_WORK, ...given } } : {};
    writeFileSync(this.#file, JSON.stringify({ ...settings, ...limits }), { mode: 0o600 });
  }

  /**
   * Starts a command of the program.
   * @param {readonly string[]} args
   * @param {LaunchOptions} [options]
   * @returns {ChildProcess}
   */
  launch(args, { environment = {}, openFiles, flags = [], node = TESTED_NODE, stdio = 'pipe' } = {}) {
    const call = [node, ...NODE_FLAGS, ...flags, this.#main, '--config', this.#file, ...args];
    const limit = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`];
    const [command = node, ...rest] = [...limit, ...call];
    return spawn(command, rest, { cwd: this.#folder, env: { ...process.env, ...environment }, stdio });
  }

  /**
   * Runs a command until it exits. Throws when it fails.
   * @param {readonly string[]} args
   * @param {string} [input] its standard input
   * @param {LaunchOptions} [options]
   * @returns {Promise<string>} its output
   */
  async run(args, input = '', options = {}) {
    const child = this.launch(args, options);
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    child.stdin?.end(input);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`latchkey ${args.join(' ')} ended with ${code}: ${errors}`);
    return printed;
  }

  /**
   * Starts the service and waits until its health check succeeds.
   * @param {string} base base URL with a trailing slash
   * @param {ServeOptions} [options]
   * @returns {Promise<ChildProcess>}
   */
  async serve(base, { command = ['serve'], ...options } = {}) {
    const service = this.launch(command, options);
    service.stdin?.end();
    service.stdout?.resume();
    let output = '';
    service.stderr?.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-4_000);
    });
    await untilHealthy(service, base, { output: () => output });
    return service;
  }
}

/**
 * Waits until the health check of a service succeeds. Throws when the service exits or takes too long.
 * @param {ChildProcess} service
 * @param {string} base base URL with a trailing slash
 * @param {{ readonly timeoutMs?: number, readonly output?: () => string }} [options] `output` is appended to the error
 */
export async function untilHealthy(service, base, { timeoutMs = 90_000, output = () => '' } = {}) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const isHealthy = await fetch(`${base}health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isHealthy) return;
    if (service.exitCode !== null || service.signalCode !== null || performance.now() > deadline) {
      throw new Error(`no service at ${base}: ${output()}`);
    }
    await pause(POLL_MS);
  }
}

/**
 * Signals a process and waits until it exits. Kills it when that takes too long.
 * @param {ChildProcess} child
 * @param {NodeJS.Signals} [signal]
 * @returns {Promise<number | null>} its exit code
 */
export async function stopProcess(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  const code = await ended;
  clearTimeout(killer);
  return code;
}

/**
 * Kills a process without warning and waits until it exits.
 * @param {ChildProcess} child
 */
export async function killProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/**
 * Whether the version in `checkout` supports the `limits.work` setting.
 * @param {string} checkout
 */
function knowsWork(checkout) {
  const schema = JSON.parse(readFileSync(join(checkout, 'share/config.schema.json'), 'utf8'));
  return schema.properties.limits?.properties.work !== undefined;
}
