/** `latchkey import check` and `latchkey import migrate`, from a Synapse on PostgreSQL (operations 3.9). */
import { DatabaseError } from 'pg';
import { type Foundation, openFoundation } from '#app/service/foundation.ts';
import { syncDeps } from '#app/service/sync-deps.ts';
import { syncConfiguration } from '#app/sync-configuration.ts';
import { hasUsers } from '#domain/accounts/find-user.ts';
import { isImportIncomplete, markIncompleteImport } from '#domain/import/incomplete-import.ts';
import type { Finding } from '#domain/import/synapse/finding.ts';
import { findingsOfData, hasPasswords, type SkippedKind } from '#domain/import/synapse/findings-of-data.ts';
import { type EntityProgress, type ImportPlan, importEverything } from '#domain/import/synapse/import-everything.ts';
import { SynapseSource } from '#domain/import/synapse/source.ts';
import { ImportTarget } from '#domain/import/synapse/target.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { connect } from '#platform/postgres/connect.ts';
import { ConnectionLost, readFailure, reasonOf } from '#platform/postgres/failures.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { findingsOfSettings } from './import/findings-of-settings.ts';
import { ImportReport, resultsText } from './import/report.ts';
import { sourceConnection } from './import/source-connection.ts';
import { readSynapseConfiguration, type SynapseConfiguration } from './import/synapse-files.ts';
import { providersOf } from './import/synapse-settings.ts';
import { visible } from './visible-text.ts';

export interface ImportOptions {
  readonly synapseConfig: readonly string[];
  readonly synapseDatabaseUri?: string;
  readonly ignoreMissingAuthProviders: boolean;
  readonly skip: readonly SkippedKind[];
}

/** Context of both commands. */
interface Opened {
  readonly foundation: Foundation;
  readonly synapse: SynapseConfiguration;
  readonly source: SynapseSource;
}

/**
 * Prints the findings.
 * @returns the exit code: 10 with errors, 11 with warnings only
 */
export async function checkImport(options: CommandOptions, command: ImportOptions, io: CommandIo): Promise<number> {
  return await withBoth(options, command, io, async (opened) => {
    const findings = await io.signals.race(findAll(opened, command));
    const { errors, warnings } = bySeverity(findings);
    io.stdout(options.isJson ? `${JSON.stringify({ errors, warnings })}\n` : findingsText(findings));
    if (errors.length > 0) return ExitCode.doctorFails;
    return warnings.length > 0 ? ExitCode.doctorWarns : ExitCode.ok;
  });
}

export interface MigrateOptions extends ImportOptions {
  /** Roll back at the end. */
  readonly dryRun: boolean;
}

/**
 * Imports everything unless a finding prevents it.
 * @returns the exit code: 10 if one does
 */
export async function migrateFromSynapse(
  options: CommandOptions,
  command: MigrateOptions,
  io: CommandIo,
): Promise<number> {
  return await withBoth(options, command, io, async (opened) => {
    const { foundation, source, synapse } = opened;
    await io.signals.race(syncConfiguration(syncDeps(foundation), foundation.config));
    const findings = await io.signals.race(findAll(opened, command));
    io.stderr(findingsText(findings.filter(({ severity }) => severity === 'error' || !options.isQuiet)));
    if (findings.some(({ severity }) => severity === 'error')) {
      if (options.isJson) printResults([], findings, command, options, io);
      return ExitCode.doctorFails;
    }

    const { database, directConnection } = foundation;
    const plan: ImportPlan = {
      serverName: synapse.settings.server_name,
      providers: providersHere(foundation),
      empties: await isImportIncomplete(database),
      keeps: !command.dryRun,
    };
    const target = new ImportTarget(
      await connect({ connection: directConnection, applicationName: `latchkey:${process.pid}` }),
    );
    const report = new ImportReport(io, systemClock);
    try {
      const results = await io.signals.race(
        importEverything(
          {
            ...{ source, target, clock: systemClock },
            onProgress: (progress) => report.note(progress),
            onBegun: async () => {
              if (plan.keeps) await markIncompleteImport(database, systemClock.now());
            },
          },
          plan,
        ),
      );
      printResults(results, findings, command, options, io);
      return ExitCode.ok;
    } catch (error) {
      throw toCallersError(error);
    } finally {
      report.stop();
      target.close();
    }
  });
}

/**
 * Database errors are the operator's to fix: the data violates a constraint here, or the server lacks space or time.
 */
function toCallersError(error: unknown): unknown {
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

function printResults(
  results: readonly EntityProgress[],
  findings: readonly Finding[],
  { dryRun }: MigrateOptions,
  { isJson }: CommandOptions,
  io: CommandIo,
): void {
  const entities = results.map(({ entity, done, skipped }) => ({ entity, done, skipped }));
  const document = { dry_run: dryRun, entities, ...bySeverity(findings) };
  io.stdout(isJson ? `${JSON.stringify(document)}\n` : resultsText(results, dryRun));
}

async function withBoth(
  options: CommandOptions,
  command: ImportOptions,
  io: CommandIo,
  work: (opened: Opened) => Promise<number>,
): Promise<number> {
  const synapse = readSynapseConfiguration(command.synapseConfig, io.workingDirectory);
  const connection = sourceConnection(synapse, command.synapseDatabaseUri, io.environment);
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
    mayBeIncomplete: true,
  });
  try {
    const source = await SynapseSource.open(connection, foundation.openLog.log);
    try {
      return await work({ foundation, synapse, source });
    } finally {
      source.close();
    }
  } finally {
    await foundation.close();
  }
}

async function findAll({ foundation, synapse, source }: Opened, command: ImportOptions): Promise<readonly Finding[]> {
  const { config, database } = foundation;
  const isTaken = (await hasUsers(database)) && !(await isImportIncomplete(database));
  const { settings } = synapse;
  return [
    ...(isTaken ? [TARGET_NOT_EMPTY] : []),
    ...findingsOfSettings(settings, config, await hasPasswords(source)),
    ...(await findingsOfData(source, {
      serverName: settings.server_name,
      configuredThere: providersOf(settings).map(({ name }) => name),
      configuredHere: new Set(providersHere(foundation).keys()),
      ignoresMissingProviders: command.ignoreMissingAuthProviders,
      skips: new Set(command.skip),
    })),
  ];
}

const TARGET_NOT_EMPTY: Finding = {
  severity: 'error',
  code: 'target_not_empty',
  message: 'the database already contains accounts; import into a new database before any user registers',
};

function providersHere({ config }: Foundation): ReadonlyMap<string, string> {
  return new Map(
    config.upstreamOauth2.providers.flatMap(({ id, synapseIdpId }) =>
      synapseIdpId === undefined ? [] : [[synapseIdpId, toUuid(id)] as const],
    ),
  );
}

function bySeverity(findings: readonly Finding[]) {
  const of = (wanted: Finding['severity']) => findings.filter(({ severity }) => severity === wanted);
  return { errors: of('error'), warnings: of('warning') };
}

function findingsText(findings: readonly Finding[]): string {
  return findings
    .map(({ severity, code, message }) => `${severity.padEnd(7)}  ${code}: ${visible(message)}\n`)
    .join('');
}
