import type { TestProject } from 'vitest/node';
import { systemClock } from '#platform/base/clock.ts';
import { migrate } from '#platform/postgres/migrator/migrate.ts';
import { administer, withDatabase } from './administer.ts';
import { parseConnectionUri } from './connection-uri.ts';
import { startPostgresServer } from './postgres-server.ts';
import { silentLog } from './silent-log.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server that hosts the test databases, and the migrated template that they are cloned from. */
    testDatabases: { readonly adminUri: string; readonly template: string };
  }
}

/**
 * Provides one PostgreSQL server for the whole suite, with one migrated database that every test file clones. Starts a
 * server, or uses the one at `LATCHKEY_TEST_DATABASE_URI`, whose role must be allowed to create databases.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['LATCHKEY_TEST_DATABASE_URI'];
  const server = given === undefined ? await startPostgresServer() : { uri: given, remove: undefined };
  const template = `latchkey_template_${process.pid}_${project.name}`;
  try {
    await administer(server.uri, `create database ${template} template template0 encoding 'UTF8'`);
    await migrate({
      connection: parseConnectionUri(withDatabase(server.uri, template)),
      directory: new URL('../../migrations/', import.meta.url),
      log: silentLog,
      clock: systemClock,
    });
  } catch (error) {
    await server.remove?.();
    throw error;
  }
  project.provide('testDatabases', { adminUri: server.uri, template });
  return async () => {
    if (server.remove === undefined) await administer(server.uri, `drop database ${template} with (force)`);
    else await server.remove();
  };
}
