/** Options of `backup` and `restore` (operations 3.11). */
import type { Command } from 'commander';
import type { BackupFlags } from './backup.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import type { RestoreFlags } from './restore.ts';

export function addBackupCommands(program: Command, configuration: () => CommandOptions, io: CommandIo): void {
  program
    .command('backup')
    .description('write a snapshot of the embedded database to one file, also while the service is running')
    .requiredOption('-o, --output <path>', 'new file to write (.tar.gz), readable only by its owner')
    .option('--include-secrets', 'include the encryption keys and the signing keys of data_dir', false)
    .action(async (flags: BackupFlags) => await (await import('./backup.ts')).backUp(configuration(), flags, io));
  program
    .command('restore <path>')
    .description('restore the embedded database from a backup, while the service is stopped')
    .option('--force', 'move an existing database to db.before-restore-TIME', false)
    .option('--to <uri>', 'restore into this empty PostgreSQL database instead: postgres://user@host/database')
    .action(async (path: string, flags: RestoreFlags, command: Command) => {
      if (flags.force && flags.to !== undefined) command.error('error: --force and --to cannot be combined');
      await (await import('./restore.ts')).restore(configuration(), path, flags, io);
    });
}
