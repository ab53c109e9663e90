/** Options of the `import` commands (operations 3.9). */
import { type Command, Option } from 'commander';
import { MAS_SKIPPED_KINDS, type MasSkippedKind } from '#domain/import/mas/mas-import.ts';
import { SKIPPED_KINDS, type SkippedKind } from '#domain/import/synapse/findings-of-data.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

interface SourceFlags {
  readonly synapseConfig: readonly string[];
  readonly synapseDatabaseUri?: string;
  readonly ignoreMissingAuthProviders: boolean;
  readonly skip: readonly SkippedKind[];
}

export function addImportCommands(
  program: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  const group = program
    .command('import')
    .alias('syn2mas')
    .description('import accounts, devices and tokens from Synapse, or everything from Matrix Authentication Service');
  addMasCommands(group, configuration, io, finish);
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .requiredOption(
        '--synapse-config <path>',
        'configuration file of Synapse, or a directory of files; may be repeated',
        collect,
      )
      .option('--synapse-database-uri <uri>', 'database of Synapse, instead of the one in its configuration')
      .option(
        '--ignore-missing-auth-providers',
        'skip identities of providers that are not in its configuration',
        false,
      )
      .addOption(new Option('--skip <kinds...>', 'skip findings of these kinds').choices(SKIPPED_KINDS).default([]));
  add('check', 'report what prevents an import and what else you have to do; does not change Synapse').action(
    async (flags: SourceFlags) => {
      const { checkImport } = await import('./import.ts');
      finish(await checkImport(configuration(), flags, io));
    },
  );
  add('migrate', 'copy everything; stop Synapse first; its database is only read')
    .option('--dry-run', 'run the whole import and discard the result', false)
    .action(async (flags: SourceFlags & { readonly dryRun: boolean }) => {
      const { migrateFromSynapse } = await import('./import.ts');
      finish(await migrateFromSynapse(configuration(), flags, io));
    });
}

interface MasFlags {
  readonly masConfig: readonly string[];
  readonly masDatabaseUri?: string;
  readonly skip: readonly MasSkippedKind[];
}

function addMasCommands(
  parent: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  const group = parent
    .command('mas')
    .description('import everything from the database of Matrix Authentication Service');
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .option('--mas-config <path>', 'configuration file of MAS; may be repeated', collect, [])
      .option('--mas-database-uri <uri>', 'database of MAS, instead of the one in its configuration')
      .addOption(
        new Option('--skip <kinds...>', 'leave out what these findings name').choices(MAS_SKIPPED_KINDS).default([]),
      );
  add('check', 'report what prevents an import and what is different afterwards; does not change MAS').action(
    async (flags: MasFlags) => {
      const { checkMasImport } = await import('./import-mas.ts');
      finish(await checkMasImport(configuration(), flags, io));
    },
  );
  add('migrate', 'copy everything; stop MAS first; its database is only read')
    .option('--dry-run', 'run the whole import and discard the result', false)
    .action(async (flags: MasFlags & { readonly dryRun: boolean }) => {
      const { migrateFromMas } = await import('./import-mas.ts');
      finish(await migrateFromMas(configuration(), flags, io));
    });
}

function collect(value: string, former: readonly string[] = []): readonly string[] {
  return [...former, value];
}
