/** Options of the `manage` commands for clients (administration 2). */
import { type Command, Option } from 'commander';
import type { ManageDeps } from './accounts.ts';
import type { PropertyFlags } from './client-properties.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { durationOption } from './duration-option.ts';
import { limitOption } from './limit-option.ts';

export function addClientCommands(manage: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const run = async (work: (deps: ManageDeps, json: boolean) => Promise<void>): Promise<void> => {
    const { withAccounts } = await import('./accounts.ts');
    const { isJson } = configuration();
    await withAccounts(configuration(), io, (deps) => work(deps, isJson));
  };
  withProperties(
    manage.command('create-client').description('create a client and print its ID and secret, which is shown once'),
  )
    .option('--preset <preset>', 'properties for a program in `list-presets`; other options override them')
    .option('--url <url>', 'URL of the program of the preset')
    .option('--client-id <id>', 'ID of the client (default: a new one)')
    .option('--secret-file <path>', 'file with the secret, "-" for standard input (default: a generated secret)')
    .action(async ({ clientId, secretFile, preset, url, ...flags }: CreateFlags) => {
      const { createClientCommand } = await import('./create-client.ts');
      await run((deps, json) => createClientCommand(deps, { clientId, secretFile, preset, url, flags, json }));
    });
  manage
    .command('list-presets')
    .description('list programs that `create-client --preset` knows')
    .action(async () => {
      const { listPresetsCommand } = await import('./client-presets.ts');
      listPresetsCommand(io, configuration().isJson);
    });
  manage
    .command('show-preset <preset>')
    .description('show the client that a program needs, and what to enter in the program')
    .action(async (preset: string) => {
      const { showPresetCommand } = await import('./client-presets.ts');
      showPresetCommand(io, preset, configuration().isJson);
    });
  withProperties(
    manage
      .command('update-client <client-id>')
      .description('change properties of a client that an administrator created; the others stay as they are'),
  ).action(async (clientId: string, flags: PropertyFlags) => {
    const { updateClientCommand } = await import('./update-client.ts');
    await run((deps, json) => updateClientCommand(deps, { clientId, flags, json }));
  });
  manage
    .command('show-client <client-id>')
    .description('show a client with all of its properties, without secrets')
    .action(async (clientId: string) => {
      const { showClientCommand } = await import('./show-clients.ts');
      await run((deps, json) => showClientCommand(deps, { clientId, json }));
    });
  manage
    .command('list-clients')
    .description('list clients, including disabled ones')
    .addOption(
      new Option('--kind <kind>', 'only clients of this kind').choices(['static', 'managed', 'dynamic', 'builtin']),
    )
    .option('--search <text>', 'only clients whose name or home page contains this text')
    .addOption(limitOption())
    .action(async (flags: ListFlags) => {
      const { listClientsCommand } = await import('./show-clients.ts');
      await run((deps, json) => listClientsCommand(deps, { ...flags, json }));
    });
  manage
    .command('rotate-client-secret <client-id>')
    .description('generate a new secret and print it; the current one works until the grace period ends')
    .addOption(durationOption('--grace <duration>', 'how long the current secret works, up to 7d (default: 1d)'))
    .action(async (clientId: string, { grace }: { grace?: number }) => {
      const { rotateClientSecretCommand } = await import('./rotate-client-secret.ts');
      await run((deps, json) => rotateClientSecretCommand(deps, { clientId, graceSeconds: grace, json }));
    });
  for (const [name, isEnabled, description] of [
    ['disable-client', false, 'refuse a client everywhere; its sessions stay and work again once it is enabled'],
    ['enable-client', true, 'enable a disabled client'],
  ] as const) {
    manage
      .command(`${name} <client-id>`)
      .description(description)
      .action(async (clientId: string) => {
        const { setClientEnabledCommand } = await import('./set-client-enabled.ts');
        await run((deps, json) => setClientEnabledCommand(deps, { clientId, isEnabled, json }));
      });
  }
  manage
    .command('delete-client <client-id>')
    .description('delete a client with its sessions and tokens')
    .action(async (clientId: string) => {
      const { deleteClientCommand } = await import('./delete-client.ts');
      await run((deps, json) => deleteClientCommand(deps, { clientId, json }));
    });
}

/** Options for properties of a client. `--set` accepts every key of `clients` in the configuration. */
function withProperties(command: Command): Command {
  return command
    .option('--name <name>', 'name shown to users')
    .option('--redirect-uri <uri...>', 'allowed redirect URIs')
    .option('--auth-method <method>', 'authentication method; "none" for apps that cannot keep a secret')
    .option('--scope <scopes>', 'space-separated scopes that it may request')
    .option('--allowed-group <group...>', 'groups whose members may use it; missing ones are created')
    .option('--set <key=value...>', 'any other property of `clients` in the configuration; the value is JSON or text');
}

interface CreateFlags extends PropertyFlags {
  readonly clientId?: string;
  readonly secretFile?: string;
  readonly preset?: string;
  readonly url?: string;
}

interface ListFlags {
  readonly kind?: 'static' | 'managed' | 'dynamic' | 'builtin';
  readonly search?: string;
  readonly limit: number;
}
