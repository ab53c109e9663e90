import { connect, type Socket } from 'node:net';
import type { SMTPConnectionCustomAuthHandler } from 'nodemailer/lib/smtp-connection';
import { foreignText } from '#platform/base/foreign-text.ts';
import { lookUpHost } from '#platform/base/host-names.ts';
import type { Secret } from '#platform/base/secret.ts';
import { outside } from '#platform/base/tasks.ts';
import type { MailOutcome, MailTransport, Message } from './mail.ts';
import { isInternationalized, readAnnouncement, WITHOUT_SMTPUTF8 } from './smtp-utf8.ts';

export interface SmtpOptions {
  readonly hostname: string;
  readonly port: number;
  /** `starttls` is mandatory, never opportunistic (operations 1.14). */
  readonly mode: 'plain' | 'starttls' | 'tls';
  readonly credentials: { readonly username: string; readonly password: Secret } | undefined;
  /** Timeout for a whole attempt. */
  readonly timeoutSeconds: number;
  /** Host name sent in EHLO. */
  readonly ehloName: string;
  /** Sender of all emails, used by `test`. */
  readonly sender: string;
  /** PEM certificates to trust instead of the public ones, for tests. */
  readonly trustedCertificates?: string | undefined;
}

/**
 * Sends emails to an SMTP server, each over its own connection. So a hanging connection affects only one email, and
 * closing it always ends the attempt.
 */
export class SmtpTransport implements MailTransport {
  readonly newline = 'win';
  readonly #options: SmtpOptions;

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  async send({ sender, recipient, content }: Message, signal: AbortSignal): Promise<MailOutcome> {
    return await this.#attempt<MailOutcome>(
      signal,
      async (opening) => {
        const { default: SmtpConnection } = await outside(import('nodemailer/lib/smtp-connection'));
        const session = await openSession(SmtpConnection, this.#options, opening);
        const takesUtf8 = await session.takesUtf8();
        if (!takesUtf8 && (isInternationalized(sender) || isInternationalized(recipient))) throw new Utf8Missing();
        const envelope = { from: sender, to: [recipient] };
        await session.step((done) => session.connection.send(envelope, content, done));
        session.connection.quit();
        return { kind: 'sent' };
      },
      judge,
    );
  }

  /**
   * Runs an SMTP dialog up to the point where the content would follow, addressed to the postmaster of the sender's
   * domain, and then resets it.
   */
  async test(signal: AbortSignal): Promise<string | undefined> {
    return await this.#attempt<string | undefined>(
      signal,
      async (opening) => {
        const { default: SmtpConnection } = await outside(import('nodemailer/lib/smtp-connection'));
        await tryEnvelope(SmtpConnection, this.#options, opening);
        return undefined;
      },
      (error) => judge(error).reason,
    );
  }

  async #attempt<T>(
    signal: AbortSignal,
    work: (opening: Opening) => Promise<T>,
    failed: (error: unknown) => T,
  ): Promise<T> {
    const milliseconds = this.#options.timeoutSeconds * 1000;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    // Created here rather than by the library, so that it can be closed at any time.
    const socket = connect({ host: this.#options.hostname, port: this.#options.port, lookup: lookUpHost });
    const opened = outside(
      new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      }),
    );
    // The connection may fail while no code is awaiting it.
    socket.on('error', () => {});
    opened.catch(() => {});
    const ended = outside(
      new Promise<never>((_, reject) => {
        limit.addEventListener('abort', () => reject(new TimeOut()), { once: true });
      }),
    );
    ended.catch(() => {});
    try {
      if (limit.aborted) throw new TimeOut();
      return await Promise.race([work({ socket, opened, milliseconds }), ended]);
    } catch (error) {
      return failed(error);
    } finally {
      socket.destroy();
    }
  }
}

class TimeOut extends Error {}

interface Opening {
  readonly socket: Socket;
  readonly opened: Promise<void>;
  readonly milliseconds: number;
}

function connectionOptions(options: SmtpOptions, milliseconds: number) {
  const { ehloName, hostname, port, mode, trustedCertificates } = options;
  return {
    host: hostname,
    port,
    name: ehloName,
    secure: mode === 'tls',
    requireTLS: mode === 'starttls',
    ignoreTLS: mode === 'plain',
    connectionTimeout: milliseconds,
    greetingTimeout: milliseconds,
    socketTimeout: milliseconds,
    ...(trustedCertificates !== undefined && { tls: { ca: trustedCertificates } }),
  };
}

function loginOf({ credentials }: SmtpOptions): { readonly user: string; readonly pass: string } | undefined {
  return credentials === undefined ? undefined : { user: credentials.username, pass: credentials.password.reveal() };
}

type SmtpConnectionClass = typeof import('nodemailer/lib/smtp-connection').default;
type Commands = SMTPConnectionCustomAuthHandler;

/** Name of a custom authentication method, through which the library lets us send other commands. */
const COMMANDS = 'COMMANDS';

