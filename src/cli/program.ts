/**
 * The command line: names, options and exit codes (sysexits style). Each command is a separate module, imported when it
 * runs. `serve` is the default command.
 */
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { configSources } from '#app/service/process-context.ts';
import { ExitCode, ExitError, LatchkeyError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { isDiskFull, isErrno } from '#platform/base/system-errors.ts';
import { isMissingPrivilege, readFailure, toCallersError } from '#platform/postgres/failures.ts';
import { addAccountCommands } from './account-commands.ts';
import { addActivityCommand } from './activity-options.ts';
import { addBackupCommands } from './backup-options.ts';
import { addClientCommands } from './client-commands.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import type { DebugPolicyOptions } from './debug-policy.ts';
import { durationOption } from './duration-option.ts';
import { addGroupCommands } from './group-commands.ts';
import { addImportCommands } from './import-options.ts';
import type { IssueTokenOptions } from './issue-registration-token.ts';
import { addJobsCommands } from './jobs-commands.ts';
import type { ServeOptions } from './serve.ts';
import { addSessionCommands } from './session-commands.ts';
import { addTemplatesCommands } from './templates-options.ts';
import { refuseUnknownSubcommands, unknownCommand } from './unknown-command.ts';

interface GlobalOptions {
  readonly config?: readonly string[];
  readonly dataDir?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

interface RegisterUserFlags {
  readonly password?: string;
  readonly passwordFile?: string;
  readonly email?: readonly string[];
  readonly upstreamProviderMapping?: readonly string[];
  readonly admin?: boolean;
  readonly displayName?: string;
  readonly locale?: string;
  readonly yes: boolean;
  readonly ignorePasswordComplexity: boolean;
  readonly skipHomeserverCheck: boolean;
}

interface GenerateFlags {
  readonly output?: string;
  readonly force: boolean;
  readonly client: boolean;
  readonly redirectUri?: readonly string[];
  readonly synapseConfig?: readonly string[];
}

interface RotateKeysFlags {
  readonly type?: string;
  readonly publishFor?: number;
  readonly promote: boolean;
  readonly retire: boolean;
  readonly force: boolean;
}

interface SetPasswordFlags {
  readonly passwordFile?: string;
  readonly ignoreComplexity: boolean;
  readonly killSessions: boolean;
}

/** Runs the program and returns its exit code. A server runs until a signal ends it. */
export async function runProgram(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = ExitCode.ok;
  const program = makeProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportFailure(error, isVerbose(program.opts(), io), io);
  }
}

/** Returns true if the operator requested more than messages. */
function isVerbose({ logLevel }: GlobalOptions, io: CommandIo): boolean {
  const levels = logLevel ?? io.environment['LATCHKEY_LOG'] ?? '';
  return levels.split(',').some((level) => level.trim() === 'debug');
}

const TOO_MANY_OPEN_FILES =
  'too many open files: set the limit to at least 1,000 more than connections (ulimit -n, LimitNOFILE of systemd)';

function reportFailure(error: unknown, showsStack: boolean, io: CommandIo): number {
  // commander has printed its message; help and version are not errors
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof ExitError) {
    io.stderr(error.message.endsWith('\n') ? error.message : `latchkey: ${error.message}\n`);
    return error.exitCode;
  }
  if (isErrno(error, 'EMFILE', 'ENFILE')) {
    io.stderr(`latchkey: ${TOO_MANY_OPEN_FILES}\n`);
    return ExitCode.osError;
  }
  if (isDiskFull(error)) {
    io.stderr(`latchkey: no space left on the disk of ${error.path ?? 'a file'}: free some space and retry\n`);
    return ExitCode.osError;
  }
  // Migrations, backups and similar commands connect to the database directly.
  const failure = toCallersError(readFailure('of this command', error, undefined));
  if (failure instanceof LatchkeyError && failure.code === 'temporarily_unavailable') {
    const { message } = describeError(failure.cause ?? failure);
    if (isMissingPrivilege(failure.cause)) {
      io.stderr(`latchkey: the database role of the service lacks a privilege: ${message}\n`);
      return ExitCode.unavailable;
    }
    const text = `${message.replace(/\.$/, '')}. ${failure.description ?? ''}`;
    io.stderr(`latchkey: the database failed to complete the command: ${text} Retry later.\n`);
    return ExitCode.unavailable;
  }
  if (error instanceof LatchkeyError && error.code === 'overloaded') {
    io.stderr(`latchkey: this machine is overloaded: ${error.description ?? error.code}. Retry later.\n`);
    return ExitCode.tempFail;
  }
  const { message, stack } = describeError(error);
  const advice = 'this is a bug in Latchkey; --log-level debug shows where it occurred';
  io.stderr(`latchkey: internal error: ${showsStack ? (stack ?? message) : `${message} (${advice})`}\n`);
  return ExitCode.software;
}

