import pg from 'pg';

/** Runs one statement on a separate connection, so that tests can prepare and inspect databases. */
export async function administer<Row extends pg.QueryResultRow>(uri: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: uri });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the URI with another database name. */
export function withDatabase(uri: string, database: string): string {
  const url = new URL(uri);
  url.pathname = `/${database}`;
  return url.href;
}
