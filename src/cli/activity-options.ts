/** Options of `activity` (operations 3.10). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '#platform/base/clock.ts';
import { type Cidr, parseCidr } from '#platform/base/ip-address.ts';
import { ACTIVITIES } from './activity/classify.ts';
import { FORMATS, type Format } from './activity/output.ts';
import { parseTime } from './activity/selection.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

interface ActivityFlags {
  readonly format?: Format;
  readonly summary: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly requester?: string;
  readonly clientAddress?: Cidr;
  readonly activity?: readonly string[];
  readonly prefix: string;
  readonly strict: boolean;
}

export function addActivityCommand(
  program: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  program
    .command('activity [files...]')
    .description(
      'show sign-ins, sign-outs, issued tokens and other activity, from request lines of the log (text or JSON)',
    )
    .addOption(new Option('--format <format>', 'output format (default: table; with --json: json)').choices(FORMATS))
    .option('--summary', 'print counts by activity and outcome, and failures by requester', false)
    .addOption(timeOption('--since <time>', 'start time, inclusive: 2026-06-17T10:00:00Z, 2026-06-17 or -2h'))
    .addOption(timeOption('--until <time>', 'end time, exclusive'))
    .option('--requester <requester>', 'requester as in the log, a username or user id, or a client id')
    .addOption(
      new Option('--client-address <network>', 'client IP address or network (192.0.2.0/24)').argParser(parseNetwork),
    )
    .addOption(
      new Option(
        '--activity <names>',
        `comma-separated list of: ${ACTIVITIES.join(', ')}, account:<Operation>`,
      ).argParser(parseActivities),
    )
    .addOption(
      new Option('--prefix <path>', 'prefix of the listener that received the requests')
        .argParser(parsePrefix)
        .default('', 'none'),
    )
    .option('--strict', 'exit 1 if a request line cannot be parsed', false)
    .action(async (files: readonly string[], options: ActivityFlags, command: Command) => {
      const { isJson, isQuiet } = configuration();
      const { activity: activities, ...flags } = options;
      const format = flags.format ?? (isJson ? 'json' : 'table');
      if (isJson && format !== 'json') command.error(`error: --json and --format ${format} cannot be combined`);
      if (flags.summary && format === 'svg') command.error('error: --summary and --format svg cannot be combined');
      if (flags.since !== undefined && flags.until !== undefined && flags.since >= flags.until)
        command.error('error: --since must be before --until');
      if (files.length === 0 && io.isTerminal)
        command.error('error: no input; name a log file, or pipe the log to standard input');
      const { printActivity } = await import('./activity.ts');
      finish(await printActivity({ ...flags, files, activities, format, isQuiet }, io));
    });
}

function timeOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const time = parseTime(text, systemClock.now());
    if (time === undefined)
      throw new InvalidArgumentError(
        'Expected a time (2026-06-17T10:00:00Z), a date (2026-06-17) or a relative time (-2h).',
      );
    return time;
  });
}

function parseNetwork(text: string): Cidr {
  const network = parseCidr(text);
  if (network === undefined)
    throw new InvalidArgumentError('Expected an IP address, or a network (192.0.2.0/24) without host bits.');
  return network;
}

function parseActivities(text: string): readonly string[] {
  const names = text.split(',');
  const unknown = names.find((name) => {
    const [activity, ...operation] = name.split(':');
    const isKnown = ACTIVITIES.some((known) => known === activity);
    return !isKnown || (operation.length > 0 && activity !== 'account');
  });
  if (unknown !== undefined) throw new InvalidArgumentError(`Unknown activity '${unknown}'.`);
  return names;
}

function parsePrefix(text: string): string {
  if (!/^\/\S+$/.test(text)) throw new InvalidArgumentError('Expected a path, for example /auth.');
  return text.replace(/\/+$/, '');
}
