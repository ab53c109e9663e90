import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '#test/support/fake-clock.ts';
import { readMail } from '#test/support/read-mail.ts';
import { FileTransport } from './file-transport.ts';
import type { Mail } from './mail.ts';
import { sendMail } from './send-mail.ts';
import { SendmailTransport } from './sendmail-transport.ts';

const MAIL: Mail = {
  from: { name: 'Club', address: 'noreply@club.example' },
  replyTo: undefined,
  to: { name: 'amira', address: 'amira@mail.example' },
  id: '01JD3Q5Z8W2N4K6M7P9R0S1T2V',
  date: new Date('2026-11-22T10:00:00Z'),
  subject: 'Ihr Passwort wurde geändert',
  text: 'Guten Tag\n.\n',
  html: '<p>Guten Tag</p>',
};
const NEVER = new AbortController().signal;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-mail-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a sendmail-compatible command', () => {
  /** @returns the path of a script that runs these shell commands */
  function program(...commands: string[]): string {
    const path = join(directory, 'program');
    writeFileSync(path, `#!/bin/sh\n${commands.join('\n')}\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const transport = (command: string, timeoutSeconds = 10) => new SendmailTransport({ command, timeoutSeconds });

  test("gets sender and recipient as arguments, the email on stdin, and none of the service's secrets", async () => {
    process.env['LATCHKEY_TEST_SECRET'] = 'hush';
    const command = program(`cd ${directory}`, `printf '%s\\n' "$@" > arguments`, 'cat > mail', 'env > environment');
    expect(await sendMail(transport(command), MAIL, NEVER)).toEqual({ kind: 'sent' });
    delete process.env['LATCHKEY_TEST_SECRET'];
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    expect(read('arguments').split('\n')).toEqual(['-i', '-f', 'noreply@club.example', '--', 'amira@mail.example', '']);
    expect(readMail(read('mail'))).toMatchObject({ subject: MAIL.subject, text: MAIL.text, html: MAIL.html });
    expect(read('mail')).not.toContain('\r');
    expect(read('environment')).not.toContain('hush');
  });

  test('gets an internationalized address in UTF-8 (RFC 6531)', async () => {
    const command = program(`cd ${directory}`, `printf '%s\\n' "$@" > arguments`, 'cat > mail');
    const to = { address: 'jürgen@xn--bcher-kva.example' };
    expect(await sendMail(transport(command), { ...MAIL, to }, NEVER)).toEqual({ kind: 'sent' });
    expect(readFileSync(join(directory, 'arguments'), 'utf8')).toContain('--\njürgen@xn--bcher-kva.example\n');
    expect(readFileSync(join(directory, 'mail'), 'utf8')).toContain('To: jürgen@bücher.example\n');
  });

  test.each(['--help', '-oQ/tmp', 'a@b.example -oQ/tmp', '; touch x'])(
    'is not started for %j (S-76)',
    async (address) => {
      const command = program(`touch ${directory}/started`);
      const outcome = await sendMail(transport(command), { ...MAIL, to: { address } }, NEVER);
      expect(outcome).toEqual({ kind: 'refused', reason: 'the recipient is not a single address' });
      expect(readdirSync(directory)).toEqual(['program']);
    },
  );

  test.each([
    [67, 'refused'],
    [75, 'retry'],
    [1, 'retry'],
  ])('that exits with code %i: %s', async (code, kind) => {
    const outcome = await sendMail(transport(program(`exit ${code}`)), MAIL, NEVER);
    expect(outcome).toEqual({ kind, reason: `the sendmail program exited with code ${code}` });
  });

  test('that hangs is killed at the time limit', async () => {
    const outcome = await sendMail(transport(program('exec sleep 600'), 0.2), MAIL, NEVER);
    expect(outcome).toEqual({ kind: 'retry', reason: 'the attempt timed out' });
  });

  test('that does not exist: emails wait, and the transport test reports it', async () => {
    const missing = transport(join(directory, 'missing'));
    const reason = 'the sendmail program failed to start (ENOENT)';
    expect(await sendMail(missing, MAIL, NEVER)).toEqual({ kind: 'retry', reason });
    expect(await missing.test(NEVER)).toBe(reason);
    expect(await transport(program('exit 64')).test(NEVER)).toBeUndefined();
  });
});

describe('email files', () => {
  const clock = new FakeClock();

  test('contain one email each, readable by the owner only; a retry replaces the file', async () => {
    const outbox = join(directory, 'outbox');
    const transport = new FileTransport({ directory: outbox, clock });
    expect(await sendMail(transport, MAIL, NEVER)).toEqual({ kind: 'sent' });
    expect(await sendMail(transport, { ...MAIL, text: 'again\n' }, NEVER)).toEqual({ kind: 'sent' });
    expect(readdirSync(outbox)).toEqual([`${MAIL.id}.eml`]);
    const file = join(outbox, `${MAIL.id}.eml`);
    expect([statSync(outbox).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readMail(readFileSync(file, 'utf8'))).toMatchObject({ subject: MAIL.subject, text: 'again\n' });
  });

  test('are removed after a week; other files in the directory stay', async () => {
    const names = ['old.eml', 'young.eml', 'notes.txt'];
    for (const name of names) writeFileSync(join(directory, name), 'x');
    const weekAgo = clock.now() / 1000 - 7 * 86_400;
    utimesSync(join(directory, 'old.eml'), weekAgo - 1, weekAgo - 1);
    utimesSync(join(directory, 'notes.txt'), weekAgo - 1, weekAgo - 1);
    utimesSync(join(directory, 'young.eml'), weekAgo + 1, weekAgo + 1);
    expect(await new FileTransport({ directory, clock }).test()).toBeUndefined();
    expect(readdirSync(directory)).toEqual(['notes.txt', 'young.eml']);
  });

  test('that cannot be written: emails wait, and the transport test reports it', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const transport = new FileTransport({ directory: join(file, 'outbox'), clock });
    const why = 'its parent is not a directory';
    expect(await sendMail(transport, MAIL, NEVER)).toEqual({
      kind: 'retry',
      reason: `the email could not be written: ${why}`,
    });
    expect(await transport.test()).toBe(`emails cannot be written: ${why}`);
  });
});
