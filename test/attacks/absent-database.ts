import { administer, withDatabase } from '../support/administer.ts';

/** Runs `work` while the database rejects connections. Terminates existing connections first. */
export async function withoutDatabase(connectionString: string, work: () => Promise<void>): Promise<void> {
  const name = new URL(connectionString).pathname.slice(1);
  const elsewhere = withDatabase(connectionString, 'postgres');
  await administer(elsewhere, `alter database ${name} with allow_connections false`);
  try {
    await administer(elsewhere, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await work();
  } finally {
    await administer(elsewhere, `alter database ${name} with allow_connections true`);
  }
}
