/** Options of the `import` commands (operations 3.9). */
import { type Command, Option } from 'commander';
import { SKIPPED_KINDS, type SkippedKind } from '#domain/synapse-import/findings-of-data.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';

interface SourceFlags {
  readonly synapseConfig: readonly string[];
  readonly synapseDatabaseUri?: string;
  readonly ignoreMissingAuthProviders: boolean;
  readonly skip: readonly SkippedKind[];
}

export function addImportCommands(
  program: Command,
  configuration: () => ConfigurationOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  const group = program
    .command('import')
    .alias('syn2mas')
    .description('take over the accounts, devices and tokens of a Synapse on PostgreSQL');
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .requiredOption(
        '--synapse-config <path>',
        'configuration file of Synapse, or a folder of them; may be repeated',
        collect,
      )
      .option('--synapse-database-uri <uri>', 'its database, in place of the one that its configuration names')
      .option(
        '--ignore-missing-auth-providers',
        'leave out identities of providers that its configuration does not have',
        false,
      )
      .addOption(
        new Option('--skip <kinds...>', 'leave out what check lists of this kind').choices(SKIPPED_KINDS).default([]),
      );
  add('check', 'say what speaks against an import, and what has to be done besides; changes nothing in Synapse').action(
    async (flags: SourceFlags) => {
      const { checkImport } = await import('./import.ts');
      finish(await checkImport(configuration(), flags, io));
    },
  );
  add('migrate', 'copy everything; Synapse has to be stopped, and its database is only read')
    .option('--dry-run', 'do all of it, and keep nothing', false)
    .action(async (flags: SourceFlags & { readonly dryRun: boolean }) => {
      const { migrateFromSynapse } = await import('./import.ts');
      finish(await migrateFromSynapse(configuration(), flags, io));
    });
}

function collect(value: string, former: readonly string[] = []): readonly string[] {
  return [...former, value];
}
