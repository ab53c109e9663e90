import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import { administer } from '#test/support/administer.ts';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/postgres-server.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { type MigrateOptions, migrate, migrationStatus } from './migrate.ts';

let empty: EmptyDatabase;
let directory: string;
let log: RecordingLog;

beforeEach(async () => {
  empty = await createEmptyDatabase();
  directory = mkdtempSync(join(tmpdir(), 'latchkey-migrations-'));
  log = new RecordingLog();
  write('0001-first.sql', '-- expand\ncreate table first (id integer);\ninsert into first values (1);\n');
});

afterEach(async () => {
  rmSync(directory, { recursive: true });
  await empty.drop();
});

function write(name: string, text: string): void {
  writeFileSync(join(directory, name), text);
}

function options(more: Partial<MigrateOptions> = {}): MigrateOptions {
  return { connection: parseConnectionUri(empty.connectionString), directory, log, clock: systemClock, ...more };
}

const rows = <Row extends Record<string, unknown>>(text: string) => administer<Row>(empty.connectionString, text);

describe('a role that may not create tables, as by default since PostgreSQL 15', () => {
  const role = 'may_not_create';

  async function asRole<T>(work: (connection: MigrateOptions['connection']) => Promise<T>): Promise<T> {
    await rows(`create role ${role} login`);
    try {
      return await work({ ...parseConnectionUri(empty.connectionString), user: role });
    } finally {
      await rows(`drop owned by ${role}`);
      await rows(`drop role ${role}`);
    }
  }

  test('is told what to grant by migrations and status, and then migrates', async () => {
    await asRole(async (connection) => {
      const advice = `Run "grant usage, create on schema public to ${role}" in this database as an administrator`;
      await expect(migrate(options({ connection }))).rejects.toMatchObject({
        exitCode: 69,
        message: expect.stringContaining(`the role ${role} may not create tables in schema public`),
      });
      await expect(migrate(options({ connection }))).rejects.toMatchObject({
        message: expect.stringContaining(advice),
      });
      expect((await migrationStatus(options({ connection }))).problem).toContain(advice);
      await rows(`grant usage, create on schema public to ${role}`);
      expect((await migrationStatus(options({ connection }))).problem).toBeUndefined();
      expect((await migrate(options({ connection }))).applied).toEqual(['0001-first']);
    });
  });

  test('and may not use the schema is told what to grant', async () => {
    await rows('revoke usage on schema public from public');
    await asRole(async (connection) => {
      await expect(migrationStatus(options({ connection }))).rejects.toThrow(
        `no existing schema that the role can use. Run "grant usage, create on schema public to ${role}"`,
      );
    });
  });

  test('and does not own the existing tables gets an error that says so', async () => {
    await migrate(options());
    await asRole(async (connection) => {
      await expect(migrate(options({ connection }))).rejects.toMatchObject({
        exitCode: 69,
        message: expect.stringMatching(/permission denied for table schema_migrations.*must own the tables/),
      });
    });
  });
});

