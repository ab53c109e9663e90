/**
 * Emails that the service sends, as the recipient's server receives them.
 *
 *     const mails = await startMails();
 *     const pages = await startPages(database, { email: mails.config });         // or
 *     const service = await startService({ email: mails.settings });
 *     ...
 *     expect(await mails.deliver(pages.core)).toMatchObject([{ to: 'amira@mail.example', subject: '...' }]);
 *     await mails.stop();
 */
import type { SMTPServerOptions } from 'smtp-server';
import { createMailWorker } from '#app/jobs.ts';
import type { Config } from '#config/config.ts';
import type { Core } from '#domain/core.ts';
import { openTransport } from '#platform/mail/open-transport.ts';
import { type ReadMail, readMail } from './read-mail.ts';
import { startSmtpPeer } from './smtp-peer.ts';

const OWN = { ehloName: 'localhost', sender: 'noreply@localhost' };

export interface ReceivedMail extends ReadMail {
  /** The only recipient. */
  readonly to: string;
}

export interface Mails {
  /** The `email` section of a configuration file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The same section, parsed. */
  readonly config: Config['email'];
  /** Runs the due email jobs. @returns the emails that arrived since the last call, in order */
  deliver(core: Core): Promise<ReceivedMail[]>;
  stop(): Promise<void>;
}

/** @param options for the recipient's server */
export async function startMails(options: SMTPServerOptions = {}): Promise<Mails> {
  const { port, mails, stop } = await startSmtpPeer(options);
  const server = { hostname: '127.0.0.1', port, mode: 'plain' } as const;
  let seen = 0;
  return {
    settings: { transport: 'smtp', ...server, from: 'Example <noreply@example.org>' },
    config: {
      transport: { kind: 'smtp', ...server, credentials: undefined, timeoutSeconds: 10, ...OWN },
      from: { name: 'Example', address: 'noreply@example.org' },
      replyTo: undefined,
      maxConnections: 2,
      maxPerMinute: undefined,
      codeTtlSeconds: 300,
      allowSingleLabelDomains: [],
      notifyUnknownRecovery: false,
      securityNotices: true,
    },
    deliver: async (core) => {
      const transport = openTransport(core.config.email.transport, core.clock);
      const worker = createMailWorker({ ...core, isBusy: () => false, transport });
      while ((await worker.poll()) > 0) await worker.idle();
      const arrived = mails.slice(seen);
      seen = mails.length;
      return arrived.map(({ recipients, source }) => ({ to: recipients.join(), ...readMail(source) }));
    },
    stop,
  };
}
