/** `latchkey import check` and `latchkey import migrate`, from a Synapse on PostgreSQL (operations 3.9). */
import { type Foundation, openFoundation } from '#app/service/foundation.ts';
import { syncDeps } from '#app/service/sync-deps.ts';
import { syncConfiguration } from '#app/sync-configuration.ts';
import { hasUsers } from '#domain/accounts/find-user.ts';
import type { Finding } from '#domain/import/finding.ts';
import { isImportIncomplete, markIncompleteImport } from '#domain/import/incomplete-import.ts';
import { ImportSource, type SourceKind } from '#domain/import/source.ts';
import { findingsOfData, hasPasswords, type SkippedKind } from '#domain/import/synapse/findings-of-data.ts';
import { type ImportPlan, importEverything } from '#domain/import/synapse/import-everything.ts';
import { SYNAPSE_IMPORT_TABLES } from '#domain/import/synapse/synapse-target.ts';
import { ImportTarget } from '#domain/import/target.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { connect } from '#platform/postgres/connect.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { findingsOfSettings } from './import/findings-of-settings.ts';
import { ImportReport } from './import/report.ts';
import { sourceConnection } from './import/source-connection.ts';
import { readSynapseConfiguration, type SynapseConfiguration } from './import/synapse-files.ts';
import { providersOf } from './import/synapse-settings.ts';
import { findingsText, printFindings, printResults, TARGET_NOT_EMPTY, toCallersError } from './import-results.ts';

export interface ImportOptions {
  readonly synapseConfig: readonly string[];
  readonly synapseDatabaseUri?: string;
  readonly ignoreMissingAuthProviders: boolean;
  readonly skip: readonly SkippedKind[];
}

const SYNAPSE: SourceKind = {
  expected: 'Synapse 1.136 or later',
  advice: 'Set --synapse-database-uri to the right database, or update Synapse and start it once.',
};

/** Context of both commands. */
interface Opened {
  readonly foundation: Foundation;
  readonly synapse: SynapseConfiguration;
  readonly source: ImportSource;
}

/**
 * Prints the findings.
 * @returns the exit code: 10 with errors, 11 with warnings only
 */
export async function checkImport(options: CommandOptions, command: ImportOptions, io: CommandIo): Promise<number> {
  return await withBoth(options, command, io, async (opened) => {
    return printFindings(await io.signals.race(findAll(opened, command)), options, io);
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
      if (options.isJson) printResults([], findings, command.dryRun, options, io);
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
      SYNAPSE_IMPORT_TABLES,
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
      printResults(results, findings, command.dryRun, options, io);
      return ExitCode.ok;
    } catch (error) {
      throw toCallersError(error);
    } finally {
      report.stop();
      target.close();
    }
  });
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
    const source = await ImportSource.open(connection, SYNAPSE, foundation.openLog.log);
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

function providersHere({ config }: Foundation): ReadonlyMap<string, string> {
  return new Map(
    config.upstreamOauth2.providers.flatMap(({ id, synapseIdpId }) =>
      synapseIdpId === undefined ? [] : [[synapseIdpId, toUuid(id)] as const],
    ),
  );
}
