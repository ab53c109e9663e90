/** Options of the `manage` commands that show and change single properties of an account. */
import { type Command, Option } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import { limitOption } from './limit-option.ts';
import type { ListUsersOptions } from './show-users.ts';

export function addAccountCommands(manage: Command, configuration: () => ConfigurationOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  manage
    .command('add-email <user> <address>')
    .description('add an e-mail address to a user, as a confirmed one')
    .action(async (user: string, email: string) => {
      const { addEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => addEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('remove-email <user> <address>')
    .description('take an e-mail address from a user')
    .action(async (user: string, email: string) => {
      const { removeEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => removeEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('verify-email <user> <address>')
    .description('do nothing: add-email adds confirmed addresses; for scripts that call it still')
    .action(async (user: string, email: string) => {
      const { verifyEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => verifyEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('set-display-name <user> <name>')
    .description('set the name that others see, here and at the homeserver; "": none')
    .action(async (user: string, displayName: string) => {
      const { setDisplayNameCommand } = await import('./set-display-name.ts');
      await run((deps, json) => setDisplayNameCommand(deps, { user, displayName, json }));
    });
  manage
    .command('remove-second-factors <user>')
    .description('take the authenticator app and the recovery codes from a user who lost them; passkeys stay')
    .action(async (user: string) => {
      const { removeSecondFactorsCommand } = await import('./remove-second-factors.ts');
      await run((deps, json) => removeSecondFactorsCommand(deps, { user, json }));
    });
  manage
    .command('promote-admin <user>')
    .description('let a user ask for the admin scope')
    .action(async (user: string) => {
      const { promoteAdminCommand } = await import('./admins.ts');
      await run((deps, json) => promoteAdminCommand(deps, { user, json }));
    });
  manage
    .command('demote-admin <user>')
    .description('take the right to ask for the admin scope; tokens with it lose it at once')
    .option('--kill-sessions', 'end the sessions that hold an admin scope as well', false)
    .action(async (user: string, { killSessions }: { killSessions: boolean }) => {
      const { demoteAdminCommand } = await import('./admins.ts');
      await run((deps, json) => demoteAdminCommand(deps, { user, killSessions, json }));
    });
  manage
    .command('set-groups <user> [groups...]')
    .description('put a user into these groups and no others; those of sign-in providers stay')
    .action(async (user: string, groups: string[]) => {
      const { setGroupsCommand } = await import('./user-claims.ts');
      await run((deps, json) => setGroupsCommand(deps, { user, groups, json }));
    });
  manage
    .command('set-claims <user> <claims>')
    .description(
      'set the further claims about a user, a JSON object, for applications with the scope profile; "{}": none',
    )
    .action(async (user: string, claims: string) => {
      const { setClaimsCommand } = await import('./user-claims.ts');
      await run((deps, json) => setClaimsCommand(deps, { user, claims, json }));
    });
  manage
    .command('list-admin-users')
    .description('identifier and name of everybody who may ask for the admin scope')
    .action(async () => {
      const { listAdminUsersCommand } = await import('./admins.ts');
      await run((deps, json) => listAdminUsersCommand(deps, { json }));
    });
  manage
    .command('list-users')
    .description('accounts by name; with --json one document a line')
    .option('--search <text>', 'part of the username, the display name or an e-mail address')
    .addOption(
      new Option('--status <status>', 'those that are in this state').choices(['active', 'locked', 'deactivated']),
    )
    .addOption(limitOption())
    .action(async (options: Omit<ListUsersOptions, 'json'>) => {
      const { listUsersCommand } = await import('./show-users.ts');
      await run((deps, json) => listUsersCommand(deps, { ...options, json }));
    });
  manage
    .command('show-user <user>')
    .description('what belongs to a user: addresses, links, live sessions; nothing secret')
    .action(async (user: string) => {
      const { showUserCommand } = await import('./show-users.ts');
      await run((deps, json) => showUserCommand(deps, { user, json }));
    });
}
