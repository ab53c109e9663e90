/** Options of the `manage` commands for sessions and for syncing users to the homeserver. */
import type { Command } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { durationOption } from './duration-option.ts';

export function addSessionCommands(manage: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  manage
    .command('kill-sessions <user>')
    .description('end all sessions of a user: browser, OAuth, chat client and personal token sessions')
    .option('--dry-run', 'print the number of sessions without ending them', false)
    .option('--keep-personal', 'keep personal tokens that act as the user or are owned by the user', false)
    .action(async (user: string, options: { dryRun: boolean; keepPersonal: boolean }) => {
      const { killSessionsCommand } = await import('./kill-sessions.ts');
      const { dryRun, keepPersonal: keepsPersonal } = options;
      await run((deps, json) => killSessionsCommand(deps, { user, dryRun, keepsPersonal, json }));
    });
  manage
    .command('provision-all-users')
    .description('sync all users to the homeserver, at most 20 per second')
    .option('--only-active', 'skip locked and deactivated users', false)
    .action(async ({ onlyActive }: { onlyActive: boolean }) => {
      const { provisionAllUsersCommand } = await import('./notify-homeserver.ts');
      await run((deps, json) => provisionAllUsersCommand(deps, { onlyActive, json }));
    });
  manage
    .command('sync-devices')
    .description(
      'sync devices to the homeserver: keep those with active sessions and delete the others, at most 20 users per second',
    )
    .option('--user <user>', 'only for this user')
    .option(
      '--delete-unknown',
      'also delete devices that the homeserver may have had before the account existed here, with their keys',
      false,
    )
    .action(async ({ user, deleteUnknown }: { user?: string; deleteUnknown: boolean }) => {
      const { syncDevicesCommand } = await import('./notify-homeserver.ts');
      await run((deps, json) => syncDevicesCommand(deps, { user, deletesUnknown: deleteUnknown, json }));
    });
  manage
    .command('issue-compatibility-token <user> [device-id]')
    .description('create a chat client session and print its access token, which cannot be refreshed')
    .option('--device-id <id>', 'device id, instead of the argument (default: 10 random characters)')
    .addOption(durationOption('--expires-in <duration>', 'lifetime: 3600, 7d (default: unlimited)'))
    .option('--yes-i-want-to-grant-synapse-admin-privileges', 'grant administrator rights on the homeserver', false)
    .action(async (user: string, argument: string | undefined, options: IssueTokenFlags, command: Command) => {
      const { deviceId = argument, expiresIn, yesIWantToGrantSynapseAdminPrivileges: isAdmin } = options;
      if (argument !== undefined && deviceId !== argument) command.error('error: two different device ids given');
      const { issueCompatibilityTokenCommand } = await import('./issue-compatibility-token.ts');
      const token = { user, deviceId, expiresInSeconds: expiresIn, isAdmin };
      await run((deps, json) => issueCompatibilityTokenCommand(deps, { ...token, json }));
    });
  manage
    .command('issue-personal-token')
    .description('create a personal token that acts as a user, for use by a program, and print it')
    .requiredOption('--actor <user>', 'user that the token acts as')
    .requiredOption('--name <name>', 'name of the token, 1 to 100 characters')
    .requiredOption('--scope <scope>', 'space-separated scopes')
    .option('--owner <user>', 'owner of the token, which ends with the account of the owner (default: the actor)')
    .addOption(durationOption('--expires-in <duration>', 'lifetime: 3600, 90d (default: unlimited)'))
    .action(async ({ expiresIn, owner, ...token }: PersonalTokenFlags) => {
      const { issuePersonalTokenCommand } = await import('./issue-personal-token.ts');
      await run((deps, json) =>
        issuePersonalTokenCommand(deps, { ...token, owner, expiresInSeconds: expiresIn, json }),
      );
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
