import type { Log } from '#platform/base/log.ts';
import type { MailTransport } from '#platform/mail/mail.ts';

const TEST_LIMIT_MS = 30_000;

/** Tests the mail transport and logs a failure. The service continues either way (operations 1.14). */
export async function testTransport(transport: MailTransport | undefined, log: Log): Promise<void> {
  const reason = await transport?.test(AbortSignal.timeout(TEST_LIMIT_MS));
  if (reason !== undefined) log.warn('mail.failed', 'mail transport unavailable; emails wait in the queue', { reason });
}
