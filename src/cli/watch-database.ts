import type { InstanceState } from '#domain/instance-state.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { readBacklog } from '#platform/jobs/backlog.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { isSchemaUsable } from '#platform/postgres/migrator/migration-state.ts';

const INTERVAL_MS = 60_000;
/** Beyond it, what has expired here has not there (operations 8.1). */
const MAX_SKEW_MS = 60_000;

/** From here on mails are refused (operations 9.4). */
const MAX_LATE_MS = 600_000;
const MAX_DUE_JOBS = 100_000;

export interface Watched {
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: Pick<InstanceState, 'isClockRight' | 'isQueueBehind' | 'isSchemaUsable'>;
  /** Folder of the migrations of this program. */
  readonly migrations: string;
}

/** Compares clock and schema of the database with this process and looks at the queue, once a minute. @returns a function that ends it */
export function watchDatabase(watched: Watched): () => void {
  const timer = setInterval(() => void checkDatabase(watched), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** One comparison. While the database cannot be reached there is nothing to compare, and the health check says that. */
export async function checkDatabase(watched: Watched): Promise<void> {
  const { database, log, state, migrations } = watched;
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
    if (isUsable) await checkQueue(watched);
  } catch {
    log.debug('db.skew', 'clock and schema of the database could not be read');
  }
}

async function checkQueue({ database, clock, log, state }: Watched): Promise<void> {
  const { oldestMs, due } = await readBacklog(database, clock.now(), MAX_DUE_JOBS + 1);
  const isBehind = oldestMs > MAX_LATE_MS || due > MAX_DUE_JOBS;
  const fields = { due, oldest_seconds: Math.round(oldestMs / 1000) };
  if (isBehind && !state.isQueueBehind) {
    log.warn('job.behind', 'background work is late; forms that send a mail say that it is too many for now', fields);
  }
  if (!isBehind && state.isQueueBehind) log.info('job.behind', 'background work has caught up', fields);
  state.isQueueBehind = isBehind;
}
