import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { loadTypeScript } from '../../browser/load-typescript.js';

const { readMail } = await loadTypeScript('test/support/read-mail.ts');

const POLL_MS = 20;

/** A mail server on loopback that records the received mails by recipient. */
export class Mailboxes {
  /** Processing time for each mail. */
  takesMs = 0;
  #server;
  #mails = new Map();
  /** Number of deliveries by message ID. */
  #counts = new Map();

  static async listen() {
    const mailboxes = new Mailboxes();
    mailboxes.#server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['STARTTLS'], disableReverseLookup: true, closeTimeout: 100 },
      onData: (stream, { envelope }, done) => mailboxes.#take(stream, envelope.rcptTo, done),
    });
    // The sender may be killed at any time.
    mailboxes.#server.on('error', () => undefined);
    mailboxes.#server.listen(0, '127.0.0.1');
    await once(mailboxes.#server.server, 'listening');
    return mailboxes;
  }

  /** Section `email` of a configuration. */
  get settings() {
    const { port } = this.#server.server.address();
    return { transport: 'smtp', hostname: '127.0.0.1', port, mode: 'plain', from: 'noreply@example.org' };
  }

  /** Number of received mails. */
  get taken() {
    return this.#counts.size;
  }

  /** Mails received more than once. */
  get doubles() {
    return [...this.#counts].flatMap(([id, count]) => (count === 1 ? [] : [`${count} times: ${id}`]));
  }

  /** Returns the number of mails to an address so far. */
  count(address) {
    return this.#mails.get(address)?.length ?? 0;
  }

  /**
   * Waits for a mail with certain content.
   * @param find returns the content if the mail has it
   * @param since number of earlier mails to skip
   * @param isAwaited returns false to stop waiting
   * @returns undefined if it did not arrive in time
   */
  async find(address, find, { since, isAwaited, timeoutMs }) {
    const deadline = performance.now() + timeoutMs;
    while (isAwaited() && performance.now() < deadline) {
      for (const source of this.#mails.get(address)?.slice(since) ?? []) {
        const found = find(readMail(source));
        if (found !== undefined) return found;
      }
      await pause(POLL_MS);
    }
    return undefined;
  }

  async close() {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(stream, recipients, done) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      const source = Buffer.concat(chunks).toString();
      const id = readMail(source).headers['message-id'];
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
      for (const { address } of recipients) {
        this.#mails.set(address, [...(this.#mails.get(address) ?? []), source]);
      }
      setTimeout(done, this.takesMs);
    });
  }
}
