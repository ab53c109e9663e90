/** `latchkey database status` (operations 3.4): the server, its schema, and the processes using it. Read-only. */

import { migrationsOf } from '#app/service/foundation.ts';
import { systemClock } from '#platform/base/clock.ts';
import { readBacklog } from '#platform/jobs/backlog.ts';
import { listLiveProcesses } from '#platform/jobs/registered-processes.ts';
import { type DatabaseFacts, readDatabaseFacts } from '#platform/postgres/database-facts.ts';
import { migrationStatus } from '#platform/postgres/migrator/migrate.ts';
import { nameOf } from '#platform/postgres/migrator/migration-state.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { withServer } from './database.ts';
import { visible } from './visible-text.ts';

const MAX_COUNTED_JOBS = 100_000;

/** @returns the exit code */
export async function databaseStatus(options: CommandOptions, io: CommandIo): Promise<number> {
  return await withServer(options, io, async (server, log, config) => {
    const state = await migrationStatus(migrationsOf(config, server.directConnection, log, io.version));
    const { connection } = server;
    const { connectTimeoutSeconds } = config.database;
    const database = await openDatabase({ connection, log, clock: systemClock, connectTimeoutSeconds });
    try {
      const now = systemClock.now();
      const isMigrated = state.pending.length === 0;
      const status: Status = {
        kind: config.database.server.kind === 'embedded' ? 'embedded' : 'external',
        facts: await readDatabaseFacts(database),
        applied: state.applied.map(nameOf),
        pending: state.pending.map(nameOf),
        unknown: state.unknown.map(nameOf),
        problem: state.problem,
        // The tables may not exist yet.
        processes: isMigrated ? await listLiveProcesses(database, now) : [],
        backlog: isMigrated ? await readBacklog(database, now, MAX_COUNTED_JOBS) : { due: 0, oldestMs: 0 },
        now,
      };
      io.stdout(options.isJson ? `${JSON.stringify(documentOf(status))}\n` : textOf(status));
      return 0;
    } finally {
      await database.close();
    }
  });
}

interface Status {
  readonly kind: 'embedded' | 'external';
  readonly facts: DatabaseFacts;
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly unknown: readonly string[];
  /** Why pending migrations cannot be applied. */
  readonly problem: string | undefined;
  readonly processes: Awaited<ReturnType<typeof listLiveProcesses>>;
  /** Due jobs that are waiting. */
  readonly backlog: { readonly due: number; readonly oldestMs: number };
  readonly now: number;
}

function documentOf({ kind, facts, applied, pending, unknown, problem, processes, backlog, now }: Status) {
  const { serverVersion, sizeBytes, largestTables } = facts;
  return {
    ...{ kind, server_version: serverVersion, size_bytes: sizeBytes },
    ...{ applied, pending, unknown, problem: problem ?? null },
    largest_tables: largestTables.map(({ name, estimatedRows, bytes }) => {
      return { name, estimated_rows: estimatedRows, bytes };
    }),
    processes: processes.map(({ name, version, works, started_at, last_seen_at }) => {
      const [started, seen] = [timeOf(started_at), timeOf(last_seen_at)];
      return { name, version, does_background_work: works, started_at: started, last_seen_at: seen };
    }),
    due_jobs: backlog.due,
    oldest_job_due_at: backlog.due === 0 ? null : timeOf(now - backlog.oldestMs),
  };
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function textOf({ kind, facts, applied, pending, unknown, problem, processes, backlog, now }: Status): string {
  const names = (list: readonly string[]): string => (list.length === 0 ? 'none' : list.join(', '));
  const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const tables = facts.largestTables.map(
    ({ name, estimatedRows, bytes }) =>
      `  ${name}: ${estimatedRows === null ? 'rows not estimated yet' : `about ${estimatedRows} rows`}, ${mebibytes(bytes)}\n`,
  );
  const living = processes.map(({ name, version, works, last_seen_at }) => {
    const work = works ? 'runs background jobs' : 'no background jobs';
    return `  ${visible(name)}: ${version}, ${work}, last seen ${seconds(now - last_seen_at)} s ago\n`;
  });
  const waiting = backlog.due === 0 ? 'none' : `${backlog.due}, the oldest for ${seconds(backlog.oldestMs)} s`;
  return (
    `server: ${kind} PostgreSQL ${facts.serverVersion}, ${mebibytes(facts.sizeBytes)}\n` +
    `applied: ${names(applied)}\npending: ${names(pending)}\nunknown: ${names(unknown)}\n` +
    (problem === undefined ? '' : `cannot migrate: ${problem}\n`) +
    `largest tables:\n${tables.join('')}` +
    `processes:${living.length === 0 ? ' none' : `\n${living.join('').trimEnd()}`}\n` +
    `due jobs: ${waiting}\n`
  );
}

function seconds(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds / 1000));
}
