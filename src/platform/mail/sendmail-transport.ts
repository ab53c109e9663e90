import { type ChildProcess, spawn } from 'node:child_process';
import { outside } from '#platform/base/tasks.ts';
import type { MailOutcome, MailTransport, Message } from './mail.ts';

export interface SendmailOptions {
  /** A path, or a name that is looked up. */
  readonly command: string;
  /** Of a whole attempt. */
  readonly timeoutSeconds: number;
}

/** Where such programs are. */
const SEARCH_PATH = '/usr/local/sbin:/usr/sbin:/usr/lib:/usr/local/bin:/usr/bin:/bin';
/** Of sysexits.h: data, user and host that are wrong will be wrong later. */
const FINAL_CODES = [65, 67, 68];

/** Hands mails to a program that takes the arguments of `sendmail`. No shell is involved. */
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
    const reason = `the program for mails ended with code ${ended}`;
    return { kind: FINAL_CODES.includes(ended) ? 'refused' : 'retry', reason };
  }

  /** That the program can be started; `-bV` makes those that know it print their version and nothing else. */
  async test(signal: AbortSignal): Promise<string | undefined> {
    const ended = await this.#run(['-bV'], Buffer.alloc(0), signal);
    return typeof ended === 'string' ? ended : undefined;
  }

  /** @returns the exit code, or why there is none */
  async #run(args: readonly string[], input: Buffer, signal: AbortSignal): Promise<number | string> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutSeconds * 1000)]);
    const program = spawn(this.#options.command, args, {
      // Not the environment of this process, which may hold secrets.
      env: { PATH: SEARCH_PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
      signal: limit,
      killSignal: 'SIGKILL',
    });
    // A program that ends early closes the pipe: its exit code says why.
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
        resolve(code === 'ABORT_ERR' ? 'the attempt took too long' : `the program for mails does not start (${code})`);
      });
      program.once('close', (code, killedBy) => {
        resolve(code ?? `the program for mails was ended by ${killedBy}`);
      });
    }),
  );
}
