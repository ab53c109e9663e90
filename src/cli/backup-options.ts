/** Options of `backup` and `restore` (operations 3.11). */
import type { Command } from 'commander';
import type { BackupFlags } from './backup.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import type { RestoreFlags } from './restore.ts';

export function addBackupCommands(program: Command, configuration: () => ConfigurationOptions, io: CommandIo): void {
  program
    .command('backup')
    .description('write the embedded database, as it is at this moment, into one file; the service may run')
    .requiredOption('-o, --output <path>', 'new file to write (.tar.gz), readable by its owner only')
    .option('--include-secrets', 'put the encryption keys and the signing keys of data_dir into it', false)
    .action(async (flags: BackupFlags) => await (await import('./backup.ts')).backUp(configuration(), flags, io));
  program
    .command('restore <path>')
    .description('make the embedded database from a backup; no process of the service may run')
    .option('--force', 'move a database that is there away, to db.before-restore-TIME', false)
    .option('--to <uri>', 'load into this empty PostgreSQL database instead: postgres://user@host/database')
    .action(async (path: string, flags: RestoreFlags, command: Command) => {
      if (flags.force && flags.to !== undefined) command.error('error: --force does not go with --to');
      await (await import('./restore.ts')).restore(configuration(), path, flags, io);
    });
}
