import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Manifest, parseManifest } from '#app/backup/manifest.ts';
import { publishNextRootKey, readRootKeys } from '#app/data-directory/root-key-files.ts';
import { rootKeyChecks } from '#domain/keys/server-state.ts';
import { systemClock } from '#platform/base/clock.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { type EmbeddedUse, useEmbeddedServer } from '#platform/embedded-postgres/embedded-server.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { readMigrations } from '#platform/postgres/migrator/migration-files.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { END_OF_ARCHIVE, readTarFiles, type TarFile, tarFile } from '#platform/tar/tar-archive.ts';
import { administer } from '#test/support/administer.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { runCommand } from './run-command.test-support.ts';

/** Number of accounts, each with two rows written in one transaction. */
const USERS = 3;
let folder: string;
let server: EmbeddedUse | undefined;
/** A backup with keys, and the state of the database at that time. */
let archive: string;
let manifest: Manifest;
let count = 0;

const run = (...argv: string[]) => runCommand(argv, { workingDirectory: folder });
const inFolder = (...names: string[]): string => join(folder, ...names);
/** Returns an unused name in the directory. */
function fresh(name: string): string {
  count += 1;
  return `${name}-${count}`;
}
const use = (dataDir: string) => useEmbeddedServer({ dataDir: inFolder(dataDir), log: silentLog });

async function filesOf(path: string): Promise<TarFile[]> {
  const files: TarFile[] = [];
  for await (const file of readTarFiles(bytesOf(path), () => 1e9)) files.push(file);
  return files;
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  yield gunzipSync(readFileSync(inFolder(path)));
}

async function manifestOf(path: string): Promise<Manifest> {
  const parsed = parseManifest((await filesOf(path))[0]?.content ?? Buffer.alloc(0));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.manifest;
}

function writeArchive(files: readonly TarFile[], end = END_OF_ARCHIVE): string {
  const path = fresh('made.tar.gz');
  writeFileSync(inFolder(path), gzipSync(Buffer.concat([...files.map((file) => tarFile(file, 0)), end])));
  return path;
}

async function query<Row extends object>(client: { host: string; user: string }, text: string): Promise<Row[]> {
  const connection = new Client({ ...client, database: 'latchkey', ssl: false });
  await connection.connect();
  try {
    return (await connection.query<Row>(text)).rows;
  } finally {
    await connection.end();
  }
}

const addUser = `with person as (
    insert into users (id, username, username_key, created_at)
    values (gen_random_uuid(), $1, $1, now()) returning id
  ), job as (
    insert into queue_jobs (id, queue, payload, created_at, due_at)
    values (gen_random_uuid(), 'send-mail', '{}', now(), now())
  )
  insert into user_emails (id, user_id, email, email_key, created_at)
  select gen_random_uuid(), id, $2, $1, now() from person`;
/** Characters that the text format of COPY escapes. */
const ODD_TEXT = 'tab\there\nline\\end \\. \u00fc \u{1f511}';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-backup-'));
  chmodSync(folder, 0o755);
  // Stays open, so that the commands need not start the server.
  server = await use('data');
  expect(await run('jobs', 'list')).toMatchObject({ exitCode: 0 });
  const writer = new Client({ ...server.connection, ssl: false });
  await writer.connect();
  for (let user = 0; user < USERS; user += 1) await writer.query(addUser, [`person${user}`, ODD_TEXT]);
  await writer.end();
  archive = 'backup.tar.gz';
  expect(await run('backup', '-o', archive, '--include-secrets')).toMatchObject({ exitCode: 0, err: '' });
  manifest = await manifestOf(archive);
}, 60_000);
afterAll(async () => {
  await server?.release();
  rmSync(folder, { recursive: true, force: true });
});

const rowsOf = ({ tables }: Manifest) =>
  tables.map(({ name, rows, parts }) => ({ name, rows, hashes: parts.map(({ sha256 }) => sha256) }));
/** Without jobs, which are paused by a restore. */
const unheld = (tables: ReturnType<typeof rowsOf>) => tables.filter(({ name }) => name !== 'queue_jobs');

