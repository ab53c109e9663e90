/** `latchkey import mas check` and `migrate`, from the database of Matrix Authentication Service (operations 3.9). */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Foundation, loadSigningKeys, openFoundation } from '#app/service/foundation.ts';
import { syncDeps } from '#app/service/sync-deps.ts';
import { syncConfiguration } from '#app/sync-configuration.ts';
import type { Config } from '#config/config.ts';
import { addPolicyData } from '#config/policy-data.ts';
import { uriConnection } from '#config/uri-connection.ts';
import { hasUsers } from '#domain/accounts/find-user.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import type { Finding } from '#domain/import/finding.ts';
import { markIncompleteImport } from '#domain/import/incomplete-import.ts';
import { findingsOfMas } from '#domain/import/mas/findings-of-data.ts';
import { findingsOfHomeserver } from '#domain/import/mas/findings-of-homeserver.ts';
import { importFromMas } from '#domain/import/mas/import-everything.ts';
import { MAS_IMPORT_TABLES, type MasSettings, type MasSkippedKind } from '#domain/import/mas/mas-import.ts';
import { findingsOfSchema, MAS_SOURCE } from '#domain/import/mas/source-schema.ts';
import { ImportSource } from '#domain/import/source.ts';
import { ImportTarget } from '#domain/import/target.ts';
import { openSecretKeys } from '#domain/keys/secret-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { connect } from '#platform/postgres/connect.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { findingsOfMasConfig, masConnection, masSettingsOf, readMasConfig } from './import/mas-settings.ts';
import { ImportReport } from './import/report.ts';
import {
  bySeverity,
  findingsText,
  printFindings,
  printResults,
  TARGET_NOT_EMPTY,
  toCallersError,
} from './import-results.ts';

export interface MasImportOptions {
  readonly masConfig: readonly string[];
  readonly masDatabaseUri?: string;
  readonly skip: readonly MasSkippedKind[];
}

export interface MasMigrateOptions extends MasImportOptions {
  /** Roll back at the end. */
  readonly dryRun: boolean;
}

/** Context of both commands. */
interface Opened {
  readonly foundation: Foundation;
  readonly source: ImportSource;
  readonly settings: MasSettings;
  /** The configuration of MAS, if it was passed. */
  readonly theirs: Config | undefined;
  /** Of Latchkey. */
  readonly version: string;
}

/**
 * Prints the findings.
 * @returns the exit code: 10 with errors, 11 with warnings only
 */
export async function checkMasImport(
  options: CommandOptions,
  command: MasImportOptions,
  io: CommandIo,
): Promise<number> {
  return await withBoth(options, command, io, async (opened) =>
    printFindings(await io.signals.race(findAll(opened, command, false)), options, io),
  );
}

/**
 * Imports everything unless a finding prevents it.
 * @returns the exit code: 10 if one does
 */
export async function migrateFromMas(
  options: CommandOptions,
  command: MasMigrateOptions,
  io: CommandIo,
): Promise<number> {
  return await withBoth(options, command, io, async (opened) => {
    const { foundation, source, settings } = opened;
    const { config, database, directConnection, keyRing } = foundation;
    const { dryRun } = command;
    const findings = await io.signals.race(findAll(opened, command, !dryRun));
    io.stderr(findingsText(findings.filter(({ severity }) => severity === 'error' || !options.isQuiet)));
    if (bySeverity(findings).errors.length > 0) {
      if (options.isJson) printResults([], findings, dryRun, options, io);
      return ExitCode.doctorFails;
    }
    await io.signals.race(syncConfiguration(syncDeps(foundation), config));

    const secretKeys = await openSecretKeys({ database, keyRing, clock: systemClock });
    const target = new ImportTarget(
      await connect({ connection: directConnection, applicationName: `latchkey:${process.pid}` }),
      MAS_IMPORT_TABLES,
    );
    const report = new ImportReport(io, systemClock);
    try {
      const deps = {
        ...{ source, target, keyRing, secretKeys, clock: systemClock },
        ...{ ...settings, ...rulesOf(foundation) },
        onProgress: (progress: Parameters<ImportReport['note']>[0]) => report.note(progress),
        onBegun: async () => {
          if (!dryRun) await markIncompleteImport(database, systemClock.now());
        },
      };
      const results = await io.signals.race(importFromMas(deps, !dryRun));
      printResults(results, findings, dryRun, options, io);
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
  command: MasImportOptions,
  io: CommandIo,
  work: (opened: Opened) => Promise<number>,
): Promise<number> {
  const { masConfig: files, masDatabaseUri: uri } = command;
  const theirs = files.length === 0 ? undefined : readMasConfig(files, io);
  const connection = connectionOf(theirs, uri, io);
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
    mayBeIncomplete: true,
  });
  try {
    const source = await ImportSource.open(connection, MAS_SOURCE, foundation.openLog.log);
    try {
      return await work({
        foundation,
        source,
        settings: masSettingsOf(theirs ?? foundation.config),
        theirs,
        version: io.version,
      });
    } finally {
      source.close();
    }
  } finally {
    await foundation.close();
  }
}

function connectionOf(theirs: Config | undefined, uri: string | undefined, io: CommandIo): ConnectionTarget {
  const readFile = (path: string): string => readFileSync(resolve(io.workingDirectory, path), 'utf8');
  if (uri !== undefined) return uriConnection(uri, '--mas-database-uri', io.environment, readFile);
  if (theirs !== undefined) return masConnection(theirs);
  throw new ExitError(ExitCode.usage, 'pass the configuration of MAS with --mas-config, or --mas-database-uri');
}

function rulesOf({ config }: Foundation) {
  return {
    hasHomeserver: config.homeserver.kind !== 'none',
    protocolName: config.protocolName,
    isPolicyData: (data: unknown) => addPolicyData(config.policy.data, data).ok,
  };
}

function signingAlgorithmsOf({ config: { secrets }, loaded }: Foundation): readonly string[] | undefined {
  return secrets.keys.length === 0 ? undefined : loadSigningKeys(secrets, loaded.tree).algorithms();
}

async function findAll(
  { foundation, source, settings, theirs, version }: Opened,
  { skip }: MasImportOptions,
  keeps: boolean,
): Promise<readonly Finding[]> {
  const { config, database } = foundation;
  const ofTarget = (await hasUsers(database)) ? [TARGET_NOT_EMPTY] : [];
  const ofConfig = theirs === undefined ? [] : findingsOfMasConfig(theirs, config);
  const ofSchema = await findingsOfSchema(source);
  if (bySeverity(ofSchema).errors.length > 0) return [...ofTarget, ...ofConfig, ...ofSchema];
  const rules = {
    ...{ ...settings, ...rulesOf(foundation), keeps },
    signingAlgorithms: signingAlgorithmsOf(foundation),
    clients: new Set(config.clients.map(({ clientId }) => toUuid(clientId))),
    providers: new Set(config.upstreamOauth2.providers.map(({ id }) => toUuid(id))),
    skips: new Set(skip),
  };
  const homeserver = openHomeserver({ config, clock: systemClock, log: foundation.openLog.log, version });
  return [
    ...ofTarget,
    ...ofConfig,
    ...ofSchema,
    ...(await findingsOfMas(source, rules)),
    ...(await findingsOfHomeserver(source, homeserver)),
  ];
}
