/** Latchkey as a user would start it: the production build, its log on and written to a file. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endProcess } from './processes.js';

export const CLIENT_ID = '01BENCHC11ENT0000000000000';
export const CLIENT_SECRET = 'secret-of-the-client-of-the-benchmark';
export const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
/** What `package.json` and `bin/` give the program. */
export const NODE_FLAGS = ['--max-semi-space-size=8'];
const ENVIRONMENT = { ...process.env, UV_THREADPOOL_SIZE: '12' };
const START_TIMEOUT_MS = 30_000;
/** The log is written in batches, the last one a moment after its request. */
const LOG_DELAY_MS = 200;

/**
 * Starts it and waits for its first answer.
 * @param options `name` of this instance, `checkout` with a `dist/`, `folder` for its files (instances on one database
 * share `folder`), `database` as in the configuration, and more Node.js `flags`
 */
export async function startLatchkey({ name, checkout, folder, database, flags = [] }) {
  const port = await freePort();
  const file = join(folder, `${name}.json`);
  const logFile = join(folder, `${name}.log`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(configuration(port, folder, database, logFile)));
  const output = openSync(join(folder, `${name}.out`), 'a');
  const startedAt = performance.now();
  const program = join(checkout, 'dist/main.js');
  const child = spawn(process.execPath, [...NODE_FLAGS, ...flags, program, '--config', file], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', output, output],
  });
  await firstAnswer(child, port);
  return {
    name,
    port,
    pid: child.pid,
    millisecondsToFirstAnswer: performance.now() - startedAt,
    /** Where the log ends now, for `statementsSince`. */
    logPosition: async () => {
      await pause(LOG_DELAY_MS);
      return statSync(logFile).size;
    },
    requestLinesSince: async (position) => {
      await pause(LOG_DELAY_MS);
      return readFileSync(logFile).subarray(position).toString().split('\n').filter(isRequestLine);
    },
    stop: () => endProcess(child),
  };
}

/** Mean number of statements that the request lines tell of. */
export function meanStatements(lines) {
  const total = lines.reduce((sum, line) => sum + Number(/ queries: (\d+)/.exec(line)?.[1]), 0);
  return Number((total / lines.length).toFixed(3));
}

/** Brings the schema of a database up to date. */
export async function migrate(checkout, folder, database) {
  const file = join(folder, 'migrate.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(configuration(1, folder, database, 'stderr')));
  await promisify(execFile)(process.execPath, [join(checkout, 'dist/main.js'), '-c', file, 'database', 'migrate']);
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits for the health check to answer. */
export async function firstAnswer(child, port) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const isUp = await fetch(`http://127.0.0.1:${port}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) return;
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('the service did not start');
    await pause(5);
  }
}

function isRequestLine(line) {
  return line.includes(' http.server.response ') && !line.includes('/health ');
}

function configuration(port, folder, database, logFile) {
  const unlimited = { burst: 1_000_000, per_second: 1_000 };
  return {
    data_dir: join(folder, 'data'),
    http: {
      public_base: `http://127.0.0.1:${port}`,
      listeners: [
        {
          name: 'web',
          resources: ['discovery', 'human', 'oauth', 'assets', 'health'],
          binds: [{ address: `127.0.0.1:${port}` }],
        },
      ],
    },
    database,
    logging: { output: logFile },
    // All the load comes from one address.
    rate_limiting: { login: { per_ip: unlimited, per_account: unlimited } },
    clients: [{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: CLIENT_SECRET }],
  };
}
