import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { loadYaml } from '#config/fixture.test-support.ts';
import { Secret } from '#platform/base/secret.ts';
import { sendMail } from '#platform/mail/send-mail.ts';
import { SmtpTransport } from '#platform/mail/smtp-transport.ts';
import { startSmtpPeer } from '../support/smtp-peer.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/guides/mail.md');
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

describe('guide "Email delivery"', () => {
  test.each([
    ['smtp', 0],
    ['sendmail', 1],
    ['file', 2],
  ] as const)('has valid settings for the transport %s', (kind, index) => {
    const { email } = loadYaml(page.blocks('yaml')[index] ?? '');
    expect(email.transport.kind).toBe(kind);
    expect(email.securityNotices).toBe(true);
  });

  const OWN = { ehloName: 'localhost', sender: 'noreply@example.org' };

  /** Returns why a server on this port does not accept an email. */
  async function reasonAt(port: number, mode: 'plain' | 'tls' = 'plain'): Promise<string | undefined> {
    const credentials = { username: 'latchkey', password: new Secret('wrong') };
    const server = { hostname: 'localhost', port, mode, credentials, timeoutSeconds: 10, ...OWN };
    const outcome = await sendMail(
      new SmtpTransport(server),
      {
        from: { address: 'noreply@example.org' },
        replyTo: undefined,
        to: { address: 'amira@mail.example' },
        ...{ id: '1', date: new Date(), subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' },
      },
      new AbortController().signal,
    );
    return 'reason' in outcome ? outcome.reason : undefined;
  }

  async function freedPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    server.close();
    await once(server, 'close');
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function peerPort(...options: Parameters<typeof startSmtpPeer>): Promise<number> {
    const peer = await startSmtpPeer(...options);
    ends.push(peer.stop);
    return peer.port;
  }

  const refusal = (responseCode: number) => Object.assign(new Error('no'), { responseCode });

  test('lists the log reasons for undelivered mail', async () => {
    const isOpen = { allowInsecureAuth: true } as const;
    const reasons = [
      await reasonAt(await freedPort()),
      await reasonAt(await peerPort({ secure: true }), 'tls'),
      await reasonAt(await peerPort({ ...isOpen, onAuth: (_auth, _session, done) => done(refusal(535)) })),
      await reasonAt(await peerPort({ ...isOpen, onMailFrom: (_address, _session, done) => done(refusal(553)) })),
      await reasonAt(await peerPort({ ...isOpen, onRcptTo: (_address, _session, done) => done(refusal(550)) })),
    ];
    expect(reasons).toEqual([
      'no SMTP response (ECONNREFUSED)',
      expect.stringMatching(/^no SMTP response \((?:ETLS|ESOCKET)\)$/),
      expect.stringMatching(/^the SMTP server responded 535 to AUTH \w+: 535 no$/),
      'the SMTP server responded 553 to MAIL FROM: 553 no',
      'the SMTP server responded 550 to RCPT TO',
    ]);
    for (const [index, reason] of reasons.entries()) {
      const shown =
        index === 1
          ? 'no SMTP response (ETLS)'
          : (reason ?? '').replace(/AUTH \w+/, 'AUTH ...').replace(/: \d+ no$/, '');
      expect(page.text).toContain(shown);
    }
  });
});