describe('migrate', () => {
  test('applies pending migrations in order, records them, and finds nothing to do on the second run', async () => {
    write('0002-second.sql', '-- contract\nalter table first add column extra text;\n');
    expect(await migrate(options())).toEqual({ applied: ['0001-first', '0002-second'], pending: [] });
    expect(await migrate(options())).toEqual({ applied: [], pending: [] });
    expect(await rows('select version, name, kind, min_reader from schema_migrations order by version')).toEqual([
      { version: 1, name: 'first', kind: 'expand', min_reader: 0 },
      { version: 2, name: 'second', kind: 'contract', min_reader: 2 },
    ]);
    expect(log.lines.filter((line) => line.event === 'db.migrate')).toHaveLength(2);
  });

  test('with check lists pending migrations and changes nothing', async () => {
    expect(await migrate(options({ check: true }))).toEqual({ applied: [], pending: ['0001-first'] });
    expect(await rows(`select to_regclass('schema_migrations')::text as name`)).toEqual([{ name: null }]);
  });

  test('fails with exit code 1 when the text of an applied migration was changed', async () => {
    await migrate(options());
    write('0001-first.sql', '-- expand\ncreate table first (id bigint);\n');
    await expect(migrate(options())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/0001-first.*a different text/),
    });
  });

  test('treats text with other line endings as the same migration', async () => {
    await migrate(options());
    write('0001-first.sql', '-- expand\r\ncreate table first (id integer);\r\ninsert into first values (1);\r\n');
    expect(await migrate(options())).toEqual({ applied: [], pending: [] });
  });

  test('rejects a database contracted by a newer version, and accepts one that it only expanded', async () => {
    write('0002-addition.sql', '-- expand\nalter table first add column extra text;\n');
    await migrate(options());
    rmSync(join(directory, '0002-addition.sql'));
    expect(await migrate(options())).toEqual({ applied: [], pending: [] });
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { migrations: '0002-addition' } });
    expect((await migrationStatus(options())).unknown).toMatchObject([{ version: 2, name: 'addition' }]);

    write('0002-addition.sql', '-- expand\nalter table first add column extra text;\n');
    write('0003-removal.sql', '-- contract\nalter table first drop column extra;\n');
    await migrate(options());
    rmSync(join(directory, '0003-removal.sql'));
    await expect(migrate(options())).rejects.toMatchObject({ exitCode: 1, message: expect.stringMatching(/newer/) });
  });

  test('rolls back a failing migration completely and keeps those before it', async () => {
    write('0002-broken.sql', '-- expand\ncreate table second (id integer);\nselect 1 / 0;\n');
    await expect(migrate(options())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/0002-broken failed.*zero/),
    });
    expect(await rows(`select to_regclass('second')::text as name`)).toEqual([{ name: null }]);
    expect((await migrationStatus(options())).pending.map((one) => one.name)).toEqual(['broken']);
  });

  test('rejects a database of another program, even with a schema_migrations of its own', async () => {
    await rows('create table articles (id integer)');
    await expect(migrate(options())).rejects.toMatchObject({ exitCode: 1, message: expect.stringMatching(/articles/) });
    await rows('create table schema_migrations (version varchar)');
    await expect(migrate(options())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/not Latchkey's/),
    });
    expect(await rows(`select to_regclass('first')::text as name`)).toEqual([{ name: null }]);
  });

  test('started by multiple processes at once applies each migration once', async () => {
    write('0002-slow.sql', '-- expand\nselect pg_sleep(0.2);\ncreate table second (id integer);\n');
    const results = await Promise.all([1, 2, 3].map(() => migrate(options())));
    expect(results.map((result) => result.applied.length).sort()).toEqual([0, 0, 2]);
    expect(await rows('select count(*)::int as count from first')).toEqual([{ count: 1 }]);
  });

  test('exits with code 75 when another process holds the lock beyond the timeout', async () => {
    const other = new Client({ connectionString: empty.connectionString });
    await other.connect();
    await other.query(`select pg_advisory_lock(7810217731184421153)`);
    await expect(migrate(options({ timeoutSeconds: 0.3 }))).rejects.toMatchObject({ exitCode: 75 });
    await other.end();
  });

  test('waits for a table lock in short attempts and succeeds when it is released', async () => {
    await migrate(options());
    write('0002-alter.sql', '-- expand\nset local lock_timeout = 50;\nalter table first add column extra text;\n');
    const reader = new Client({ connectionString: empty.connectionString });
    await reader.connect();
    await reader.query('begin; lock table first in access share mode');
    const migrating = migrate(options());
    await waitUntil(() => log.lines.at(-1)?.message.includes('is waiting') === true, 'a first attempt to fail');
    await reader.query('commit');
    await reader.end();
    expect(await migrating).toMatchObject({ applied: ['0002-alter'] });
  });

  describe('concurrently built indexes', () => {
    const valid = (): Promise<Record<string, unknown>[]> =>
      rows(`select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relname like 'first_%'`);

    test('do not block writers, and exist afterwards', async () => {
      await migrate(options());
      write(
        '0002-index.sql',
        '-- expand concurrently\n-- a comment; with more\ncreate index concurrently first_id\n  on first (id);\n',
      );
      const writer = new Client({ connectionString: empty.connectionString });
      await writer.connect();
      await writer.query('begin; insert into first values (2)');
      const migrating = migrate(options());
      await expect.poll(valid).toEqual([{ name: 'first_id', valid: false }]);
      // Inserted while the index build waits for the earlier transaction.
      await rows('insert into first values (3)');
      await writer.query('commit');
      await writer.end();
      expect(await migrating).toEqual({ applied: ['0002-index'], pending: [] });
      expect(await valid()).toEqual([{ name: 'first_id', valid: true }]);
    });

    test('are rebuilt when left invalid, kept when they exist, and removed when dropped', async () => {
      await migrate(options());
      await rows('create index first_kept on first (id)');
      await rows('create index first_old on first (id)');
      await rows('insert into first values (1)');
      // Building a unique index over equal rows fails and leaves an invalid index.
      await expect(rows('create unique index concurrently first_left on first (id)')).rejects.toThrow(/unique/);
      write(
        '0002-index.sql',
        '-- expand concurrently\ncreate index concurrently first_left on first (id);\n' +
          'create index concurrently first_kept on first (id);\ndrop index concurrently if exists first_old;\n',
      );
      await migrate(options());
      expect(await valid()).toEqual(
        expect.arrayContaining([
          { name: 'first_left', valid: true },
          { name: 'first_kept', valid: true },
        ]),
      );
      expect(await valid()).toHaveLength(2);
    });

    test('must be alone in their file', async () => {
      write('0002-index.sql', '-- expand concurrently\nalter table first add column extra text;\n');
      await expect(migrate(options())).rejects.toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(/0002-index failed: expected "create index concurrently".*alter table/),
      });
    });
  });

  test('rejects a contraction until the backfill that it names is done', async () => {
    await migrate(options());
    await rows('create table server_state (key text primary key, value bytea not null)');
    write('0002-contract.sql', '-- contract after=fill-names\nalter table first alter column id set not null;\n');
    await expect(migrate(options())).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/0002-contract requires the backfill fill-names/),
    });
    await rows(`insert into server_state values ('backfill:fill-names', '')`);
    expect(await migrate(options())).toMatchObject({ applied: ['0002-contract'] });
  });

  test('exits with code 69 and a hint when there is no server', async () => {
    const connection = { host: '127.0.0.1', port: 1, user: 'nobody', password: 'hidden-password', database: 'none' };
    const failing = migrate(options({ connection, connectTimeoutSeconds: 0.1 }));
    await expect(failing).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(/127\.0\.0\.1:1.*Check that the server is running/),
    });
    await expect(failing).rejects.not.toMatchObject({ message: expect.stringMatching(/hidden-password/) });
  });
});
