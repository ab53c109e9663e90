/** Measures start times and the memory used afterwards, with PostgreSQL and with the embedded database. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../scripts/steps/places.js';
import { freePort } from '../test/support/free-port.js';
import { stopProcess, untilHealthy } from '../test/support/program.js';
import { startLatchkey } from './latchkey.js';
import { killAtExit, membersOf, ownResidentMb, proportionalMb } from './processes.js';
import { median, rounded } from './statistics.js';

const IDLE_MS = 2_000;

/** Requires a migrated database. */
export async function measureStarts({ checkout, folder, database, count, say }) {
  const external = [];
  const runtime = [];
  for (let index = 0; index < count; index += 1) {
    runtime.push(await runtimeAndOneConnection(database));
    const service = await startLatchkey({ name: 'start', checkout, folder, database });
    await pause(IDLE_MS);
    external.push({ milliseconds: service.millisecondsToFirstAnswer, residentMb: ownResidentMb(service.pid) });
    await service.stop();
  }
  const dataFolder = join(folder, 'embedded');
  mkdirSync(dataFolder, { recursive: true });
  const embedded = [];
  for (let index = 0; index <= count; index += 1) embedded.push(await startEmbedded(checkout, dataFolder));
  const [first, ...later] = embedded;
  const result = {
    postgres: {
      millisecondsToFirstAnswer: Math.round(median(external.map(({ milliseconds }) => milliseconds))),
      millisecondsOfRuntimeAndConnection: Math.round(median(runtime)),
      residentMb: rounded(median(external.map(({ residentMb }) => residentMb))),
    },
    embedded: {
      firstStartMilliseconds: Math.round(first.milliseconds),
      secondStartMilliseconds: Math.round(median(later.map(({ milliseconds }) => milliseconds))),
      residentMb: rounded(median(later.map(({ residentMb }) => residentMb))),
      databaseMb: rounded(median(later.map(({ databaseMb }) => databaseMb))),
    },
  };
  say(`starts: ${JSON.stringify(result)}`);
  return result;
}

/** The lower limit for any program on this runtime: starting it, and connecting to the database once. */
async function runtimeAndOneConnection({ socket, port, username, database }) {
  const driver = pathToFileURL(join(root, 'node_modules/pg/esm/index.mjs')).href;
  const options = JSON.stringify({ host: socket, port, user: username, database });
  const program = `const { Client } = await import('${driver}'); const client = new Client(${options});
    await client.connect(); await client.end();`;
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return performance.now() - startedAt;
}

/** Runs `npm start` in an installed and built folder, configured only with a data directory. */
async function startEmbedded(checkout, dataFolder) {
  const port = await freePort();
  const environment = { ...process.env, LATCHKEY_DATA_DIR: dataFolder, PORT: String(port) };
  const startedAt = performance.now();
  const child = killAtExit(spawn('npm', ['start'], { cwd: checkout, env: environment, stdio: 'ignore' }));
  try {
    await untilHealthy(child, `http://127.0.0.1:${port}/`);
    const milliseconds = performance.now() - startedAt;
    await pause(IDLE_MS);
    const members = membersOf(child.pid).map((pid) => ({ pid, command: commandOf(pid) }));
    const service = members.find(({ command }) => command.includes('scripts/start.js') && command.startsWith('node\0'));
    const postgres = members.filter(({ command }) => /postgres/.test(command.split('\0', 1)[0]));
    return {
      milliseconds,
      residentMb: ownResidentMb(service?.pid ?? child.pid),
      databaseMb: postgres.reduce((sum, { pid }) => sum + proportionalMb(pid), 0),
    };
  } finally {
    await stopProcess(child);
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
