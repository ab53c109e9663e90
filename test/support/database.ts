import { randomBytes } from 'node:crypto';
import { inject, type ProvidedContext } from 'vitest';
import { systemClock } from '#platform/base/clock.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import type { DatabaseOptions } from '#platform/postgres/database-options.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { administer, withDatabase } from './administer.ts';
import { parseConnectionUri } from './connection-uri.ts';
import { silentLog } from './silent-log.ts';

export interface TestDatabase {
  readonly database: OpenDatabase;
  /** For a second process or a second `openDatabase` on the same data. Close those before `drop`. */
  readonly connectionString: string;
  /** Closes and drops the database. Throws when the test left its own connections open. */
  drop(): Promise<void>;
}

/** A database without tables. */
export interface EmptyDatabase {
  readonly connectionString: string;
  /** Throws when the test left connections open. */
  drop(): Promise<void>;
}

/** Creates an empty, migrated database for one test file, cloned from the suite's template. */
export async function createTestDatabase(options: Partial<DatabaseOptions> = {}): Promise<TestDatabase> {
  const made = await createDatabase(provided().template);
  const database = await openDatabase({
    connection: parseConnectionUri(made.connectionString),
    log: silentLog,
    clock: systemClock,
    // Slow statements depend on the machine and must not appear in a test's log.
    slowStatementSeconds: 3_600,
    ...options,
  });
  return {
    database,
    connectionString: made.connectionString,
    drop: async () => {
      await database.close();
      await made.drop();
    },
  };
}

/** For tests that run the migrations themselves. */
export function createEmptyDatabase({ encoding = 'UTF8' } = {}): Promise<EmptyDatabase> {
  return createDatabase(`template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`);
}

async function createDatabase(template: string): Promise<EmptyDatabase> {
  const { adminUri } = provided();
  const name = `latchkey_test_${randomBytes(6).toString('hex')}`;
  await administer(adminUri, `create database ${name} template ${template}`);
  return {
    connectionString: withDatabase(adminUri, name),
    drop: async () => {
      const left = await connectionsLeft(adminUri, name);
      await administer(adminUri, `drop database ${name} with (force)`);
      if (left.length > 0) throw new Error(`connections left open by this test file: ${left.join(', ')}`);
    },
  };
}

function provided(): ProvidedContext['testDatabases'] {
  const databases: ProvidedContext['testDatabases'] | undefined = inject('testDatabases');
  if (databases === undefined)
    throw new Error('this test needs a database: run it with npm test instead of npm run unit');
  return databases;
}

/** Polls, because the server takes a while to notice a closed socket. */
async function connectionsLeft(adminUri: string, name: string): Promise<string[]> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const rows = await administer<{ application_name: string; query: string }>(
      adminUri,
      `select application_name, query from pg_stat_activity where datname = '${name}'`,
    );
    if (rows.length === 0 || performance.now() > deadline) {
      return rows.map((row) => `${row.application_name} (${row.query})`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
