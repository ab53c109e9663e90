import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { administer, withDatabase } from './administer.ts';
import { startMigratedServer } from './migrated-server.ts';

let folder: string;
let cache: string;
let migrations: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-cache-'));
  cache = join(folder, 'not/created/yet');
  migrations = join(folder, 'migrations');
  mkdirSync(migrations);
  writeFileSync(join(migrations, '0001-first.sql'), '-- expand\ncreate table first (id int);\n');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the second server starts from the archive of the first, and has the same tables', async () => {
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'schema_migrations'] });
  expect(await startAndList()).toEqual({ isCached: true, tables: ['first', 'schema_migrations'] });
  expect(archives()).toHaveLength(1);
});

test('a new and a changed migration each get an archive, and three archives are kept', async () => {
  await startAndList();
  const [oldest] = archives();
  writeFileSync(join(migrations, '0002-second.sql'), '-- expand\ncreate table second (id int);\n');
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'schema_migrations', 'second'] });
  writeFileSync(join(migrations, '0002-second.sql'), '-- expand\ncreate table renamed (id int);\n');
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'renamed', 'schema_migrations'] });
  expect(archives()).toHaveLength(3);
  utimesSync(join(cache, String(oldest)), 1, 1);
  rmSync(join(migrations, '0002-second.sql'));
  writeFileSync(join(migrations, '0003-third.sql'), '-- expand\ncreate table third (id int);\n');
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'schema_migrations', 'third'] });
  expect(archives()).toHaveLength(3);
  expect(archives()).not.toContain(oldest);
});

test('a damaged archive is replaced, and what a killed run left is removed', async () => {
  await startAndList();
  const archive = join(cache, String(archives()[0]));
  const { size } = statSync(archive);
  truncateSync(archive, size / 2);
  const unfinished = `${archive}.0123456789ab`;
  const recent = `${archive}.ba9876543210`;
  for (const path of [unfinished, recent]) writeFileSync(path, 'half');
  utimesSync(unfinished, 1, 1);
  expect(await startAndList()).toMatchObject({ isCached: false, tables: ['first', 'schema_migrations'] });
  expect(readdirSync(cache).map((name) => join(cache, name))).toEqual([archive, recent]);
  expect(statSync(archive).size).toBeGreaterThan(size * 0.9);
  expect(await startAndList()).toMatchObject({ isCached: true, tables: ['first', 'schema_migrations'] });
});

test('servers that start at the same time share the cache', async () => {
  const results = await Promise.all([startAndList(), startAndList()]);
  expect(results).toEqual(Array(2).fill({ isCached: false, tables: ['first', 'schema_migrations'] }));
  expect(readdirSync(cache)).toEqual(archives());
  expect(archives()).toHaveLength(1);
});

test('a cache that cannot be written is not used', async () => {
  cache = join(migrations, '0001-first.sql');
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'schema_migrations'] });
  // Exists on Linux, and nothing can be created in it, not even by root.
  cache = '/proc/self';
  expect(await startAndList()).toEqual({ isCached: false, tables: ['first', 'schema_migrations'] });
});

async function startAndList() {
  const { server, template, isCached } = await startMigratedServer({ cache, migrations });
  try {
    const rows = await administer<{ tablename: string }>(
      withDatabase(server.uri, template),
      "select tablename from pg_tables where schemaname = 'public' order by tablename",
    );
    return { isCached, tables: rows.map(({ tablename }) => tablename) };
  } finally {
    await server.remove();
  }
}

function archives(): string[] {
  return readdirSync(cache).filter((name) => name.endsWith('.tar'));
}
