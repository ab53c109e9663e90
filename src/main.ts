/** The program `latchkey`: hands its process to the command line and ends with its exit code. */
import { setFlagsFromString } from 'node:v8';
import { MEMBER_VARIABLE } from '#app/service/member-messages.ts';
import { StopSignals } from '#app/service/shutdown.ts';
import { runMasProgram } from '#cli/mas-program.ts';
import { runProgram } from '#cli/program.ts';
import { readPackageVersion } from '#platform/base/package-root.ts';

// Requests leave small objects that die young. When several threads collect them, each leaves the rest of a buffer in
// the old generation, which so fills with nothing and has to be collected ten times as often; one thread costs less
// altogether. The old generation is collected when it has grown by half, where the runtime would let it double first:
// resident memory then stays near what it was after the first thousand requests.
setFlagsFromString('--no-parallel-scavenge');
setFlagsFromString('--heap-growing-percent=50');

/** Set by the executable `mas-cli`, and inherited by the serving processes. */
const PROGRAM_VARIABLE = 'LATCHKEY_PROGRAM';

// One of several serving processes; the first of them was given sockets and the terminal.
const isMember = process.env[MEMBER_VARIABLE] !== undefined && process.send !== undefined;
const { LISTEN_PID, NOTIFY_SOCKET, ...memberEnvironment } = process.env;
const isTerminal = process.stdin.isTTY === true;
const signals = new StopSignals(isMember ? 'member' : isTerminal ? 'terminal' : 'background');

// Who read the results may have enough of them; without a listener that would end the process with a stack.
let hasReader = true;
process.stdout.on('error', () => {
  hasReader = false;
});

const run = process.env[PROGRAM_VARIABLE] === 'mas-cli' ? runMasProgram : runProgram;
process.exitCode = await run(process.argv.slice(2), {
  environment: isMember ? memberEnvironment : process.env,
  workingDirectory: process.cwd(),
  version: readPackageVersion(),
  stdin: process.stdin,
  isTerminal,
  terminal: process.stderr,
  signals,
  stdout: (text) => process.stdout.write(text),
  hasReader: () => hasReader,
  stderr: (text) => process.stderr.write(text),
});
// What a signal interrupted may still hold connections; everything that matters was closed in order. And the channel to
// the first of several processes would keep the others for ever.
if (signals.isRequested || isMember) process.exit();
