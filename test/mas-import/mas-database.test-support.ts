/** A database of Matrix Authentication Service 1.9, for tests without it: tables, keys and what an import reads. */
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { createEmptyDatabase } from '#test/support/database.ts';

export interface MasDatabase {
  readonly uri: string;
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Adds a row. Times that are not given are `2025-01-01`. */
  add(table: string, row: Readonly<Record<string, unknown>>): Promise<void>;
  /** Deletes all rows. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

const SCHEMA = readFileSync(new URL('mas-schema.sql', import.meta.url), 'utf8');

const TABLES = `users, user_emails, user_passwords, user_unsupported_third_party_ids, user_terms, user_registration_tokens,
  user_sessions, upstream_oauth_providers, upstream_oauth_links, upstream_oauth_authorization_sessions,
  user_session_authentications, oauth2_clients, oauth2_sessions, oauth2_access_tokens, oauth2_refresh_tokens,
  compat_sessions, compat_access_tokens, compat_refresh_tokens, personal_sessions, personal_access_tokens, policy_data,
  queue_jobs, queue_workers`;

export async function createMasDatabase(): Promise<MasDatabase> {
  const made = await createEmptyDatabase();
  const client = new Client({ connectionString: made.connectionString });
  await client.connect();
  await client.query(SCHEMA);
  const query = async (text: string, values: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(text, [...values])).rows;
  const { rows: timed } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public'
       and column_name = 'created_at' and is_nullable = 'NO'`,
  );
  const hasTime = new Set(timed.map(({ name }) => name));
  return {
    uri: made.connectionString,
    query,
    add: async (table, row) => {
      const full = hasTime.has(table) ? { created_at: '2025-01-01T00:00:00Z', ...row } : row;
      const names = Object.keys(full);
      const places = names.map((_, index) => `$${index + 1}`).join(', ');
      await query(`insert into ${table} (${names.join(', ')}) values (${places})`, Object.values(full));
    },
    clear: async () => {
      await query(`truncate ${TABLES}`);
    },
    drop: async () => {
      await client.end();
      await made.drop();
    },
  };
}