/** A connection that is ready to send an email. */
interface Session {
  readonly connection: InstanceType<SmtpConnectionClass>;
  /** @throws errors that `judge` interprets */
  step(start: (done: (error?: Error | null) => void) => void): Promise<void>;
  run(commands: Commands): Promise<void>;
  takesUtf8(): Promise<boolean>;
}

/** @throws errors that `judge` interprets */
async function openSession(
  SmtpConnection: SmtpConnectionClass,
  options: SmtpOptions,
  { socket, opened, milliseconds }: Opening,
): Promise<Session> {
  await opened;
  let current: Commands | undefined;
  const connection = new SmtpConnection({
    ...connectionOptions(options, milliseconds),
    connection: socket,
    customAuth: { [COMMANDS]: (context) => current?.(context) },
  });
  const ended = outside(
    new Promise<never>((_, reject) => {
      connection.once('error', reject);
      connection.once('end', () => reject(new Error('the connection was closed')));
    }),
  );
  ended.catch(() => {});
  const step: Session['step'] = async (start) => {
    const done = outside(
      new Promise<void>((resolve, reject) => {
        start((error) => (error === undefined || error === null ? resolve() : reject(error)));
      }),
    );
    await Promise.race([done, ended]);
  };
  const run: Session['run'] = async (commands) => {
    current = commands;
    await step((done) => connection.login({ method: COMMANDS }, done));
  };
  const takesUtf8: Session['takesUtf8'] = async () => {
    let takes = false;
    await run(({ extensions, resolve }) => {
      takes = readAnnouncement(options, extensions);
      resolve();
    });
    return takes;
  };
  await step((done) => connection.connect(done));
  const login = loginOf(options);
  if (login !== undefined && connection.allowsAuth) await step((done) => connection.login({ ...login }, done));
  return { connection, step, run, takesUtf8 };
}

/** @throws errors that `judge` interprets */
async function tryEnvelope(SmtpConnection: SmtpConnectionClass, options: SmtpOptions, opening: Opening): Promise<void> {
  const { connection, run, takesUtf8 } = await openSession(SmtpConnection, options, opening);
  const { sender } = options;
  const needsUtf8 = isInternationalized(sender);
  if (!(await takesUtf8()) && needsUtf8) throw new Utf8Missing();
  let refused: RefusedCommand | undefined;
  await run(async ({ sendCommand, resolve }) => {
    const steps = [
      ['MAIL FROM', `<${sender}>${needsUtf8 ? ' SMTPUTF8' : ''}`],
      ['RCPT TO', `<postmaster@${sender.slice(sender.lastIndexOf('@') + 1)}>`],
    ] as const;
    for (const [command, path] of steps) {
      const { status = 0 } = await outside(sendCommand(`${command}:${path}`));
      if (status < 200 || status > 299) refused ??= new RefusedCommand(command, status);
      if (refused !== undefined) break;
    }
    await outside(sendCommand('RSET'));
    resolve();
  });
  connection.quit();
  if (refused !== undefined) throw refused;
}

class Utf8Missing extends Error {}

class RefusedCommand extends Error {
  readonly command: string;
  readonly responseCode: number;

  constructor(command: string, responseCode: number) {
    super(`${command} was rejected`);
    this.command = command;
    this.responseCode = responseCode;
  }
}

/**
 * Responses to these commands concern the email. Responses about the sender address or the password concern the
 * settings.
 */
const COMMANDS_OF_MAIL = ['RCPT TO', 'DATA'];

/** Interprets the error of an attempt (operations 6.2): 5xx about the email is final, everything else is temporary. */
function judge(error: unknown): Extract<MailOutcome, { readonly reason: string }> {
  if (error instanceof TimeOut) return { kind: 'retry', reason: 'the attempt timed out' };
  if (error instanceof Utf8Missing) return { kind: 'refused', reason: WITHOUT_SMTPUTF8 };
  const { code, command, response, responseCode } = factsOf(error);
  if (responseCode === undefined) return { kind: 'retry', reason: `no SMTP response (${code ?? 'unknown'})` };
  const isAboutMail = command !== undefined && COMMANDS_OF_MAIL.includes(command);
  const kind = isAboutMail && responseCode >= 500 ? 'refused' : 'retry';
  const requested = command === undefined || command === 'CONN' ? 'the connection' : command;
  // A response about the email may name the recipient.
  const said = isAboutMail || response === undefined ? '' : `: ${foreignText(response)}`;
  return { kind, reason: `the SMTP server responded ${responseCode} to ${requested}${said}` };
}

interface Facts {
  readonly code: string | undefined;
  readonly command: string | undefined;
  /** The server's response text. */
  readonly response: string | undefined;
  readonly responseCode: number | undefined;
}

function factsOf(error: unknown): Facts {
  if (!(error instanceof Error))
    return { code: undefined, command: undefined, response: undefined, responseCode: undefined };
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    command: 'command' in error && typeof error.command === 'string' ? error.command : undefined,
    response: 'response' in error && typeof error.response === 'string' ? error.response : undefined,
    responseCode: 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined,
  };
}
