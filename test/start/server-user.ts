/**
 * A test program that uses the embedded server of the given data directory. It prints `ready`, then inserts rows and
 * prints each one after its acknowledgment, until it is stopped. SIGTERM releases the server.
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
// With two concurrent programs, PostgreSQL may reject the later statement. The table exists in that case.
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
    // the connection is lost, and this process is about to be stopped
    break;
  }
}
