import { type ChildProcess, spawn } from 'node:child_process';
import { outside } from '#platform/base/tasks.ts';
import type { MailOutcome, MailTransport, Message } from './mail.ts';

export interface SendmailOptions {
  /** A path, or a name that is searched for. */
  readonly command: string;
  /** Timeout for a whole attempt. */
  readonly timeoutSeconds: number;
}

/** Directories that usually contain such programs. */
const SEARCH_PATH = '/usr/local/sbin:/usr/sbin:/usr/lib:/usr/local/bin:/usr/bin:/bin';
/** From sysexits.h: invalid data, unknown user and unknown host. A retry would fail as well. */
const FINAL_CODES = [65, 67, 68];

/** Passes emails to a program that accepts the arguments of `sendmail`. Does not use a shell. */
export class SendmailTransport implements MailTransport {
  readonly newline = 'linux';
  readonly #options: SendmailOptions;

  constructor(options: SendmailOptions) {
    this.#options = options;
  }

  async send({ sender, recipient, content }: Message, signal: AbortSignal): Promise<MailOutcome> {
    const ended = await this.#run(['-i', '-f', sender, '--', recipient], content, signal);
    if (ended === 0) return { kind: 'sent' };
    if (typeof ended === 'string') return { kind: 'retry', reason: ended };
    const reason = `the sendmail program exited with code ${ended}`;
    return { kind: FINAL_CODES.includes(ended) ? 'refused' : 'retry', reason };
  }

  /** Checks that the program can be started. Programs that know `-bV` only print their version. */
  async test(signal: AbortSignal): Promise<string | undefined> {
    const ended = await this.#run(['-bV'], Buffer.alloc(0), signal);
    return typeof ended === 'string' ? ended : undefined;
  }

  /** @returns the exit code, or the reason why there is none */
  async #run(args: readonly string[], input: Buffer, signal: AbortSignal): Promise<number | string> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutSeconds * 1000)]);
    const program = spawn(this.#options.command, args, {
      // Does not inherit the environment of this process, which may contain secrets.
      env: { PATH: SEARCH_PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
      signal: limit,
      killSignal: 'SIGKILL',
    });
    // A program that exits early closes the pipe. Its exit code shows why.
    program.stdin.on('error', () => {});
    program.stdin.end(input);
    return await endOf(program);
  }
}

function endOf(program: ChildProcess): Promise<number | string> {
  return outside(
    new Promise((resolve) => {
      program.once('error', (error) => {
        const code = 'code' in error ? error.code : undefined;
        resolve(code === 'ABORT_ERR' ? 'the attempt timed out' : `the sendmail program failed to start (${code})`);
      });
      program.once('close', (code, killedBy) => {
        resolve(code ?? `the sendmail program was killed by ${killedBy}`);
      });
    }),
  );
}