/** Returns the complete command line. `finish` receives the exit code of commands that have one. */
export function makeProgram(io: CommandIo, finish: (exitCode: number) => void): Command {
  const program = new Command(io.isMas === true ? 'mas-cli' : 'latchkey')
    .description('OAuth 2.0 and OpenID Connect provider. The default command is serve.')
    .option('-c, --config <path>', 'configuration file; may be repeated', collect)
    .option('--data-dir <path>', 'data directory')
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines').choices([
        'error',
        'warn',
        'info',
        'debug',
        'trace',
      ]),
    )
    .addOption(new Option('--log-format <format>', 'format of log lines').choices(['text', 'json']))
    .option('--json', 'print results as one JSON document on standard output')
    .option('-q, --quiet', 'suppress informational lines')
    .version(io.isMas === true ? `mas-cli v${io.version}` : io.version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      outputError: (text, write) => write(text.replace(/^error: /, 'latchkey: ')),
    });
  const configuration = (): CommandOptions => configurationOptions(program.opts());

  program
    .command('serve', { isDefault: true })
    .alias('server')
    .description('run the service')
    .option('--no-migrate', 'do not start if migrations are pending, instead of applying them')
    .addOption(migrateTimeoutOption())
    .option('--no-sync', 'do not sync the clients of the configuration to the database')
    .option('--no-worker', 'do not run background jobs in this process')
    .option('--fresh', 'start without accounts although the homeserver has users, instead of importing them', false)
    // Unknown commands end up here because this is the default command.
    .allowExcessArguments()
    .action(async (options: ServeOptions, command: Command) => {
      const [word] = command.args;
      if (word !== undefined) program.error(unknownCommand(program, word));
      const { serve } = await import('./serve.ts');
      finish(await serve(configuration(), options, io));
    });
  program
    .command('worker')
    .description('run background jobs only')
    .action(async () => finish(await (await import('./worker.ts')).work(configuration(), io)));
  program
    .command('doctor')
    .description('check a deployment and suggest fixes; changes nothing')
    .action(async () => finish(await (await import('./doctor.ts')).runDoctor(configuration(), io)));
  addConfigCommands(program, configuration, io);
  addDatabaseCommands(program, configuration, io, finish);
  addKeysCommands(program, configuration, io);
  addManageCommands(program, configuration, io);
  addJobsCommands(program, configuration, io);
  addImportCommands(program, configuration, io, finish);
  addBackupCommands(program, configuration, io);
  addTemplatesCommands(program, configuration, io, finish);
  addDebugCommands(program, configuration, io, finish);
  addActivityCommand(program, configuration, io, finish);
  refuseUnknownSubcommands(program);
  return program;
}

function configurationOptions(options: GlobalOptions): CommandOptions {
  const { dataDir, logLevel, logFormat } = options;
  return {
    files: options.config ?? [],
    flags: { dataDir, logLevel, logFormat },
    isQuiet: options.quiet === true,
    isJson: options.json === true,
  };
}

