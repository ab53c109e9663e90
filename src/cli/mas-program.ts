/**
 * The program `mas-cli`: the commands of Latchkey with the options, messages and exit codes of Matrix Authentication
 * Service (MAS), for scripts that call it. Each command is the one of Latchkey; the table lists what is different.
 */
import { parseRustLog } from '#config/mas/environment.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode } from '#platform/base/errors.ts';
import type { CommandIo } from './command-io.ts';
import { runProgram } from './program.ts';

interface MasCommand {
  /** Options of Latchkey that give the command the meaning it has in MAS. */
  readonly adds?: readonly string[];
  /** Options without effect that Latchkey does not have. */
  readonly drops?: readonly string[];
  /** Returns the messages of MAS for the lines on standard output. Scripts search them for tokens and ids. */
  readonly says?: (lines: readonly string[]) => readonly string[];
  /** The exit code of every result. */
  readonly exitCode?: number;
}

const COMMANDS: ReadonlyMap<string, MasCommand> = new Map<string, MasCommand>([
  ['server', { drops: ['--migrate'] }],
  ['config dump', { adds: ['--show-secrets'] }],
  ['config generate', { adds: ['--force'] }],
  ['doctor', { exitCode: ExitCode.ok }],
  ['manage kill-sessions', { adds: ['--keep-personal'] }],
  ['manage issue-compatibility-token', { says: withToken('Compatibility token issued') }],
  ['manage issue-user-registration-token', { says: withToken('Created user registration token') }],
  [
    'manage list-admin-users',
    {
      says: (lines) => [
        `The following users can request admin privileges (${lines.length} total):`,
        ...lines.map((line) => userFields(line)),
      ],
    },
  ],
  ['manage register-user', { says: (lines) => lines.map((line) => `User registered ${userFields(line)}`) }],
]);

function withToken(message: string) {
  return (lines: readonly string[]): readonly string[] => lines.map((token) => `${message}: ${token}`);
}

/** @param line id and username, separated by a tab */
function userFields(line: string): string {
  const [id = '', username = ''] = line.split('\t');
  return `user.id=${id} username=${username}`;
}

/** Options before the command that have a value. */
const WITH_VALUE: ReadonlySet<string> = new Set(['-c', '--config', '--data-dir', '--log-level', '--log-format']);

/** Returns the positions of the words that name the command, at most two. */
function commandWords(argv: readonly string[]): readonly number[] {
  const words: number[] = [];
  for (let index = 0; index < argv.length && words.length < 2; index += 1) {
    const word = argv[index] ?? '';
    if (WITH_VALUE.has(word)) index += 1;
    else if (!word.startsWith('-')) words.push(index);
  }
  return words;
}

/** Runs `mas-cli` and returns its exit code. */
export async function runMasProgram(argv: readonly string[], io: CommandIo): Promise<number> {
  const names = commandWords(argv).map((index) => argv[index] ?? '');
  const command = COMMANDS.get(names.join(' ')) ?? COMMANDS.get(names[0] ?? 'server') ?? {};
  const { adds = [], drops = [], says } = command;
  let printed = '';
  const exitCode = await runProgram([...argv.filter((word) => !drops.includes(word)), ...adds], {
    ...io,
    isMas: true,
    stdout: (text) => {
      if (says !== undefined) printed += text;
      io.stdout(text);
    },
    stderr: (text) => io.stderr(masMessage(text)),
  });
  if (exitCode === ExitCode.ok && says !== undefined && showsMessages(io)) {
    const lines = printed.split('\n').filter((line) => line !== '');
    for (const message of says(lines)) io.stderr(`${logLine(message)}\n`);
  }
  return command.exitCode ?? masExitCode(exitCode, names[0]);
}

function showsMessages({ environment }: CommandIo): boolean {
  const { level = 'info' } = parseRustLog(environment['RUST_LOG'] ?? '');
  return level !== 'error' && level !== 'warn';
}

function logLine(message: string): string {
  return `${new Date(systemClock.now()).toISOString()}  INFO mas_cli: ${message}`;
}

/** Messages of MAS about failures begin with `Error:`. */
function masMessage(text: string): string {
  return text.replace(/^latchkey: (warning: )?/, (_, warning?: string) =>
    warning === undefined ? 'Error: ' : `mas-cli: ${warning}`,
  );
}

const IMPORTS: ReadonlySet<string> = new Set(['import', 'syn2mas']);
const SAME_CODES: ReadonlySet<number> = new Set([
  ...[ExitCode.ok, ExitCode.usage, ExitCode.hungUp, ExitCode.interrupted, ExitCode.terminated],
]);

/** MAS has one exit code for all failures, except findings of an import. */
function masExitCode(exitCode: number, name: string | undefined): number {
  const isFinding = exitCode === ExitCode.doctorFails || exitCode === ExitCode.doctorWarns;
  if (SAME_CODES.has(exitCode) || (isFinding && IMPORTS.has(name ?? ''))) return exitCode;
  return ExitCode.failure;
}
