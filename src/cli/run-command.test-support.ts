import { PassThrough } from 'node:stream';
import { StopSignals } from '#app/service/shutdown.ts';
import type { CommandIo } from './command-io.ts';
import { runProgram } from './program.ts';

const signals = new StopSignals('background');

/**
 * Runs a command in this process, without a terminal.
 * @param run the program, `latchkey` if omitted
 * @returns its exit code and output
 */
export async function runCommand(argv: readonly string[], changes: Partial<CommandIo> = {}, run = runProgram) {
  const said = { out: '', err: '' };
  const exitCode = await run(argv, {
    environment: {},
    workingDirectory: '/nowhere',
    version: '1.2.3',
    stdin: new PassThrough(),
    isTerminal: false,
    terminal: new PassThrough(),
    signals,
    stdout: (text) => {
      said.out += text;
    },
    hasReader: () => true,
    stderr: (text) => {
      said.err += text;
    },
    ...changes,
  });
  return { exitCode, ...said };
}
