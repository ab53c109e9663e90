import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConnectionUri } from '#test/support/connection-uri.ts';
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/database.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { ImportSource } from './source.ts';

const KIND = { expected: 'a server', advice: 'Use another database.' };
let made: EmptyDatabase;

beforeAll(async () => {
  made = await createEmptyDatabase();
});
afterAll(async () => {
  await made.drop();
});

async function withSource(work: (source: ImportSource) => Promise<void>): Promise<void> {
  const source = await ImportSource.open(parseConnectionUri(made.connectionString), KIND, silentLog);
  try {
    await work(source);
  } finally {
    source.close();
  }
}

test('a source refuses every write, in its transaction and after it', async () => {
  const write = 'create table written (id integer)';
  await withSource(async (source) => {
    await expect(source.rows(write)).rejects.toThrow('read-only transaction');
  });
  await withSource(async (source) => {
    await source.rows('commit');
    await expect(source.rows(write)).rejects.toThrow('read-only transaction');
  });
});

test('a source shows the state at its first query until it is closed', async () => {
  const client = new Client({ connectionString: made.connectionString });
  await client.connect();
  try {
    await client.query('create table numbers as select 1 as n');
    await withSource(async (source) => {
      expect(await source.rows('select n from numbers')).toEqual([{ n: 1 }]);
      await client.query('insert into numbers values (2)');
      expect(await source.rows('select n from numbers')).toEqual([{ n: 1 }]);
    });
  } finally {
    await client.end();
  }
});