describe('backup (operations 3.11)', () => {
  test('is a private tar.gz that tar can list, and leaves no other files', async () => {
    expect((statSync(inFolder(archive)).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(folder).filter((name) => name.startsWith(archive))).toEqual([archive]);
    const names = (await filesOf(archive)).map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['manifest.json', 'secrets/encryption.key']);
    expect(names).toContain('tables/users/000001.copy');
    expect(manifest).toMatchObject({ version: '1.2.3', left_out: expect.arrayContaining(['rate_limits']) });
    expect(manifest.migrations[0]).toMatchObject({ version: 1, name: 'baseline' });
  });

  test("F-14: does not depend on the database's time zone and date style", async () => {
    const settings = { timezone: 'Pacific/Apia', datestyle: 'German, DMY', intervalstyle: 'sql_standard' };
    if (server === undefined) throw new Error('the server runs');
    try {
      for (const [name, value] of Object.entries(settings)) {
        await query(server.connection, `alter database latchkey set ${name} = '${value}'`);
      }
      const path = fresh('elsewhere.tar.gz');
      expect(await run('backup', '-o', path)).toMatchObject({ exitCode: 0 });
      expect(rowsOf(await manifestOf(path))).toEqual(rowsOf(manifest));
    } finally {
      for (const name of Object.keys(settings)) await query(server.connection, `alter database latchkey reset ${name}`);
    }
  });

  test('contains neither key without --include-secrets, only the check value of the encryption key', async () => {
    const path = fresh('plain.tar.gz');
    const made = await run('--json', 'backup', '-o', path);
    expect(JSON.parse(made.out)).toMatchObject({ path: inFolder(path), tables: manifest.tables.length });
    const files = await filesOf(path);
    expect(files.filter(({ name }) => name.startsWith('secrets/'))).toEqual([]);
    const key = readFileSync(inFolder('data/encryption.key'), 'utf8').trim();
    expect(Buffer.concat(files.map(({ content }) => content)).includes(key)).toBe(false);
    expect((await manifestOf(path)).encryption_key_checks).toHaveLength(1);
  });

  test('is a consistent snapshot during writes: no row without the other one of its transaction', async () => {
    const writer = new Client({ ...server?.connection, ssl: false });
    await writer.connect();
    let writes = 0;
    let isDone = false;
    const writing = (async () => {
      while (!isDone) {
        writes += 1;
        await writer.query(addUser, [randomUUID(), 'somebody@example.com']);
      }
    })();
    const path = fresh('busy.tar.gz');
    const made = await run('backup', '-o', path);
    isDone = true;
    await writing;
    await writer.query(`delete from users where username not like 'person%'`);
    await writer.end();
    expect(made.exitCode).toBe(0);
    expect(writes).toBeGreaterThan(5);
    const tables = new Map((await manifestOf(path)).tables.map(({ name, rows }) => [name, rows]));
    expect(tables.get('users')).toBe(tables.get('user_emails'));
    expect(tables.get('users')).toBeGreaterThanOrEqual(USERS);
  });

  test.each<[why: string, argv: readonly string[], exitCode: number, says: string]>([
    ['a file that exists', ['backup', '-o', 'backup.tar.gz'], 73, 'exists'],
    ['no file', ['backup'], 2, '--output'],
    ['a folder that does not exist', ['backup', '-o', 'nowhere/x.tar.gz'], 1, 'no such file'],
    ['no database', ['--data-dir', 'none', 'backup', '-o', 'x.tar.gz'], 1, 'nothing to back up'],
  ])('%s: exit code with reason, and no file', async (_why, argv, exitCode, says) => {
    expect(await run(...argv)).toMatchObject({ exitCode, out: '', err: expect.stringContaining(says) });
    expect(existsSync(inFolder('x.tar.gz'))).toBe(false);
  });

  test('an external PostgreSQL: exit 2 and the name of its own tool', async () => {
    writeFileSync(inFolder('external.yaml'), 'database: { uri: "postgres://nobody@localhost/none" }');
    const made = await run('--config', 'external.yaml', 'backup', '-o', 'x.tar.gz');
    expect(made).toMatchObject({ exitCode: 2, err: expect.stringContaining('pg_dump') });
    const restored = await run('--config', 'external.yaml', 'restore', archive);
    expect(restored).toMatchObject({ exitCode: 2, err: expect.stringContaining('--to') });
  });
});

