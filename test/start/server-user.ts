/**
 * A program of the tests that uses the embedded server of the data directory it is given: says `ready`, then inserts
 * one row after the other and names each once it is acknowledged, until it is ended. SIGTERM releases the server.
 */
import pg from 'pg';
import { useEmbeddedServer } from '#platform/embedded-postgres/embedded-server.ts';

const [dataDir = ''] = process.argv.slice(2);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const log = { error: say, warn: say, info: say, debug: say };

const use = await useEmbeddedServer({ dataDir, log });
const client = new pg.Client({ ...use.connection, ssl: false });
client.on('error', () => {});
await client.connect();
// Two programs at once: PostgreSQL refuses the later one, whose table is there then.
await client.query('create table if not exists acknowledged (number bigint primary key)').catch(() => {});
let isEnding = false;
async function end(): Promise<void> {
  isEnding = true;
  await client.end();
  await use.release();
  process.exit(0);
}
process.once('SIGTERM', () => void end());
say('ready');
while (!isEnding) {
  const number = process.hrtime.bigint().toString();
  try {
    await client.query('insert into acknowledged values ($1)', [number]);
    say(`acknowledged ${number}.`);
  } catch {
    // the connection is gone, and so will be this process
    break;
  }
}
