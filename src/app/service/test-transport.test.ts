import { expect, test } from 'vitest';
import { Secret } from '#platform/base/secret.ts';
import { SmtpTransport } from '#platform/mail/smtp-transport.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { startScriptedSmtp } from '#test/support/scripted-smtp.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { testTransport } from './test-transport.ts';

const smtp = await sharedByTests(startScriptedSmtp());

const OWN = { ehloName: 'localhost', sender: 'noreply@club.example' };

function transport(port: number, password?: string) {
  const credentials = password === undefined ? undefined : { username: 'latchkey', password: new Secret(password) };
  return new SmtpTransport({ hostname: '127.0.0.1', port, mode: 'plain', credentials, timeoutSeconds: 10, ...OWN });
}

test('a start warns that emails would be rejected, and why, without the password (operations 1.14)', async () => {
  const log = new RecordingLog();
  smtp.reactions = { greeting: 554 };
  await testTransport(transport(smtp.port, 'hush'), log);
  const reason = 'the SMTP server responded 554 to the connection: 554 as told';
  expect(log.lines).toMatchObject([{ level: 'warn', event: 'mail.failed', fields: { reason } }]);
  await testTransport(transport(1), log);
  expect(log.lines[1]).toMatchObject({ level: 'warn', fields: { reason: 'no SMTP response (ECONNREFUSED)' } });
  expect(JSON.stringify(log.lines)).not.toContain('hush');
});

test('a start logs nothing where emails are accepted or not sent, and sends no test email', async () => {
  const log = new RecordingLog();
  smtp.reactions = {};
  await testTransport(transport(smtp.port), log);
  await testTransport(undefined, log);
  expect([log.lines, smtp.mails]).toEqual([[], []]);
});
