/** Options of the `manage` commands for groups (administration A-15). */
import type { Command } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { limitOption } from './limit-option.ts';

export function addGroupCommands(manage: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  manage
    .command('create-group <name>')
    .description('create a group without members')
    .option('--description <text>', 'description for administrators')
    .action(async (name: string, { description }: { description?: string }) => {
      const { createGroupCommand } = await import('./groups.ts');
      await run((deps, json) => createGroupCommand(deps, { name, description, json }));
    });
  manage
    .command('list-groups')
    .description('list groups by name with the number of their members')
    .option('--search <text>', 'only groups whose name contains this text')
    .addOption(limitOption())
    .action(async (flags: { search?: string; limit: number }) => {
      const { listGroupsCommand } = await import('./groups.ts');
      await run((deps, json) => listGroupsCommand(deps, { ...flags, json }));
    });
  manage
    .command('add-to-group <group> <users...>')
    .description('add users to a group, all or none')
    .action(async (group: string, users: string[]) => {
      const { addToGroupCommand } = await import('./groups.ts');
      await run((deps, json) => addToGroupCommand(deps, { group, users, json }));
    });
  manage
    .command('remove-from-group <group> <users...>')
    .description('remove users from a group, all or none')
    .action(async (group: string, users: string[]) => {
      const { removeFromGroupCommand } = await import('./groups.ts');
      await run((deps, json) => removeFromGroupCommand(deps, { group, users, json }));
    });
  manage
    .command('delete-group <group>')
    .description('delete a group and remove its members; clients that are limited to it stay limited')
    .option('--force', 'also if clients are limited to it: nobody matches a deleted group', false)
    .action(async (group: string, { force }: { force: boolean }) => {
      const { deleteGroupCommand } = await import('./groups.ts');
      await run((deps, json) => deleteGroupCommand(deps, { group, isForced: force, json }));
    });
}
