import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Secret } from '#platform/base/secret.ts';
import { certificate } from '#test/support/https-peer.ts';
import { STEPS, startScriptedSmtp } from '#test/support/scripted-smtp.ts';
import { startSmtpPeer } from '#test/support/smtp-peer.ts';
import type { Mail } from './mail.ts';
import { sendMail } from './send-mail.ts';
import { type SmtpOptions, SmtpTransport } from './smtp-transport.ts';

const MAIL: Mail = {
  from: { name: 'Würzburg Club', address: 'noreply@club.example' },
  replyTo: { address: 'help@club.example' },
  to: { name: 'amira', address: 'amira@mail.example' },
  id: '01JD3Q5Z8W2N4K6M7P9R0S1T2V',
  date: new Date('2026-11-22T10:00:00Z'),
  subject: 'Ihr Passwort wurde geändert',
  text: 'Guten Tag',
  html: '<p>Guten Tag</p>',
};

const NEVER = new AbortController().signal;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function peer(...options: Parameters<typeof startSmtpPeer>) {
  const started = await startSmtpPeer(...options);
  closers.push(started.stop);
  return started;
}

function transport(port: number, options: Partial<SmtpOptions> = {}): SmtpTransport {
  return new SmtpTransport({
    hostname: 'localhost',
    port,
    mode: 'plain',
    credentials: undefined,
    timeoutSeconds: 10,
    ehloName: 'auth.club.example',
    sender: 'noreply@club.example',
    trustedCertificates: certificate().cert,
    ...options,
  });
}