function migrateTimeoutOption(): Option {
  return durationOption(
    '--migrate-timeout <duration>',
    'maximum wait for another migrating process and for locks: 90s, 5m (default: 10m)',
  );
}

function countOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('Expected an integer of 1 or more.');
    return Number(text);
  });
}

function collect(value: string, former: readonly string[] = []): readonly string[] {
  return [...former, value];
}

function addConfigCommands(program: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const config = program.command('config').description('check, print, generate and sync the configuration');
  const sources = () => configSources(configuration(), io);
  config
    .command('check')
    .description('validate the configuration without opening the database')
    .action(async () => await (await import('./config.ts')).checkConfig(sources(), configuration().isJson, io));
  config
    .command('dump')
    .description('print the merged configuration as YAML (with --json: as JSON)')
    .option('-o, --output <path>', 'write to this file, readable only by its owner')
    .option('--defaults', 'include default values', false)
    .option('--show-secrets', 'print secrets instead of <redacted>', false)
    .action(async (options: { output?: string; defaults: boolean; showSecrets: boolean }) => {
      await (await import('./config.ts')).dumpConfig(sources(), { ...options, json: configuration().isJson }, io);
    });
  config
    .command('generate')
    .description('generate a commented configuration with new keys, or a client entry (with --json: as JSON)')
    .option('-o, --output <path>', 'write to this file, readable only by its owner')
    .option('--force', 'overwrite the file', false)
    .option('-s, --synapse-config <path>', 'convert this Synapse configuration file; may be repeated', collect)
    .option('--client', 'generate an entry for clients with a new id and secret instead', false)
    .option('--redirect-uri <uri>', 'with --client: where its answers are sent; may be repeated', collect)
    .action(async ({ client, redirectUri, synapseConfig = [], ...options }: GenerateFlags, command: Command) => {
      const { generateClient, generateConfig } = await import('./config.ts');
      const { isJson: json } = configuration();
      if (client && synapseConfig.length > 0) command.error('error: --synapse-config and --client cannot be combined');
      if (client) return await generateClient({ ...options, json, redirectUris: redirectUri ?? [] }, io);
      if (redirectUri !== undefined) command.error('error: --redirect-uri requires --client');
      const schemaPath = join(packageRoot, 'share/config.schema.json');
      const synapse = { files: synapseConfig, workingDirectory: io.workingDirectory };
      await generateConfig({ ...options, json, schemaPath, synapse, isMas: io.isMas === true }, io);
    });
  config
    .command('convert')
    .description('write a configuration of Matrix Authentication Service as one of Latchkey, and explain each change')
    .requiredOption('--mas-config <path>', 'file of Matrix Authentication Service; may be repeated', collect)
    .option('-o, --output <path>', 'write to this file, readable only by its owner')
    .option('--force', 'overwrite the file', false)
    .action(async ({ masConfig, ...options }: { masConfig: readonly string[]; output?: string; force: boolean }) => {
      const { convertConfig } = await import('./config.ts');
      const schemaPath = join(packageRoot, 'share/config.schema.json');
      await convertConfig({ ...options, files: masConfig, json: configuration().isJson, schemaPath }, sources(), io);
    });
  config
    .command('sync')
    .description('sync the clients of the configuration to the database')
    .option(
      '--prune',
      'delete clients and sign-in providers that are no longer in the configuration, with their sessions and links',
      false,
    )
    .option('--dry-run', 'print the changes without making them', false)
    .action(async (options: { prune: boolean; dryRun: boolean }) => {
      await (await import('./sync-config.ts')).syncConfig(configuration(), options, io);
    });
  config
    .command('schema')
    .description('print the JSON Schema of the configuration file')
    .action(async () => await (await import('./config.ts')).configSchema(io));
  config
    .command('manual')
    .description('print the configuration reference (Markdown)')
    .action(async () => await (await import('./config.ts')).configManual(io));
}