test('a contract migration of the embedded database is preceded by a backup that can be restored (operations 8.4)', async () => {
  const dataDir = fresh('older');
  const older = await use(dataDir);
  const directory = join(packageRoot, 'migrations');
  const log = silentLog;
  // Before the first contract migration of the versions before the first release.
  const only = readMigrations(join(directory, 'pre-release')).slice(0, 13);
  await migrate({ connection: older.connection, directory, log, clock: systemClock, only });
  await query(
    older.connection,
    `insert into users (id, username, username_key, created_at)
    values (gen_random_uuid(), 'amira', 'amira', now())`,
  );
  writeFileSync(inFolder(dataDir, 'before-1.0.0.tar.gz'), 'of an upgrade before');
  expect(await run('-q', '--data-dir', dataDir, 'database', 'migrate')).toMatchObject({ exitCode: 0 });
  const kept = readdirSync(inFolder(dataDir)).filter((name) => name.startsWith('before-'));
  expect(kept).toEqual(['before-1.2.3.tar.gz']);
  const path = join(dataDir, 'before-1.2.3.tar.gz');
  expect((statSync(inFolder(path)).mode & 0o777).toString(8)).toBe('600');
  expect((await manifestOf(path)).migrations.map(nameOf)).toEqual(only.map(nameOf));

  // A repeated upgrade attempt keeps the older state.
  await query(
    older.connection,
    'delete from schema_migrations where version = 19; alter table oauth2_pushed_requests add dpop_jkt text',
  );
  expect(await run('-q', '--data-dir', dataDir, 'database', 'migrate')).toMatchObject({ exitCode: 0 });
  expect((await manifestOf(path)).migrations).toHaveLength(only.length);
  await older.release();

  const target = await createEmptyDatabase();
  expect(await run('restore', path, '--to', target.connectionString)).toMatchObject({ exitCode: 0 });
  expect(await administer(target.connectionString, 'select username from users')).toEqual([{ username: 'amira' }]);
  await target.drop();
});

/** Returns the backup with a modified manifest. */
function changed(change: (document: Manifest) => void, files: readonly TarFile[]): string {
  const document = structuredClone(manifest);
  change(document);
  const content = Buffer.from(JSON.stringify(document));
  return writeArchive([{ name: 'manifest.json', content }, ...files.slice(1)]);
}

