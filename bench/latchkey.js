/** Runs Latchkey like an operator: the production build, with the log written to a file. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.js';
import { Program, stopProcess, untilHealthy } from '../test/support/program.js';
import { killAtExit } from './processes.js';

export const CLIENT_ID = '01BENCHC11ENT0000000000000';
export const CLIENT_SECRET = 'secret-of-the-client-of-the-benchmark';
export const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
export const REDIRECT_URI = 'https://app.bench.test/callback';
/** Only the introspection requests of a homeserver are simulated. */
const HOMESERVER_SECRET = 'secret-of-the-homeserver-of-the-benchmark';
export const HOMESERVER_AUTHORIZATION = `Bearer ${HOMESERVER_SECRET}`;
/** A second client, which authenticates with `private_key_jwt`. */
export const ASSERTION_CLIENT_ID = '01BENCHC11ENT0000000000001';
export const ASSERTION_KEYS = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ENVIRONMENT = { UV_THREADPOOL_SIZE: '12' };
/** The log is written in batches, the last one shortly after its request. */
const LOG_DELAY_MS = 200;

/**
 * Starts it and waits for its first response.
 * @param options `name` of this instance, `checkout` with a `dist/`, `folder` for its files (instances on one database
 * share `folder`), `database` as in the configuration, and additional Node.js `flags`
 */
export async function startLatchkey({ name, checkout, folder, database, flags = [] }) {
  const port = await freePort();
  const logFile = join(folder, `${name}.log`);
  mkdirSync(folder, { recursive: true });
  const settings = configuration(port, folder, database, logFile);
  const program = new Program(folder, settings, { name: `${name}.json`, checkout });
  const outputFile = join(folder, `${name}.out`);
  const output = openSync(outputFile, 'a');
  const startedAt = performance.now();
  const stdio = ['ignore', output, output];
  const child = killAtExit(program.launch(['serve'], { environment: ENVIRONMENT, flags, stdio }));
  try {
    await untilHealthy(child, `http://127.0.0.1:${port}/`, {
      output: () => readFileSync(outputFile, 'utf8').slice(-4_000),
    });
  } catch (error) {
    await stopProcess(child);
    throw error;
  }
  return {
    name,
    port,
    pid: child.pid,
    millisecondsToFirstAnswer: performance.now() - startedAt,
    /** Current end of the log, for `statementsSince`. */
    logPosition: async () => {
      await pause(LOG_DELAY_MS);
      return statSync(logFile).size;
    },
    requestLinesSince: async (position) => {
      await pause(LOG_DELAY_MS);
      return readFileSync(logFile).subarray(position).toString().split('\n').filter(isRequestLine);
    },
    /** Runs a command with the configuration of this instance. */
    run: (args) => program.run(args),
    stop: () => stopProcess(child),
  };
}

/** Returns the mean number of statements in the request lines. */
export function meanStatements(lines) {
  const total = lines.reduce((sum, line) => sum + Number(/ queries: (\d+)/.exec(line)?.[1]), 0);
  return Number((total / lines.length).toFixed(3));
}

/** Migrates a database. */
export async function migrate(checkout, folder, database) {
  mkdirSync(folder, { recursive: true });
  const program = new Program(folder, configuration(1, folder, database, 'stderr'), { name: 'migrate.json', checkout });
  await program.run(['database', 'migrate']);
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
          resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets', 'health'],
          binds: [{ address: `127.0.0.1:${port}` }],
        },
      ],
    },
    database,
    logging: { output: logFile },
    homeserver: { kind: 'none', homeserver: 'bench.test', secret: HOMESERVER_SECRET },
    account: { password_recovery_enabled: true },
    email: { transport: 'file' },
    // The whole load comes from one address.
    rate_limiting: {
      login: { per_ip: unlimited, per_account: unlimited },
      client_registration: { per_ip: unlimited },
      account_recovery: { per_ip: unlimited, per_address: unlimited },
      graphql: { authenticated: unlimited },
    },
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: CLIENT_SECRET,
        redirect_uris: [REDIRECT_URI],
      },
      {
        client_id: ASSERTION_CLIENT_ID,
        client_auth_method: 'private_key_jwt',
        jwks: { keys: [ASSERTION_KEYS.publicKey.export({ format: 'jwk' })] },
      },
    ],
  };
}
