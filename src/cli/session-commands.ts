/** Options of the `manage` commands for sessions and for syncing users to the homeserver. */
import type { Command } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { durationOption } from './duration-option.ts';

export function addSessionCommands(manage: Command, configuration: () => ConfigurationOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  manage
    .command('kill-sessions <user>')
    .description('end all sessions of a user: in browsers, at applications, of chat clients and of personal tokens')
    .option('--dry-run', 'say how many would end, and end none', false)
    .option('--keep-personal', 'leave personal tokens that act as the user or belong to them', false)
    .action(async (user: string, options: { dryRun: boolean; keepPersonal: boolean }) => {
      const { killSessionsCommand } = await import('./kill-sessions.ts');
      const { dryRun, keepPersonal: keepsPersonal } = options;
      await run((deps, json) => killSessionsCommand(deps, { user, dryRun, keepsPersonal, json }));
    });
  manage
    .command('provision-all-users')
    .description('have the homeserver told of every user, at most 20 a second')
    .option('--only-active', 'leave out those who are locked or deactivated', false)
    .action(async ({ onlyActive }: { onlyActive: boolean }) => {
      const { provisionAllUsersCommand } = await import('./tell-homeserver.ts');
      await run((deps, json) => provisionAllUsersCommand(deps, { onlyActive, json }));
    });
  manage
    .command('sync-devices')
    .description(
      'have the homeserver keep the devices of live sessions and delete all others, of at most 20 users a second',
    )
    .option('--user <user>', 'of this user alone')
    .action(async ({ user }: { user?: string }) => {
      const { syncDevicesCommand } = await import('./tell-homeserver.ts');
      await run((deps, json) => syncDevicesCommand(deps, { user, json }));
    });
  manage
    .command('issue-compatibility-token <user> [device-id]')
    .description('make a session of a chat client and print its access token, which nobody can refresh')
    .option('--device-id <id>', 'its device (default: 10 random characters); another way to say it')
    .addOption(durationOption('--expires-in <duration>', 'how long it is good: 3600, 7d; default without end'))
    .option('--yes-i-want-to-grant-synapse-admin-privileges', 'the token administers the homeserver', false)
    .action(async (user: string, argument: string | undefined, options: IssueTokenFlags, command: Command) => {
      const { deviceId = argument, expiresIn, yesIWantToGrantSynapseAdminPrivileges: isAdmin } = options;
      if (argument !== undefined && deviceId !== argument) command.error('error: two device ids are given');
      const { issueCompatibilityTokenCommand } = await import('./issue-compatibility-token.ts');
      const token = { user, deviceId, expiresInSeconds: expiresIn, isAdmin };
      await run((deps, json) => issueCompatibilityTokenCommand(deps, { ...token, json }));
    });
  manage
    .command('issue-personal-token')
    .description('make a standing token that acts as a user, for a program, and print it')
    .requiredOption('--actor <user>', 'as whom it acts')
    .requiredOption('--name <name>', 'what it is for, 1 to 100 characters')
    .requiredOption('--scope <scope>', 'what it may do, separated by blanks')
    .option('--owner <user>', 'to whom it belongs, and without whom it stops (default: the actor)')
    .addOption(durationOption('--expires-in <duration>', 'how long it is good: 3600, 90d; default without end'))
    .action(async ({ expiresIn, owner, ...token }: PersonalTokenFlags) => {
      const { issuePersonalTokenCommand } = await import('./issue-personal-token.ts');
      await run((deps, json) =>
        issuePersonalTokenCommand(deps, { ...token, owner, expiresInSeconds: expiresIn, json }),
      );
    });
  manage
    .command('delete-client <client-id>')
    .description('delete an application that registered itself, with its sessions and tokens')
    .action(async (clientId: string) => {
      const { deleteClientCommand } = await import('./delete-client.ts');
      await run((deps, json) => deleteClientCommand(deps, { clientId, json }));
    });
}

interface PersonalTokenFlags {
  readonly actor: string;
  readonly name: string;
  readonly scope: string;
  readonly owner?: string;
  readonly expiresIn?: number;
}

interface IssueTokenFlags {
  readonly deviceId?: string;
  readonly expiresIn?: number;
  readonly yesIWantToGrantSynapseAdminPrivileges: boolean;
}
