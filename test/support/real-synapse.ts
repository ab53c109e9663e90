/**
 * Runs a real Synapse on loopback, from a Python with `matrix-synapse` installed (chat-compat 18.4). It uses SQLite
 * unless a PostgreSQL database is given.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.js';

export interface RealSynapse {
  readonly serverName: string;
  /** With a trailing slash. */
  readonly endpoint: string;
  /** Token of an application service that reserves some names. */
  readonly applicationServiceToken: string;
  /** Returns the log so far. */
  log(): string;
  /** Stops it. It can be restarted with the same data. */
  stop(): Promise<void>;
  /** Kills it immediately, like a crash. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Path of the configuration file. */
  readonly configFile: string;
  /** Replaces settings in the configuration file, effective at the next start. Undefined removes a setting. */
  configure(settings: Readonly<Record<string, unknown>>): void;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

export interface RealSynapseOptions {
  /** The Python executable. */
  readonly python: string;
  readonly secret: string;
  /** Base URL of the authentication service. */
  readonly service: string;
  /** Public base URL. Defaults to its own address. */
  readonly publicBase?: string;
  /** Regular expression for the names that the application service reserves. */
  readonly exclusiveNames: string;
  /** Overrides the default settings. Undefined removes a setting. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const START_MS = 90_000;
const APPLICATION_SERVICE_TOKEN = 'token-of-the-application-service';

export async function startRealSynapse(options: RealSynapseOptions): Promise<RealSynapse> {
  const port = await freePort();
  const serverName = `localhost:${port}`;
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-synapse-'));
  const file = join(directory, 'homeserver.yaml');
  const logFile = join(directory, 'output.log');
  mkdirSync(join(directory, 'media'));
  writeFileSync(join(directory, 'bridge.yaml'), stringify(applicationService(options.exclusiveNames)));
  let settings: object = configuration(options, { directory, port, serverName });
  const configure = (changes: object): void => {
    settings = { ...settings, ...changes };
    writeFileSync(file, stringify(settings, { keepUndefined: false }));
  };
  configure(options.settings ?? {});
  runPython(options.python, directory, ['--config-path', file, '--generate-keys']);

  const endpoint = `http://127.0.0.1:${port}/`;
  let running: ChildProcess | undefined;
  const log = () => readFileSync(logFile, { encoding: 'utf8', flag: 'a+' });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const child = running;
    running = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  const stop = async (): Promise<void> => await end('SIGTERM');
  const kill = async (): Promise<void> => await end('SIGKILL');
  const start = async (): Promise<void> => {
    const child = spawn(
      '/bin/sh',
      ['-c', 'exec "$@" >>"$0" 2>&1', logFile, options.python, '-m', 'synapse.app.homeserver', '--config-path', file],
      { cwd: directory, stdio: 'ignore' },
    );
    running = child;
    const deadline = Date.now() + START_MS;
    while (!(log().includes('No more background updates to do') && (await responses(endpoint)))) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`Synapse did not start:\n${log()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const remove = async (): Promise<void> => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    ...{ serverName, endpoint, applicationServiceToken: APPLICATION_SERVICE_TOKEN, configFile: file },
    ...{ log, stop, kill, start, configure, remove },
  };
}

async function responses(endpoint: string): Promise<boolean> {
  try {
    const { ok } = await fetch(new URL('_matrix/client/versions', endpoint));
    return ok;
  } catch {
    return false;
  }
}

function configuration(
  options: RealSynapseOptions,
  { directory, port, serverName }: { directory: string; port: number; serverName: string },
) {
  return {
    server_name: serverName,
    public_baseurl: options.publicBase ?? `http://127.0.0.1:${port}/`,
    listeners: [
      {
        type: 'http',
        port,
        bind_addresses: ['127.0.0.1'],
        x_forwarded: true,
        resources: [{ names: ['client'], compress: false }],
      },
    ],
    database: { name: 'sqlite3', args: { database: join(directory, 'homeserver.db') } },
    media_store_path: join(directory, 'media'),
    signing_key_path: join(directory, 'signing.key'),
    pid_file: join(directory, 'homeserver.pid'),
    app_service_config_files: [join(directory, 'bridge.yaml')],
    matrix_authentication_service: { enabled: true, endpoint: options.service, secret: options.secret },
    trusted_key_servers: [],
    federation_domain_whitelist: [],
    report_stats: false,
    // Some calls fail until the indexes of a new database exist.
    background_updates: { sleep_enabled: false },
    suppress_key_server_warning: true,
  };
}

function applicationService(names: string) {
  return {
    id: 'bridge',
    url: null,
    as_token: APPLICATION_SERVICE_TOKEN,
    hs_token: 'token-of-the-homeserver',
    sender_localpart: 'bridge',
    rate_limited: false,
    namespaces: { users: [{ exclusive: true, regex: `@${names}` }], aliases: [], rooms: [] },
  };
}

function runPython(python: string, cwd: string, args: readonly string[]): void {
  const result = spawnSync(python, ['-m', 'synapse.app.homeserver', ...args], { cwd, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${python}: ${result.error?.message ?? result.stderr}`);
}
