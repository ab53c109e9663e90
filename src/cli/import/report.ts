/** Prints the findings, the progress and the results of an import. */
import { DatabaseError } from 'pg';
import type { Finding } from '#domain/import/finding.ts';
import type { EntityProgress } from '#domain/import/progress.ts';
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { ConnectionLost, readFailure, reasonOf } from '#platform/postgres/failures.ts';
import type { CommandIo, CommandOptions } from '../command-io.ts';
import { visible } from '../visible-text.ts';

const PROGRESS_MS = 5_000;

/** Prints the progress of an import every five seconds. */
export class ImportReport {
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt: number;
  #latest: EntityProgress | undefined;

  constructor(io: { stderr(text: string): void }, clock: Clock) {
    this.#startedAt = clock.now();
    this.#timer = setInterval(() => {
      if (this.#latest === undefined) return;
      const seconds = Math.round((clock.now() - this.#startedAt) / 1000);
      io.stderr(`latchkey: import: ${progressText(this.#latest)}, after ${seconds} s\n`);
    }, PROGRESS_MS);
  }

  note(progress: EntityProgress): void {
    this.#latest = progress;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function progressText({ entity, done, skipped, estimate }: EntityProgress): string {
  const of = estimate === undefined ? '' : ` of about ${estimate}`;
  return `${entity}: ${done} done, ${sumOf(skipped)} skipped${of}`;
}

function resultsText(results: readonly EntityProgress[], isDryRun: boolean): string {
  const lines = results.map(({ entity, done, skipped }) => {
    const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
    const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
    return `${entity}: ${done} done, ${sumOf(skipped)} skipped${why}\n`;
  });
  return `${lines.join('')}${isDryRun ? 'dry run: nothing was stored\n' : ''}`;
}

function sumOf(skipped: EntityProgress['skipped']): number {
  return Object.values(skipped).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/**
 * Database errors are the operator's to fix: the data violates a constraint here, or the server lacks space or time.
 */
export function toCallersError(error: unknown): unknown {
  const isLost = isConnectionLost(error);
  if (!isLost && !(error instanceof DatabaseError)) return error;
  const what = isLost ? 'a database connection was lost' : reasonOf(error);
  return new ExitError(
    isLost ? ExitCode.unavailable : ExitCode.failure,
    `the import failed and was rolled back: ${what}. Fix the problem and retry. ` +
      'Until then, the service does not start on this database, which is marked import-incomplete.',
    { cause: error },
  );
}

function isConnectionLost(error: unknown): boolean {
  const isEnded = error instanceof Error && /^Connection terminated|ECONNRESET/.test(error.message);
  return isEnded || readFailure('import', error, undefined) instanceof ConnectionLost;
}

export function printResults(
  results: readonly EntityProgress[],
  findings: readonly Finding[],
  dryRun: boolean,
  { isJson }: CommandOptions,
  io: CommandIo,
): void {
  const entities = results.map(({ entity, done, skipped }) => ({ entity, done, skipped }));
  const document = { dry_run: dryRun, entities, ...bySeverity(findings) };
  io.stdout(isJson ? `${JSON.stringify(document)}\n` : resultsText(results, dryRun));
}

export const TARGET_NOT_EMPTY: Finding = {
  severity: 'error',
  code: 'target_not_empty',
  message: 'the database already contains accounts; import into a new database before any user registers',
};

export function bySeverity(findings: readonly Finding[]) {
  const of = (wanted: Finding['severity']) => findings.filter(({ severity }) => severity === wanted);
  return { errors: of('error'), warnings: of('warning') };
}

export function findingsText(findings: readonly Finding[]): string {
  return findings
    .map(({ severity, code, message }) => `${severity.padEnd(7)}  ${code}: ${visible(message)}\n`)
    .join('');
}
