/** Options of the `manage` commands that show and change single properties of an account. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { limitOption } from './limit-option.ts';
import type { ListAuditEventsOptions } from './list-audit-events.ts';
import type { ListUsersOptions } from './show-users.ts';

const MAX_EXPORTED = 1_000_000;

function parseExportLimit(text: string): number {
  const limit = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_EXPORTED)
    throw new InvalidArgumentError(`Expected an integer from 1 to ${MAX_EXPORTED}.`);
  return limit;
}

export function addAccountCommands(manage: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  manage
    .command('add-email <user> <address>')
    .description('add a confirmed email address to a user')
    .action(async (user: string, email: string) => {
      const { addEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => addEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('remove-email <user> <address>')
    .description('remove an email address from a user')
    .action(async (user: string, email: string) => {
      const { removeEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => removeEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('verify-email <user> <address>')
    .description('do nothing, kept for existing scripts: add-email adds confirmed addresses')
    .action(async (user: string, email: string) => {
      const { verifyEmailCommand } = await import('./user-emails.ts');
      await run((deps, json) => verifyEmailCommand(deps, { user, email, json }));
    });
  manage
    .command('set-display-name <user> <name>')
    .description('set the display name, here and at the homeserver; "" removes it')
    .action(async (user: string, displayName: string) => {
      const { setDisplayNameCommand } = await import('./set-display-name.ts');
      await run((deps, json) => setDisplayNameCommand(deps, { user, displayName, json }));
    });
  manage
    .command('remove-second-factors <user>')
    .description('remove the authenticator app and the recovery codes of a user who lost them; keeps passkeys')
    .action(async (user: string) => {
      const { removeSecondFactorsCommand } = await import('./remove-second-factors.ts');
      await run((deps, json) => removeSecondFactorsCommand(deps, { user, json }));
    });
  manage
    .command('promote-admin <user>')
    .description('allow a user to request the admin scope')
    .action(async (user: string) => {
      const { promoteAdminCommand } = await import('./admins.ts');
      await run((deps, json) => promoteAdminCommand(deps, { user, json }));
    });
  manage
    .command('demote-admin <user>')
    .description('revoke the right to request the admin scope; existing tokens lose it immediately')
    .option('--kill-sessions', 'also end the sessions with an admin scope', false)
    .action(async (user: string, { killSessions }: { killSessions: boolean }) => {
      const { demoteAdminCommand } = await import('./admins.ts');
      await run((deps, json) => demoteAdminCommand(deps, { user, killSessions, json }));
    });
  manage
    .command('set-groups <user> [groups...]')
    .description('replace the groups of a user; keeps groups from sign-in providers')
    .action(async (user: string, groups: string[]) => {
      const { setGroupsCommand } = await import('./user-claims.ts');
      await run((deps, json) => setGroupsCommand(deps, { user, groups, json }));
    });
  manage
    .command('set-claims <user> <claims>')
    .description(
      'set additional claims of a user as a JSON object, for clients with the scope profile; "{}" removes them',
    )
    .action(async (user: string, claims: string) => {
      const { setClaimsCommand } = await import('./user-claims.ts');
      await run((deps, json) => setClaimsCommand(deps, { user, claims, json }));
    });
  manage
    .command('list-admin-users')
    .description('list the users who can request the admin scope')
    .action(async () => {
      const { listAdminUsersCommand } = await import('./admins.ts');
      await run((deps, json) => listAdminUsersCommand(deps, { json }));
    });
  manage
    .command('list-users')
    .description('list accounts by username; with --json one document per line')
    .option('--search <text>', 'part of the username, the display name or an email address')
    .addOption(
      new Option('--status <status>', 'only accounts in this state').choices(['active', 'locked', 'deactivated']),
    )
    .addOption(limitOption())
    .action(async (options: Omit<ListUsersOptions, 'json'>) => {
      const { listUsersCommand } = await import('./show-users.ts');
      await run((deps, json) => listUsersCommand(deps, { ...options, json }));
    });
  manage
    .command('list-audit-events')
    .description('list the newest security events of accounts and changes by administrators, or export them')
    .option('--user <user>', 'events that concern this account')
    .option('--actor <user>', 'what this account did; operator: what commands did')
    .option('--kind <kinds...>', 'events of these kinds, such as login_failed or admin_action')
    .option('--client <client-id>', 'events that concern, or were caused through, this client')
    .option('--address <network>', 'events from this IP address or network (192.0.2.0/24)')
    .option('--since <time>', 'start time, inclusive: 2026-06-17T10:00:00Z or 2026-06-17')
    .option('--until <time>', 'end time, exclusive')
    .addOption(new Option('--outcome <outcome>', 'events that failed, or all others').choices(['ok', 'failed']))
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'csv', 'ndjson']).default('text'))
    .addOption(
      new Option('--limit <count>', `maximum number of events, up to ${MAX_EXPORTED}`)
        .argParser(parseExportLimit)
        .default(100),
    )
    .action(async (options: ListAuditEventsOptions) => {
      const { listAuditEventsCommand } = await import('./list-audit-events.ts');
      await run((deps, json) =>
        listAuditEventsCommand(deps, json && options.format === 'text' ? { ...options, format: 'ndjson' } : options),
      );
    });
  manage
    .command('show-user <user>')
    .description('show the email addresses, linked accounts and active sessions of a user, without secrets')
    .action(async (user: string) => {
      const { showUserCommand } = await import('./show-users.ts');
      await run((deps, json) => showUserCommand(deps, { user, json }));
    });
}
