import { connectPatiently } from './connect-patiently.ts';
import { completeOptions, type DatabaseOptions } from './options.ts';
import { type OpenDatabase, PostgresDatabase } from './postgres-database.ts';
import { checkServer } from './server-checks.ts';

export type { OpenDatabase } from './postgres-database.ts';

/**
 * Connects to PostgreSQL, trying again until `connectTimeoutSeconds` are over, and checks that it can be used.
 * @throws ExitError 69 when it cannot be reached or cannot serve (`checkServer`)
 */
export async function openDatabase(given: DatabaseOptions): Promise<OpenDatabase> {
  const options = completeOptions(given);
  const client = await connectPatiently(options, options.connectTimeoutSeconds, options.log);
  try {
    await checkServer(client);
  } finally {
    await client.end();
  }
  return new PostgresDatabase(options);
}