/** A server that does not speak SMTP, or does so incorrectly. */
async function rawPeer(response: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    response(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('bound to no port');
  return bound.port;
}

function headOf(source: string): string[] {
  return (source.split('\r\n\r\n')[0] ?? '').replaceAll(/\r\n[ \t]/g, ' ').split('\r\n');
}

describe('an internationalized address (RFC 6531)', () => {
  const TO = { ...MAIL, to: { name: 'jürgen', address: 'jürgen@xn--bcher-kva.example' } };

  test('gets its email from a server that announces SMTPUTF8', async () => {
    const utf8: (boolean | undefined)[] = [];
    const { port, mails } = await peer({
      onRcptTo: (_, session, done) => {
        utf8.push(session.envelope.smtpUtf8);
        done();
      },
    });
    const used = transport(port);
    expect(await sendMail(used, TO, NEVER)).toEqual({ kind: 'sent' });
    // The test server decodes the domain.
    expect(mails).toMatchObject([{ recipients: ['jürgen@bücher.example'] }]);
    expect(headOf(mails[0]?.source ?? '').find((line) => line.startsWith('To:'))).toMatch(/<jürgen@bücher\.example>$/);
    expect(await sendMail(used, MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(utf8).toEqual([true, false]);
  });

  test('is rejected permanently by a server without it, before anything is sent', async () => {
    const commands: string[] = [];
    const { port, mails } = await peer({
      hideSMTPUTF8: true,
      onMailFrom: ({ address }, _, done) => {
        commands.push(address);
        done();
      },
    });
    const used = transport(port);
    expect(await sendMail(used, TO, NEVER)).toEqual({
      kind: 'refused',
      reason: 'the address has non-ASCII characters before the @, but the SMTP server does not support SMTPUTF8',
    });
    expect(commands).toEqual([]);
    expect(await sendMail(used, MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(mails).toHaveLength(1);
  });

  test('is checked as sender before the first email', async () => {
    const sender = 'büro@club.example';
    const with8 = await peer();
    expect(await transport(with8.port, { sender }).test(NEVER)).toBeUndefined();
    const without = await peer({ hideSMTPUTF8: true });
    expect(await transport(without.port, { sender }).test(NEVER)).toMatch(/does not support SMTPUTF8$/);
  });
});

describe('an email', () => {
  test('arrives as text and HTML with the headers of browser-flows 11', async () => {
    const { port, mails } = await peer();
    expect(await sendMail(transport(port), MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(mails).toMatchObject([{ sender: 'noreply@club.example', recipients: ['amira@mail.example'] }]);
    const source = mails[0]?.source ?? '';
    expect(headOf(source)).toEqual(
      expect.arrayContaining([
        'From: =?UTF-8?Q?W=C3=BCrzburg_Club?= <noreply@club.example>',
        'To: amira <amira@mail.example>',
        'Reply-To: help@club.example',
        'Message-ID: <01JD3Q5Z8W2N4K6M7P9R0S1T2V@club.example>',
        'Auto-Submitted: auto-generated',
        'X-Auto-Response-Suppress: All',
        'Date: Sun, 22 Nov 2026 10:00:00 +0000',
        expect.stringMatching(/^Subject: =\?UTF-8\?Q\?Ihr_Passwort_wurde_ge=C3=A4ndert\?=$/),
        expect.stringMatching(/^Content-Type: multipart\/alternative;/),
      ]),
    );
    expect(source.indexOf('text/plain')).toBeLessThan(source.indexOf('text/html'));
  });

  test('is a single message to one recipient, whatever display name the user has (S-76)', async () => {
    const { port, mails } = await peer();
    const evil = 'amira\r\nBcc: b@evil.example\r\n\r\nbody\u2028\u0000<x@evil.example>, c@evil.example';
    const mail = {
      ...MAIL,
      to: { name: evil, address: MAIL.to.address },
      subject: evil,
      from: { ...MAIL.from, name: evil },
    };
    expect(await sendMail(transport(port), mail, NEVER)).toEqual({ kind: 'sent' });
    expect(mails.map(({ recipients }) => recipients)).toEqual([['amira@mail.example']]);
    const names = headOf(mails[0]?.source ?? '').map((line) => line.split(':')[0]);
    expect(names).not.toContain('Bcc');
    for (const name of ['From', 'To', 'Subject']) expect(names.filter((found) => found === name)).toHaveLength(1);
  });

  test.each([
    ['a.b=c/d+e', 'To: "a.b=c/d+e" <amira@mail.example>'],
    ['amira", <x@evil.example>', 'To: "amira\\", <x@evil.example>" <amira@mail.example>'],
    ['=?utf-8?q?Support?=', 'To: =?UTF-8?Q?=3D=3Futf-8=3Fq=3FSupport=3F=3D=E2=80=8B?= <amira@mail.example>'],
  ])('has the recipient %j, quoted or encoded', async (name, header) => {
    const { port, mails } = await peer();
    await sendMail(transport(port), { ...MAIL, to: { name, address: MAIL.to.address } }, NEVER);
    expect(headOf(mails[0]?.source ?? '')).toContain(header);
  });

  test.each(['amira@mail.example\r\nRCPT TO:<b@evil.example>', 'a@mail.example,b@evil.example', '<a@mail.example>'])(
    'to the address %j is not sent (S-76)',
    async (address) => {
      const { port, mails } = await peer();
      const outcome = await sendMail(transport(port), { ...MAIL, to: { address } }, NEVER);
      expect(outcome).toEqual({ kind: 'refused', reason: 'the recipient is not a single address' });
      expect(mails).toEqual([]);
    },
  );
});

describe('the connection', () => {
  test.each([
    ['tls', { secure: true }],
    ['starttls', {}],
  ] as const)('is encrypted by %s, and the password is sent over it', async (mode, options) => {
    const { port, mails } = await peer(options);
    const credentials = { username: 'latchkey', password: new Secret('a secret') };
    expect(await sendMail(transport(port, { mode, credentials }), MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(mails).toMatchObject([{ isEncrypted: true, username: 'latchkey' }]);
  });

  test('is not used when STARTTLS is required and not offered', async () => {
    const { port, mails } = await peer({ disabledCommands: ['STARTTLS'] });
    const outcome = await sendMail(transport(port, { mode: 'starttls' }), MAIL, NEVER);
    expect([outcome.kind, mails]).toEqual(['retry', []]);
  });

  test('is not used when the certificate is not trusted', async () => {
    const { port, mails } = await peer({ secure: true });
    const outcome = await sendMail(transport(port, { mode: 'tls', trustedCertificates: undefined }), MAIL, NEVER);
    expect([outcome.kind, mails]).toEqual(['retry', []]);
  });
});

function refusal(responseCode: number): Error {
  return Object.assign(new Error('no amira@mail.example here'), { responseCode });
}

describe('rejections', () => {
  test("of the password: the reason contains the server's message", async () => {
    const { port } = await peer({
      secure: true,
      onAuth: (_auth, _session, done) =>
        done(Object.assign(new Error('5.7.8 app password needed'), { responseCode: 535 })),
    });
    const credentials = { username: 'latchkey', password: new Secret('a secret') };
    const outcome = await sendMail(transport(port, { mode: 'tls', credentials }), MAIL, NEVER);
    expect(outcome).toEqual({
      kind: 'retry',
      reason: expect.stringMatching(/^the SMTP server responded 535 to AUTH \w+: 535 5\.7\.8 app password needed$/),
    });
  });

  test.each([
    ['the recipient for good', 550, 'refused'],
    ['the recipient for now', 450, 'retry'],
  ] as const)('%s', async (_, code, kind) => {
    const { port } = await peer({ onRcptTo: (_address, _session, done) => done(refusal(code)) });
    const outcome = await sendMail(transport(port), MAIL, NEVER);
    expect(outcome).toEqual({ kind, reason: `the SMTP server responded ${code} to RCPT TO` });
  });

  test.each([
    [554, 'refused'],
    [451, 'retry'],
  ] as const)('of the content, with %i', async (code, kind) => {
    const { port } = await peer({
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => done(refusal(code)));
      },
    });
    expect((await sendMail(transport(port), MAIL, NEVER)).kind).toBe(kind);
  });

  test('of the sender: an operator has to fix it, so the email waits', async () => {
    const { port } = await peer({ onMailFrom: (_address, _session, done) => done(refusal(553)) });
    const outcome = await sendMail(transport(port), MAIL, NEVER);
    expect(outcome).toEqual({
      kind: 'retry',
      reason: 'the SMTP server responded 553 to MAIL FROM: 553 no amira@mail.example here',
    });
  });

  test('of the password: an operator has to fix it, so the email waits', async () => {
    const { port } = await peer({ onAuth: (_auth, _session, done) => done(refusal(535)) });
    const credentials = { username: 'latchkey', password: new Secret('wrong') };
    const outcome = await sendMail(transport(port, { mode: 'starttls', credentials }), MAIL, NEVER);
    expect(outcome).toMatchObject({ kind: 'retry' });
    expect(JSON.stringify(outcome)).not.toContain('wrong');
  });
});

describe('a server that fails at a given step (F-16)', () => {
  const failures = STEPS.flatMap((step) => [
    [step, 421, 'retry'] as const,
    [step, 550, ['RCPT TO', 'DATA', 'content'].includes(step) ? 'refused' : 'retry'] as const,
    [step, 'silent', 'retry'] as const,
    [step, 'drip', 'retry'] as const,
    [step, 'close', 'retry'] as const,
  ]);

  test.each(failures)('%s: %s: %s', async (step, reaction, kind) => {
    const server = await startScriptedSmtp();
    closers.push(server.stop);
    server.reactions = { [step]: reaction };
    const timeoutSeconds = reaction === 'silent' || reaction === 'drip' ? 0.5 : 10;
    expect(await sendMail(transport(server.port, { timeoutSeconds }), MAIL, NEVER)).toMatchObject({ kind });
    expect(server.mails).toEqual([]);
    server.reactions = {};
    expect(await sendMail(transport(server.port), MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test('closes the connection when the process aborts the attempt and the server does not react', async () => {
    const server = await startScriptedSmtp();
    closers.push(server.stop);
    server.reactions = { content: 'silent' };
    const stopping = new AbortController();
    const sending = sendMail(transport(server.port, { timeoutSeconds: 600 }), MAIL, stopping.signal);
    await expect.poll(() => server.steps).toContain('content');
    stopping.abort();
    expect(await sending).toMatchObject({ kind: 'retry' });
    await expect.poll(server.connections).toBe(0);
  });
});

describe('an invalid server (F-16)', () => {
  test('does not exist', async () => {
    expect(await sendMail(transport(1), MAIL, NEVER)).toMatchObject({ kind: 'retry' });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['is not an SMTP server', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s: the attempt ends', async (_, response) => {
    const port = await rawPeer(response);
    expect((await sendMail(transport(port, { timeoutSeconds: 1 }), MAIL, NEVER)).kind).toBe('retry');
  });
});

/** Records the lines that the transport sends to a server. The server answers 250 by default. */
async function heard(responses: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const port = await rawPeer((socket) => {
    socket.write('220 sound\r\n');
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\r\n').filter((one) => one !== '')) {
        lines.push(line);
        const command = Object.keys(responses).find((one) => line.startsWith(one)) ?? '';
        socket.write(`${responses[command] ?? '250 fine'}\r\n`);
      }
    });
  });
  return { lines, port };
}

test('a transport test checks sender and recipient, and resets both', async () => {
  const { lines, port } = await heard();
  expect(await transport(port).test(NEVER)).toBeUndefined();
  expect(lines.slice(0, 4)).toEqual([
    ...['EHLO auth.club.example', 'MAIL FROM:<noreply@club.example>', 'RCPT TO:<postmaster@club.example>', 'RSET'],
  ]);
});

test.each([
  ['MAIL FROM', '553 sender not owned by user'],
  ['RCPT TO', '554 relay access denied'],
])('a transport test reports that %s is rejected', async (command, response) => {
  const { lines, port } = await heard({ [command]: response });
  const reason = `the SMTP server responded ${response.slice(0, 3)} to ${command}`;
  expect(await transport(port).test(NEVER)).toContain(reason);
  expect(lines).toContain('RSET');
});

test('a transport test authenticates first', async () => {
  const { port } = await peer({
    onAuth: ({ password }, _session, done) =>
      password === 'right' ? done(null, { user: 'latchkey' }) : done(refusal(535)),
  });
  const as = (password: string) =>
    transport(port, { mode: 'starttls', credentials: { username: 'latchkey', password: new Secret(password) } });
  expect(await as('right').test(NEVER)).toBeUndefined();
  expect(await as('wrong').test(NEVER)).toContain('535');
});

test('a transport test reports what is wrong without sending an email', async () => {
  const { port, mails } = await peer();
  expect(await transport(port).test(NEVER)).toBeUndefined();
  expect(await transport(1).test(NEVER)).toMatch(/^no SMTP response/);
  expect(mails).toEqual([]);
});