function addDatabaseCommands(
  program: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  const database = program.command('database').description('apply migrations and show the state of the database');
  database
    .command('migrate')
    .description('apply pending migrations')
    .option('--check', 'do not apply migrations; exit 1 if any are pending', false)
    .addOption(migrateTimeoutOption())
    .action(async (options: { check: boolean; migrateTimeout?: number }) => {
      const { migrateDatabase } = await import('./database.ts');
      finish(await migrateDatabase(configuration(), options, io));
    });
  database
    .command('status')
    .description('show server, migrations, size, largest tables, processes and due jobs')
    .action(async () => finish(await (await import('./database-status.ts')).databaseStatus(configuration(), io)));
}

function addKeysCommands(program: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const keys = program.command('keys').description('list, generate and rotate signing keys');
  keys
    .command('list')
    .description('list key id, type, state, age and source of all signing keys')
    .action(async () => (await import('./keys.ts')).listKeys(configuration(), io));
  keys
    .command('generate <type>')
    .description('generate a private key (PKCS#8, PEM): rsa2048 rsa3072 rsa4096 p256 p384 p521 k256 ed25519')
    .option('-o, --output <path>', 'write to this new file (mode 0600) instead of standard output')
    .action(async (type: string, options: { output?: string }) => {
      await (await import('./keys.ts')).generateKey(configuration(), { ...options, type }, io);
    });
  keys
    .command('rotate')
    .description('perform the next step of rotating the keys in data_dir/keys or secrets.keys_dir')
    .option('--type <type>', 'generate keys of this type, and rotate only keys of its algorithm')
    .addOption(durationOption('--publish-for <duration>', 'time to publish a new key before it signs (default: 1h)'))
    .option('--promote', 'start signing with the new key (at least 20 minutes after publishing)', false)
    .option('--retire', 'stop publishing the replaced key (after 24 hours)', false)
    .option('--force', 'skip the waiting times', false)
    .action(async (options: RotateKeysFlags) => {
      await (await import('./rotate-keys.ts')).rotateKeys(configuration(), options, io);
    });
  keys
    .command('rotate-encryption')
    .description('create a new root key and re-encrypt stored values; run again to continue')
    .option('--force', 'also within a day of the last rotation', false)
    .action(async (options: { force: boolean }) => {
      await (await import('./rotate-root-key.ts')).rotateRootKey(configuration(), options, io);
    });
}

function addDebugCommands(
  program: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  const debug = program.command('debug').description('inspect tokens and the policy');
  debug
    .command('token <token>')
    .description(
      'show kind and checksum of a token, from its text alone; exit 1 if it is not a token; - for standard input',
    )
    .action(async (token: string) =>
      finish(await (await import('./debug-token.ts')).debugToken(configuration(), token, io)),
    );
  debug
    .command('policy')
    .description('load the rules and data of the policy and show their sources; exit 1 if they are not valid')
    .option('--with-dynamic-data', 'also load the data last stored by an administrator, from the database', false)
    .action(async (options: DebugPolicyOptions) =>
      finish(await (await import('./debug-policy.ts')).debugPolicy(configuration(), options, io)),
    );
}