describe('restore (operations 3.11)', () => {
  let dataDir: string;
  const restore = (path: string, ...flags: string[]) => run('--data-dir', dataDir, 'restore', path, ...flags);
  beforeEach(() => {
    dataDir = fresh('data');
  });

  test('into a new directory: the same rows and hashes, the keys, and waiting jobs on hold', async () => {
    const restored = await restore(archive);
    expect(restored).toMatchObject({ exitCode: 0, err: '' });
    expect(restored.out).toContain('encryption.key');
    expect(readFileSync(inFolder(dataDir, 'encryption.key'))).toEqual(readFileSync(inFolder('data/encryption.key')));
    expect((statSync(inFolder(dataDir, 'encryption.key')).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(inFolder(dataDir)).filter((name) => name.startsWith('db'))).toEqual(['db']);
    const again = fresh('again.tar.gz');
    const use2 = await use(dataDir);
    expect(await run('--data-dir', dataDir, 'backup', '-o', again)).toMatchObject({ exitCode: 0 });
    expect(unheld(rowsOf(await manifestOf(again)))).toEqual(unheld(rowsOf(manifest)));
    const users = await query<{ email: string }>(use2.connection, 'select email from user_emails');
    expect(users.map(({ email }) => email)).toEqual(Array.from({ length: USERS }, () => ODD_TEXT));
    const jobs = await query(use2.connection, 'select from queue_jobs where failed_at is null');
    expect(jobs).toEqual([]);
    expect(await run('--data-dir', dataDir, 'restore', archive, '--force')).toMatchObject({
      exitCode: 75,
      err: expect.stringContaining('stop all Latchkey processes'),
    });
    await use2.release();

    const refused = await restore(archive);
    expect(refused).toMatchObject({ exitCode: 73, err: expect.stringContaining('--force') });
    const forced = await run('--json', '--data-dir', dataDir, 'restore', archive, '--force');
    const { moved_to: movedTo } = JSON.parse(forced.out);
    expect(movedTo).toMatch(/\/db\.before-restore-\d{8}T\d{6}Z$/);
    expect(readdirSync(movedTo)).toContain('PG_VERSION');
    // Simulates a kill between the two renames: the next start uses the complete directory.
    renameSync(inFolder(dataDir, 'db'), inFolder(dataDir, 'db.arriving'));
    mkdirSync(inFolder(dataDir, 'db.restore-0123456789ab/db'), { recursive: true });
    expect(await run('--data-dir', dataDir, 'database', 'migrate', '--check')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(inFolder(dataDir)).filter((name) => /^db\.(?!before)/.test(name))).toEqual([]);
  });

  test('into an empty PostgreSQL: the same rows; into one with rows: exit 73, rows unchanged', async () => {
    const target = await createEmptyDatabase();
    const to = ['restore', archive, '--to', target.connectionString];
    writeFileSync(inFolder('other.yaml'), 'http: { public_base: "https://other.example/" }');
    const restored = await run('--config', 'other.yaml', '--data-dir', dataDir, '--json', ...to);
    expect(restored).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(restored.out).warnings).toEqual([expect.stringContaining('https://other.example')]);
    for (const { name, rows } of manifest.tables) {
      const [found] = await administer<{ count: number }>(
        target.connectionString,
        `select count(*)::integer as count from ${name}`,
      );
      expect({ name, rows: found?.count }).toEqual({ name, rows });
    }
    const again = await run('--data-dir', dataDir, ...to);
    expect(again).toMatchObject({ exitCode: 73, err: expect.stringContaining('not empty') });
    expect(existsSync(inFolder(dataDir, 'db'))).toBe(false);
    await target.drop();
  });

  test('a backup without its key, or next to another key: exit 78 (security S-169)', async () => {
    const path = fresh('plain.tar.gz');
    await run('backup', '-o', path);
    expect(await restore(path)).toMatchObject({
      exitCode: 78,
      err: expect.stringContaining('does not contain its encryption key'),
    });
    mkdirSync(inFolder(dataDir), { mode: 0o711, recursive: true });
    writeFileSync(inFolder(dataDir, 'encryption.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    for (const one of [path, archive]) {
      expect(await restore(one)).toMatchObject({
        exitCode: 78,
        err: expect.stringContaining('an encryption key other than'),
      });
    }
    expect(existsSync(inFolder(dataDir, 'db'))).toBe(false);
  });

  test('includes a root key that is being replaced and earlier ones, which open what they sealed', async () => {
    const whereFrom = 'data';
    await publishNextRootKey(inFolder(whereFrom));
    const former = 'ef'.repeat(32);
    writeFileSync(inFolder(whereFrom, 'encryption.previous'), `${former}\n`, { mode: 0o600 });
    const path = fresh('rotated.tar.gz');
    expect(await run('backup', '-o', path, '--include-secrets')).toMatchObject({ exitCode: 0 });
    const keys = readRootKeys(inFolder(whereFrom)) ?? expect.fail('no root key');
    expect(keys.previous).toEqual([former]);
    const roots = [keys.current, ...keys.previous, keys.next ?? expect.fail('no next key')];
    const checks = roots.flatMap((root) => rootKeyChecks(new KeyRing(Buffer.from(root, 'hex'), [])));
    // Simulates a kill right before the new key is renamed.
    const files = await filesOf(path);
    const document = await manifestOf(path);
    const content = Buffer.from(
      JSON.stringify({ ...document, encryption_key_checks: checks.map((check) => check.toString('hex')) }),
    );
    const whole = writeArchive([{ name: 'manifest.json', content }, ...files.slice(1)]);
    const names = ['encryption.key', 'encryption.next.key', 'encryption.previous'];
    const placed = (directory: string) =>
      names.map((name) => ({
        content: readFileSync(inFolder(directory, name), 'utf8'),
        mode: (statSync(inFolder(directory, name)).mode & 0o777).toString(8),
      }));

    const targets = [await createEmptyDatabase(), await createEmptyDatabase()];
    const restoreTo = (directory: string, index: number) =>
      run('--json', '--data-dir', directory, 'restore', whole, '--to', targets[index]?.connectionString ?? '');
    const restored = await restoreTo(dataDir, 0);
    expect(restored).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(restored.out).secrets).toEqual(expect.arrayContaining(names));
    expect(placed(dataDir)).toEqual(placed(whereFrom));
    expect(placed(dataDir).map(({ mode }) => mode)).toEqual(['600', '600', '600']);

    // A data directory with a different key is rejected. One with the same key gets the other keys of the backup.
    const known = fresh('data');
    mkdirSync(inFolder(known), { mode: 0o711 });
    writeFileSync(inFolder(known, 'encryption.key'), `${'cd'.repeat(32)}\n`, { mode: 0o600 });
    expect(await restoreTo(known, 1)).toMatchObject({ exitCode: 78 });
    expect(readdirSync(inFolder(known)).filter((name) => name.startsWith('encryption'))).toEqual(['encryption.key']);
    writeFileSync(inFolder(known, 'encryption.key'), `${keys.current}\n`);
    expect(await restoreTo(known, 1)).toMatchObject({ exitCode: 0, err: '' });
    expect(placed(known)).toEqual(placed(whereFrom));
    for (const target of targets) await target.drop();
    for (const name of names.slice(1)) rmSync(inFolder(whereFrom, name));
  });

  test('a backup that does not match its manifest fails with exit 65, and the database stays empty', async () => {
    const target = await createEmptyDatabase();
    const users = (made: Manifest) => made.tables.find(({ name }) => name === 'users') ?? expect.fail('no users');
    const changes: [says: string, change: (made: Manifest) => void][] = [
      ['rows', (made) => (users(made).rows += 1)],
      ['tables', (made) => (users(made).name += 'x')],
      ['columns', (made) => (users(made).columns[0] = 'id) from program')],
    ];
    for (const [says, change] of changes) {
      const path = changed(change, await filesOf(archive));
      const refused = await restore(path, '--to', target.connectionString);
      expect(refused).toMatchObject({ exitCode: 65, err: expect.stringContaining(says) });
    }
    expect(await administer(target.connectionString, 'select from users')).toEqual([]);
    await target.drop();
  });

  test('--force with --to: exit 2; no file: exit 1', async () => {
    expect(await restore(archive, '--force', '--to', 'postgres://x/y')).toMatchObject({ exitCode: 2 });
    expect(await restore('none.tar.gz')).toMatchObject({ exitCode: 1, err: expect.stringContaining('no such file') });
  });

  describe('of a file that is not a complete backup: the exit code, and nothing is created', () => {
    const bent = (path: string, at: (bytes: Buffer) => Buffer): string => {
      const made = fresh('bent.tar.gz');
      writeFileSync(inFolder(made), at(readFileSync(inFolder(path))));
      return made;
    };
    const headerOf = (files: readonly TarFile[], edit: (header: Buffer) => void): string => {
      const evil = tarFile(files[1] ?? { name: '', content: Buffer.alloc(0) }, 0);
      edit(evil);
      evil.fill(' ', 148, 156);
      const sum = evil.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      evil.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      const path = fresh('evil.tar.gz');
      const [first = { name: '', content: Buffer.alloc(0) }] = files;
      writeFileSync(inFolder(path), gzipSync(Buffer.concat([tarFile(first, 0), evil, END_OF_ARCHIVE])));
      return path;
    };

    test.each<[what: string, make: (files: readonly TarFile[]) => string, exitCode: number, says: string]>([
      ['cut', () => bent(archive, (bytes) => bytes.subarray(0, -100)), 65, 'truncated'],
      ['text', () => bent(archive, () => Buffer.from('hello')), 65, 'compressed data is corrupted'],
      ['empty', () => bent(archive, () => Buffer.alloc(0)), 65, 'truncated'],
      ['compressed text', () => bent(archive, () => gzipSync('x'.repeat(600))), 65, 'not a tar archive'],
      ['one byte of a table', (files) => writeArchive(files.map(flip)), 65, 'checksum'],
      ['a missing table', (files) => writeArchive(files.slice(0, -1)), 65, 'is missing'],
      ['a missing manifest', (files) => writeArchive(files.slice(1)), 65, 'unexpected file'],
      [
        'a path outside',
        (files) => headerOf(files, (header) => header.write('../../etc/cron.d/x\0')),
        65,
        'unexpected file',
      ],
      ['a link', (files) => headerOf(files, (header) => header.write('2', 156)), 65, 'not a regular file'],
      ['a bomb', (files) => headerOf(files, (header) => header.write('77777777777', 124)), 65, 'larger'],
      ['data after the end', (files) => writeArchive(files, Buffer.alloc(200_000)), 65, 'data after its end'],
      [
        'a path in the manifest',
        (files) => changed((made) => (made.secrets[0] = { ...hash, name: 'secrets/../x' }), files),
        65,
        'secrets.0.name',
      ],
      [
        'a newer schema',
        (files) =>
          changed((made) => made.migrations.push({ version: 9000, name: 'later', checksum: hash.sha256 }), files),
        1,
        'newer schema',
      ],
      [
        'another migration',
        (files) =>
          changed((made) => (made.migrations[0] = { version: 1, name: 'baseline', checksum: hash.sha256 }), files),
        1,
        'differs from the one in this program',
      ],
      [
        'a later format',
        (files) => writeArchive([{ name: 'manifest.json', content: Buffer.from('{"format":2}') }, ...files.slice(1)]),
        65,
        'format',
      ],
    ])('%s', async (_what, make, exitCode, says) => {
      const path = make(await filesOf(archive));
      expect(await restore(path)).toMatchObject({ exitCode, out: '', err: expect.stringContaining(says) });
      const left = existsSync(inFolder(dataDir)) ? readdirSync(inFolder(dataDir)) : [];
      expect(left.filter((name) => name !== 'VERSION')).toEqual([]);
    });
  });
});

const hash = { bytes: 1, sha256: 'a'.repeat(64) };

function flip({ name, content }: TarFile): TarFile {
  if (!name.startsWith('tables/users/')) return { name, content };
  return { name, content: Buffer.concat([Buffer.from('X'), content.subarray(1)]) };
}
