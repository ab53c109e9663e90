import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root } from '../../scripts/steps/places.js';
import { prepare } from '../../scripts/steps/prepare.js';
import { administer, withDatabase } from './administer.ts';
import { migrateDatabase, startMigratedServer } from './migrated-server.ts';

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
  // Set by `scripts/test.js`.
  const building = process.env['LATCHKEY_TEST_BUILD'] === undefined ? undefined : prepare({ withTools: true });
  if (given !== undefined) {
    await building;
    return await useServer(project, given);
  }
  const [{ server, template }] = await Promise.all([startMigratedServer(), building]);
  project.provide('testDatabases', { adminUri: server.uri, template });
  return () => server.remove();
}

async function useServer(project: TestProject, adminUri: string): Promise<() => Promise<void>> {
  const template = `latchkey_template_${process.pid}_${project.name}`;
  const drop = async () => {
    await administer(adminUri, `drop database ${template} with (force)`);
  };
  await administer(adminUri, `create database ${template} template template0 encoding 'UTF8'`);
  try {
    await migrateDatabase(withDatabase(adminUri, template), join(root, 'migrations'));
  } catch (error) {
    await drop();
    throw error;
  }
  project.provide('testDatabases', { adminUri, template });
  return drop;
}
