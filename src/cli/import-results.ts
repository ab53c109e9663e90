/** Findings, results and failures of an import, as its commands report them. */
import { DatabaseError } from 'pg';
import type { Finding } from '#domain/import/finding.ts';
import type { EntityProgress } from '#domain/import/progress.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { ConnectionLost, readFailure, reasonOf } from '#platform/postgres/failures.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { resultsText } from './import/report.ts';
import { visible } from './visible-text.ts';

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

/** @returns the exit code: 10 with errors, 11 with warnings only */
export function printFindings(findings: readonly Finding[], { isJson }: CommandOptions, io: CommandIo): number {
  const { errors, warnings } = bySeverity(findings);
  io.stdout(isJson ? `${JSON.stringify({ errors, warnings })}\n` : findingsText(findings));
  if (errors.length > 0) return ExitCode.doctorFails;
  return warnings.length > 0 ? ExitCode.doctorWarns : ExitCode.ok;
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
