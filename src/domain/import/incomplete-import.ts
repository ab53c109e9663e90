/**
 * A mark in `server_state` while an import is incomplete. Users of the homeserver are then missing: if the server
 * started, it would not recognize them, and others could register their names.
 */
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

const MARK = 'import-incomplete';

const findMark = statement<{ is_there: boolean }, NoParameters>(
  'find-incomplete-import',
  `select exists (select from server_state where key = '${MARK}') as is_there`,
);

const insertMark = statement<never, { readonly startedAt: Buffer }>(
  'mark-incomplete-import',
  `insert into server_state (key, value) values ('${MARK}', :startedAt::bytea) on conflict (key) do nothing`,
);

/** Used in the transaction of the import itself. */
export const DELETE_INCOMPLETE_IMPORT = `delete from server_state where key = '${MARK}'`;

export async function isImportIncomplete(database: Queryable): Promise<boolean> {
  return (await database.first(findMark, {}))?.is_there === true;
}

/** @param now milliseconds since the epoch */
export async function markIncompleteImport(database: Queryable, now: number): Promise<void> {
  await database.execute(insertMark, { startedAt: Buffer.from(new Date(now).toISOString()) });
}

/** @throws ExitError 1 with instructions */
export async function requireCompleteImport(database: Queryable): Promise<void> {
  if (!(await isImportIncomplete(database))) return;
  throw new ExitError(
    ExitCode.failure,
    'an import into this database is incomplete (import-incomplete), so accounts are missing. ' +
      'Rerun the same command, latchkey import migrate or latchkey import mas migrate. To abandon the import, run it with --dry-run.',
  );
}
