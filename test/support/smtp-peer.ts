import { once } from 'node:events';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate } from './https-peer.ts';

/** A message that the server accepted. */
export interface TakenMail {
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly isEncrypted: boolean;
  readonly username: string | undefined;
  /** Headers and body as sent. */
  readonly source: string;
}

/** A third-party mail server on loopback, named `localhost`. */
export interface SmtpPeer {
  readonly port: number;
  readonly mails: readonly TakenMail[];
  stop(): Promise<void>;
}

export async function startSmtpPeer(options: SMTPServerOptions = {}): Promise<SmtpPeer> {
  const mails: TakenMail[] = [];
  const server = new SMTPServer({
    ...certificate(),
    authOptional: true,
    closeTimeout: 100,
    disableReverseLookup: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          sender: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure === true,
          username: typeof session.user === 'string' ? session.user : undefined,
          source: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const bound = server.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the peer is bound to no port');
  return {
    port: bound.port,
    mails,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