function addManageCommands(program: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const manage = program.command('manage').description('create and change accounts');
  addAccountCommands(manage, configuration, io);
  addSessionCommands(manage, configuration, io);
  addClientCommands(manage, configuration, io);
  addGroupCommands(manage, configuration, io);
  manage
    .command('register-user [username]')
    .description('create a user; asks for what is missing on a terminal')
    .option('-p, --password <password>', 'visible to other users of this machine: prefer --password-file')
    .option('--password-file <path>', 'file with the password; - for standard input')
    .option('-e, --email <address>', 'confirmed email address; may be repeated', collect)
    .option(
      '-m, --upstream-provider-mapping <provider:subject>',
      'identity at a sign-in provider, as provider id and subject; may be repeated',
      collect,
    )
    .option('-a, --admin', 'can request the admin scope')
    .option('-A, --no-admin', 'cannot request the admin scope')
    .option('-d, --display-name <name>', 'display name')
    .option('-l, --locale <tag>', 'language of the user, for example de-AT (default: i18n.default_language)')
    .option('-y, --yes', 'do not prompt', false)
    .option('--ignore-password-complexity', 'accept a weak password', false)
    .option('--skip-homeserver-check', 'do not check with the homeserver that the username is available', false)
    .action(async (username: string | undefined, options: RegisterUserFlags) => {
      const { withAccounts } = await import('./accounts.ts');
      const { registerUserCommand } = await import('./register-user.ts');
      const { email = [], upstreamProviderMapping = [], ...rest } = options;
      const { isJson } = configuration();
      await withAccounts(configuration(), io, (deps) =>
        registerUserCommand(deps, { ...rest, username, emails: email, upstreamProviderMapping, json: isJson }),
      );
    });
  manage
    .command('set-password <user> [password]')
    .description('set the password of a user, given as username, @user:server or id')
    .option('--password-file <path>', 'file with the password; - for standard input')
    .option('--ignore-complexity', 'accept a weak password', false)
    .option('--kill-sessions', 'also end all sessions of the user', false)
    .action(async (user: string, password: string | undefined, options: SetPasswordFlags) => {
      const { withAccounts } = await import('./accounts.ts');
      const { setPasswordCommand } = await import('./set-password.ts');
      const { isJson } = configuration();
      await withAccounts(configuration(), io, (deps) =>
        setPasswordCommand(deps, { ...options, user, password, json: isJson }),
      );
    });
  manage
    .command('lock-user <user>')
    .description('lock a user out until they are unlocked; keeps their sessions')
    .option(
      '--deactivate',
      'deactivate the account: remove all sessions and email addresses; the username stays reserved',
      false,
    )
    .option(
      '--erase',
      'with --deactivate: the homeserver hides what the user wrote; password, display name and links go',
      false,
    )
    .action(async (user: string, options: { deactivate: boolean; erase: boolean }) => {
      const { withAccounts } = await import('./accounts.ts');
      const { lockUserCommand } = await import('./lock-user.ts');
      const { isJson } = configuration();
      await withAccounts(configuration(), io, (deps) => lockUserCommand(deps, { ...options, user, json: isJson }));
    });
  manage
    .command('unlock-user <user>')
    .description('unlock a locked user')
    .option('--reactivate', 'reactivate a deactivated account, first at the homeserver', false)
    .action(async (user: string, options: { reactivate: boolean }) => {
      const { withAccounts } = await import('./accounts.ts');
      const { unlockUserCommand } = await import('./lock-user.ts');
      const { isJson } = configuration();
      await withAccounts(configuration(), io, (deps) => unlockUserCommand(deps, { ...options, user, json: isJson }));
    });
  manage
    .command('issue-user-registration-token')
    .description('create a registration token and print it')
    .option('--token <text>', '1 to 64 letters, digits and . _ ~ - (default: 12 random characters)')
    .addOption(
      countOption('--usage-limit <count>', 'number of accounts that can register with it (default: 1)').conflicts(
        'unlimited',
      ),
    )
    .option('--unlimited', 'unlimited number of accounts', false)
    .addOption(durationOption('--expires-in <duration>', 'lifetime: 3600, 7d (default: unlimited)'))
    .option('--email <address>', 'only this email address can register with it, once')
    .option('--send', 'send the registration link to that address', false)
    .option('--group <name>', 'the accounts join this group; may be repeated', collect)
    .option('--note <text>', 'note for administrators')
    .action(async (options: IssueTokenOptions) => {
      const { issueRegistrationTokenCommand } = await import('./issue-registration-token.ts');
      await issueRegistrationTokenCommand(configuration(), options, io);
    });
}
