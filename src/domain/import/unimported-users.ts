/**
 * A new database beside a homeserver that has users: they would be unknown here, and an import needs a database without
 * accounts. The homeserver cannot list its users, so it is asked about names that administrators usually have.
 */
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

/** The operator started with `--fresh` before the first account existed. */
const MARK = 'fresh-start';

const COMMON_NAME = 'admin';
const MAX_NAMES = 10;
/** One call takes a second at most. */
const TOTAL_MS = 2_000;

const findUse = statement<{ is_used: boolean }, NoParameters>(
  'find-use-of-database',
  `select exists (select from users) or exists (select from server_state where key = '${MARK}') as is_used`,
);

const insertMark = statement<never, { readonly startedAt: Buffer }>(
  'mark-fresh-start',
  `insert into server_state (key, value)
   select '${MARK}', :startedAt::bytea where not exists (select from users)
   on conflict (key) do nothing`,
);

export interface UnimportedDeps {
  readonly database: Queryable;
  readonly homeserver: Pick<Homeserver, 'isConnected' | 'queryUser'>;
}

/**
 * Returns the name of a user at the homeserver if this database has no accounts and was not started with `--fresh`.
 * Undefined if none of the names is known there, or the homeserver does not respond in time.
 * @param names usernames in the configuration
 */
export async function findUnimportedUser(
  { database, homeserver }: UnimportedDeps,
  names: readonly string[],
): Promise<string | undefined> {
  if (!homeserver.isConnected) return undefined;
  if ((await database.first(findUse, {}))?.is_used === true) return undefined;
  return await findUserAtHomeserver(homeserver, names);
}

/** The same for a database that is known to be new. */
export async function findUserAtHomeserver(
  homeserver: UnimportedDeps['homeserver'],
  names: readonly string[],
): Promise<string | undefined> {
  if (!homeserver.isConnected) return undefined;
  const giveUpAt = performance.now() + TOTAL_MS;
  for (const name of [...new Set([...names.slice(0, MAX_NAMES), COMMON_NAME])]) {
    const known = await homeserver.queryUser(name, { kind: 'page' });
    if (known.ok) return name;
    if (known.reason === 'unavailable' || performance.now() > giveUpAt) return undefined;
  }
  return undefined;
}

/** Lets the service start on a database without accounts. Does nothing if there are accounts. @param now milliseconds since the epoch */
export async function markFreshStart(database: Queryable, now: number): Promise<void> {
  await database.execute(insertMark, { startedAt: Buffer.from(new Date(now).toISOString()) });
}

/** @throws ExitError 78 with instructions */
export async function requireImportedUsers(deps: UnimportedDeps, names: readonly string[]): Promise<void> {
  const name = await findUnimportedUser(deps, names);
  if (name === undefined) return;
  throw new ExitError(
    ExitCode.config,
    `the homeserver has the user ${name}, but this database has no accounts: import first. ` +
      'Run latchkey import mas (from Matrix Authentication Service) or latchkey import migrate (from Synapse). ' +
      'To start without these users, run latchkey serve --fresh once.',
  );
}
