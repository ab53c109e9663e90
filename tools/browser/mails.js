import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { loadTypeScript } from './load-typescript.js';
import { APPEARANCES, appear, checkWidth, checkWithAxe } from './pages/examine.js';

const WAIT_MS = 30_000;

/** A mail server on loopback that records the received mails. */
export class MailServer {
  #server;
  #mails = [];

  static async listen() {
    const mails = new MailServer();
    mails.#server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['STARTTLS'], disableReverseLookup: true },
      onData: (stream, _session, done) => mails.#take(stream, done),
    });
    mails.#server.listen(0, '127.0.0.1');
    await once(mails.#server.server, 'listening');
    return mails;
  }

  /** Section `email` of a configuration. */
  get settings() {
    const { port } = this.#server.server.address();
    return { transport: 'smtp', hostname: '127.0.0.1', port, mode: 'plain', from: 'Harbour <noreply@example.org>' };
  }

  /** Returns the next unread mail. */
  async next() {
    const { readMail } = await loadTypeScript('test/support/read-mail.ts');
    const deadline = performance.now() + WAIT_MS;
    while (this.#mails.length === 0) {
      assert.ok(performance.now() < deadline, 'a mail arrives');
      await pause(50);
    }
    return readMail(this.#mails.shift());
  }

  async close() {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(stream, done) {
    const chunks = [];
    stream.on('data', (chunk) => chunks.push(chunk));
    stream.on('end', () => {
      this.#mails.push(Buffer.concat(chunks).toString());
      done();
    });
  }
}

/** Renders a mail like a mail client, in every appearance, and checks that it is readable. */
export async function examineMail({ browser, mail, name, pictures }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const fetched = [];
    await page.route('**', (route) => {
      fetched.push(route.request().url());
      return route.abort();
    });
    await page.setContent(mail.html);
    for (const appearance of APPEARANCES) {
      await appear(page, appearance);
      await checkWidth(page);
      await checkWithAxe(page);
      const { colorScheme, viewport } = appearance;
      const path = `mail-${name}-${colorScheme}-${viewport.width}.png`;
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, path), fullPage: true });
    }
    assert.deepEqual(fetched, [], 'a mail fetches nothing');
  } finally {
    await context.close();
  }
}
