import type { Client } from 'pg';

const CREATE = /^create (?:unique )?index concurrently ([a-z0-9_]+) on /;
const DROP = /^drop index concurrently if exists [a-z0-9_]+$/;

/**
 * Runs a migration that builds or drops indexes without holding up writers. PostgreSQL allows that only outside a
 * transaction, so each statement stands by itself and can be repeated: an index that is there is left alone, and one
 * that an interrupted build left behind invalid is dropped and built anew.
 * @param lockTimeoutMs longest wait for transactions that began earlier; nobody else waits behind it
 * @throws Error when a statement is none of the two kinds
 */
export async function runIndexStatements(client: Client, text: string, lockTimeoutMs: number): Promise<void> {
  const statements = text
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .filter((statement) => statement !== '');
  await client.query(`set statement_timeout = 0; set lock_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`);
  for (const statement of statements) {
    const [, index] = CREATE.exec(statement) ?? [];
    if (index === undefined && !DROP.test(statement)) {
      throw new Error(`only "create index concurrently" and "drop index concurrently if exists", not: ${statement}`);
    }
    const state = index === undefined ? 'absent' : await stateOf(client, index);
    if (state === 'valid') continue;
    if (state === 'invalid') await client.query(`drop index concurrently ${index}`);
    await client.query(statement);
  }
}

async function stateOf(client: Client, index: string): Promise<'absent' | 'valid' | 'invalid'> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid and indisready as valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  );
  if (rows[0] === undefined) return 'absent';
  return rows[0].valid ? 'valid' : 'invalid';
}
