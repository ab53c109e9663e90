import { Readable, Writable } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { StopSignals } from '../../src/app/service/shutdown.ts';
import { makeProgram } from '../../src/cli/program.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Commands

Generated from the source; do not edit by hand.

\`latchkey [global options] COMMAND [options]\`. In a clone, use \`node bin/latchkey.js\`, which installs dependencies and
builds the program if necessary. Results go to standard output, messages to standard error, and the log to the
destination in \`logging.output\`. Commands prompt for input only on a terminal.`;

const EXIT_CODES = `## Exit codes

| Code | Meaning |
|---|---|
| 0 | Success. |
| 1 | The command failed. For \`serve\`: requests were cut off when it stopped. |
| 2 | The command line is wrong, or input is required and there is no terminal. |
| 10, 11 | \`doctor\`, \`import check\`: errors were found, or only warnings. 10 also if errors prevented \`import migrate\` from starting. |
| 65 | The backup is damaged or has an unknown format. |
| 69 | The database is unreachable, or failed: too slow, no space left, or a lock was held. |
| 70 | Internal error. The environment variable \`LATCHKEY_LOG=debug\` shows the stack trace. |
| 71 | Operating system error: an address is in use, a program is missing, too many open files, or the disk is full. |
| 73 | The file or database already exists and was not changed. |
| 75 | Temporary failure, try again later: another process holds a lock, or the machine is overloaded. |
| 77 | No permission for a file or directory. |
| 78 | The configuration is invalid; every problem is listed. Also if concurrent password hashes could use more than half of the container's memory. |
| 130, 143 | Interrupted by SIGINT or SIGTERM; \`serve\` exits with 0 instead. |`;

export function commandsPage(): string {
  const program = makeProgram(silentIo, () => {});
  return `${[
    INTRODUCTION,
    `## Global options\n\n${optionTable(program.options)}`,
    ...commandsBelow(program, '').map(section),
    EXIT_CODES,
  ].join('\n\n')}\n`;
}

interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

/** Returns the executable commands, in help order. */
function commandsBelow(parent: Command, prefix: string): NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length > 0 ? commandsBelow(command, `${name} `) : [{ name, command }];
  });
}

function section({ name, command }: NamedCommand): string {
  const words = command.registeredArguments.map(argumentText);
  const aliases = command.aliases().map((alias) => `, or ${code(alias)}`);
  const description = command.description();
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  const options = command.options.length === 0 ? [] : [optionTable(command.options)];
  return [`## ${code([name, ...words].join(' '))}${aliases.join('')}`, sentence, ...options].join('\n\n');
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', 'Meaning'],
    options.map((option) => [
      code(option.flags),
      // In plain text, Markdown would parse angle brackets as HTML.
      option.description.replace(/<\w+>/g, code) +
        (option.argChoices === undefined ? '' : `: ${option.argChoices.map(code).join(', ')}`),
    ]),
  );
}

const silentIo = {
  environment: {},
  workingDirectory: '/',
  version: '',
  stdin: Readable.from([]),
  isTerminal: false,
  terminal: new Writable(),
  // Never read: no command is run.
  get signals() {
    return new StopSignals('background');
  },
  stdout() {},
  hasReader: () => true,
  stderr() {},
};
