import type { InstanceState } from '#domain/instance-state.ts';
import type { Log } from '#platform/base/log.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { isSchemaUsable } from '#platform/postgres/migrator/migration-state.ts';

const INTERVAL_MS = 60_000;
/** Beyond it, what has expired here has not there (operations 8.1). */
const MAX_SKEW_MS = 60_000;

export interface Watched {
  readonly database: OpenDatabase;
  readonly log: Log;
  readonly state: Pick<InstanceState, 'isClockRight' | 'isSchemaUsable'>;
  /** Folder of the migrations of this program. */
  readonly migrations: string;
}

/** Compares clock and schema of the database with this process, once a minute. @returns a function that ends it */
export function watchDatabase(watched: Watched): () => void {
  const timer = setInterval(() => void checkDatabase(watched), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** One comparison. While the database cannot be reached there is nothing to compare, and the health check says that. */
export async function checkDatabase({ database, log, state, migrations }: Watched): Promise<void> {
  try {
    // `db.skew` is logged by the database itself.
    const isClockRight = Math.abs(await database.skewMs()) <= MAX_SKEW_MS;
    if (state.isClockRight && !isClockRight) {
      log.error('db.skew', 'not ready: set the clock of this machine or of the database; /health answers 503 clock');
    }
    state.isClockRight = isClockRight;
    const isUsable = await isSchemaUsable(database, migrations);
    if (state.isSchemaUsable && !isUsable) {
      log.error('db.migrate', 'not ready: the schema does not fit this version; /health answers 503 migrations');
    }
    state.isSchemaUsable = isUsable;
  } catch {
    log.debug('db.skew', 'clock and schema of the database could not be read');
  }
}
