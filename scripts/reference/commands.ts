import { Readable, Writable } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { StopSignals } from '../../src/cli/shutdown.ts';
import { code, table } from './markdown.ts';

const INTRODUCTION = `# Commands

Generated from the source; do not edit by hand.

\`latchkey [global options] COMMAND [options]\`. In a clone the program is \`node bin/latchkey.js\`, which installs and
builds first what is missing. Results go to standard output, messages to standard error, the log where
\`logging.output\` says. A command that asks questions does so on a terminal only.`;

const EXIT_CODES = `## Exit codes

| Code | Meaning |
|---|---|
| 0 | done |
| 1 | the command ran and failed; for \`serve\`: it was stopped with requests cut off |
| 2 | the command line was wrong, or an answer is missing and there is no terminal to ask at |
| 10, 11 | \`doctor\`, \`import check\`: something is wrong, or there are only warnings. 10 also when \`import migrate\` did not begin for that |
| 65 | a backup is damaged, or none of ours |
| 69 | the database cannot be reached, or did not do what was needed: it is too slow, has no room, or somebody holds a lock |
| 70 | internal error; the environment variable \`LATCHKEY_LOG=debug\` shows the stack |
| 71 | the operating system refused: an address is in use, a program is missing, too few files may be open, a disk is full |
| 73 | a file or a database is there already, and was left as it is |
| 75 | try again later: another process holds a lock, or the machine has too much to do |
| 77 | no permission for a file or directory |
| 78 | the configuration is invalid; every problem is listed. Also when password hashes at work could take over half the memory of the container |
| 130, 143 | ended by SIGINT or SIGTERM before it was done; \`serve\` then ends with 0 |`;

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
