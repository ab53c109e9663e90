import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { administer } from '#test/support/administer.ts';
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { runCommand } from './run-command.test-support.ts';

const ROLE = 'status_may_not_create';
const ADVICE = `the role ${ROLE} may not create tables in schema public of database`;
const GRANT = `grant usage, create on schema public to ${ROLE}`;

let directory: string;
let database: EmptyDatabase;
let uri: URL;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-status-'));
  database = await createEmptyDatabase();
  await administer(database.connectionString, `create role ${ROLE} login`);
  uri = new URL(database.connectionString);
  uri.username = ROLE;
});
afterEach(async () => {
  await administer(database.connectionString, `drop owned by ${ROLE}`);
  await administer(database.connectionString, `drop role ${ROLE}`);
  await database.drop();
  rmSync(directory, { recursive: true });
});

async function run(...words: readonly string[]) {
  const file = join(directory, 'latchkey.yaml');
  const settings = { data_dir: join(directory, 'data'), database: { uri: uri.href } };
  writeFileSync(file, stringify(settings), { mode: 0o600 });
  return await runCommand([...words, '-c', file], { workingDirectory: directory });
}

describe('database status, with a role that may not create tables', () => {
  test('reports why it cannot migrate and what to grant, until that is granted', async () => {
    const { exitCode, out } = await run('database', 'status');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^pending: 0001-/m);
    expect(out).toMatch(new RegExp(`^cannot migrate: ${ADVICE} \\S+\\. Run "${GRANT}" in this database`, 'm'));
    await administer(database.connectionString, GRANT);
    expect((await run('database', 'status')).out).not.toContain('cannot migrate');
  });

  test('contains the reason in its JSON document, and null without one', async () => {
    const problem = async (): Promise<unknown> => JSON.parse((await run('--json', 'database', 'status')).out).problem;
    expect(await problem()).toEqual(expect.stringContaining(ADVICE));
    await administer(database.connectionString, GRANT);
    expect(await problem()).toBeNull();
  });
});

test('doctor reports a role that may not create tables, with what to grant', async () => {
  const { exitCode, out } = await run('--json', 'doctor');
  expect(exitCode).toBe(10);
  const findings: { readonly name: string }[] = JSON.parse(out);
  expect(findings.filter(({ name }) => name === 'database')).toEqual([
    {
      name: 'database',
      status: 'fail',
      message: expect.stringMatching(new RegExp(`${ADVICE} .*${GRANT}`)),
      hint: 'See docs/guides/postgresql.md for how to set up the database',
    },
  ]);
});
