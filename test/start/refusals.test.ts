import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { administer } from '../support/administer.ts';
import { createEmptyDatabase, type EmptyDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.js';
import { Program } from '../support/program.js';

const ENCRYPTION = 'ab'.repeat(32);

let folder: string;
let database: EmptyDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-refusals-'));
  database = await createEmptyDatabase();
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function programWith(settings: Readonly<Record<string, unknown>>): Promise<Program> {
  const address = `127.0.0.1:${await freePort()}`;
  return new Program(folder, {
    data_dir: join(folder, 'data'),
    database: { uri: database.connectionString },
    http: { public_base: `http://${address}/`, listeners: [{ resources: ['health'], binds: [{ address }] }] },
    ...settings,
  });
}

const tables = async (): Promise<unknown[]> =>
  await administer(
    database.connectionString,
    `select relname from pg_class where relnamespace = 'public'::regnamespace`,
  );

describe('unreadable signing keys (operations 1.9)', () => {
  test('are refused with the position of each entry, in one report, before the database is touched', async () => {
    const keys = [{ key: 'nonsense' }, { key: 'more of it', password: 'x' }];
    const program = await programWith({ secrets: { encryption: ENCRYPTION, keys } });
    const said = await program.run(['serve']).catch(String);
    expect(said).toMatch(/ended with 78: .*latchkey: configuration is not valid \(2 problems\)$/ms);
    expect(said).toMatch(/^ {2}secrets\.keys\[0\]: not a private key .* \(\S*latchkey\.json:1:\d+\)$/m);
    expect(said).toMatch(/^ {2}secrets\.keys\[1\]: not a private key .* wrong \(\S*latchkey\.json:1:\d+\)$/m);
    expect(said).not.toMatch(/nonsense|more of it/);
    expect(await tables()).toEqual([]);
    expect(await program.run(['config', 'check']).catch(String)).toContain('secrets.keys[1]: not a private key');
  });

  test('in the data directory are also refused before the database is changed', async () => {
    mkdirSync(join(folder, 'data/keys'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'data/keys/rsa-2048.pem'), 'damaged', { mode: 0o600 });
    const program = await programWith({});
    await expect(program.run(['serve'])).rejects.toThrow(/ended with 78: .*rsa-2048\.pem: not a private key/s);
    expect(await tables()).toEqual([]);
  });
});

test('a start that fails while it is listening ends the process (operations 3.2)', async () => {
  const program = await programWith({});
  await program.run(['database', 'migrate']);
  await administer(database.connectionString, 'alter table users rename to gone');
  await expect(program.run(['serve'])).rejects.toThrow(/ended with (?!0)\d+: /);
  await administer(database.connectionString, 'alter table gone rename to users');
});

describe('database commands', () => {
  test('database status gives up after database.connect_timeout (operations 1.8)', async () => {
    const uri = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const program = await programWith({ database: { uri, connect_timeout: '1s' } });
    for (const command of ['status', 'migrate']) {
      await expect(program.run(['database', command])).rejects.toThrow(/ended with 69: .*retrying for 1 s/s);
    }
  });

  test.each([['database', 'migrate'], ['serve']])(
    '%s %s --migrate-timeout limits the wait for another process: exit 75',
    async (...command) => {
      const other = new pg.Client({ connectionString: database.connectionString });
      await other.connect();
      try {
        await other.query('select pg_advisory_lock(7810217731184421153)');
        const program = await programWith({});
        await expect(program.run([...command, '--migrate-timeout', '1s'])).rejects.toThrow(
          /ended with 75: .*another process is still migrating the database/s,
        );
      } finally {
        await other.end();
      }
    },
  );
});
