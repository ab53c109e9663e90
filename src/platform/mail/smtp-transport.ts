import { connect, type Socket } from 'node:net';
import { lookUpHost } from '#platform/base/host-names.ts';
import type { Secret } from '#platform/base/secret.ts';
import { outside } from '#platform/base/tasks.ts';
import type { MailOutcome, MailTransport, Message } from './mail.ts';

export interface SmtpOptions {
  readonly hostname: string;
  readonly port: number;
  /** `starttls` is mandatory, never opportunistic (operations 1.14). */
  readonly mode: 'plain' | 'starttls' | 'tls';
  readonly credentials: { readonly username: string; readonly password: Secret } | undefined;
  /** Of a whole attempt. */
  readonly timeoutSeconds: number;
  /** Certificates to trust in place of the public ones; PEM. For tests. */
  readonly trustedCertificates?: string | undefined;
}

/**
 * Hands mails to an SMTP server, each over a connection of its own: a connection that hangs costs one mail, and closing
 * it ends the attempt whatever the server does.
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
      async (connection) => {
        await outside(connection.sendMail({ envelope: { from: sender, to: [recipient] }, raw: content }));
        return { kind: 'sent' };
      },
      judge,
    );
  }

  async test(signal: AbortSignal): Promise<string | undefined> {
    return await this.#attempt<string | undefined>(
      signal,
      async (connection) => {
        await outside(connection.verify());
        return undefined;
      },
      (error) => judge(error).reason,
    );
  }

  async #attempt<T>(
    signal: AbortSignal,
    work: (connection: Connection) => Promise<T>,
    failed: (error: unknown) => T,
  ): Promise<T> {
    const nodemailer = await outside(import('nodemailer'));
    const milliseconds = this.#options.timeoutSeconds * 1000;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    // Ours, so that it can be closed in the middle of anything.
    const socket = connect({ host: this.#options.hostname, port: this.#options.port, lookup: lookUpHost });
    const opened = outside(
      new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      }),
    );
    // It may fail while nobody waits for it.
    socket.on('error', () => {});
    opened.catch(() => {});
    const connection = speak(nodemailer, this.#options, { socket, opened }, milliseconds);
    const ended = outside(
      new Promise<never>((_, reject) => {
        limit.addEventListener('abort', () => reject(new TimeOut()), { once: true });
      }),
    );
    ended.catch(() => {});
    try {
      if (limit.aborted) throw new TimeOut();
      return await Promise.race([work(connection), ended]);
    } catch (error) {
      return failed(error);
    } finally {
      socket.destroy();
    }
  }
}

class TimeOut extends Error {}

type Connection = ReturnType<typeof speak>;

function speak(
  { createTransport }: typeof import('nodemailer'),
  { hostname, port, mode, credentials, trustedCertificates }: SmtpOptions,
  { socket, opened }: { readonly socket: Socket; readonly opened: Promise<void> },
  milliseconds: number,
) {
  return createTransport({
    host: hostname,
    port,
    secure: mode === 'tls',
    requireTLS: mode === 'starttls',
    ignoreTLS: mode === 'plain',
    getSocket: (_options, done) => {
      opened.then(
        () => done(null, { connection: socket }),
        (error: Error) => done(error),
      );
    },
    connectionTimeout: milliseconds,
    greetingTimeout: milliseconds,
    socketTimeout: milliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(credentials !== undefined && { auth: { user: credentials.username, pass: credentials.password.reveal() } }),
    ...(trustedCertificates !== undefined && { tls: { ca: trustedCertificates } }),
  });
}

/** Answers to these are about this mail. To the sender's address, as to the password, they are about the settings. */
const COMMANDS_OF_MAIL = ['RCPT TO', 'DATA'];

/** What the error of an attempt means (operations 6.2): 5xx about the mail is final, all else may pass. */
function judge(error: unknown): Extract<MailOutcome, { readonly reason: string }> {
  if (error instanceof TimeOut) return { kind: 'retry', reason: 'the attempt took too long' };
  const { code, command, responseCode } = factsOf(error);
  if (responseCode === undefined) return { kind: 'retry', reason: `no SMTP answer (${code ?? 'unknown'})` };
  const isAboutMail = command !== undefined && COMMANDS_OF_MAIL.includes(command);
  const kind = isAboutMail && responseCode >= 500 ? 'refused' : 'retry';
  const asked = command === undefined || command === 'CONN' ? 'the connection' : command;
  return { kind, reason: `the SMTP server answered ${responseCode} to ${asked}` };
}

interface Facts {
  readonly code: string | undefined;
  readonly command: string | undefined;
  readonly responseCode: number | undefined;
}

function factsOf(error: unknown): Facts {
  if (!(error instanceof Error)) return { code: undefined, command: undefined, responseCode: undefined };
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    command: 'command' in error && typeof error.command === 'string' ? error.command : undefined,
    responseCode: 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined,
  };
}
