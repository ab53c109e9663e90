import { takeTokens } from '#domain/limits/rate-limits.ts';
import { emailAuthenticationIsOpen } from '#domain/records/liveness/email-authentications.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type CodeMailDeps, codeMailBuckets, INSERT_CODE_MAIL_JOB } from './begin-email-authentication.ts';
import { begunAfter, type EmailAuthentication } from './email-authentication.ts';

/** Invalidates the codes of earlier mails, even of those not yet delivered. */
const requestMail = statement<
  never,
  {
    readonly id: string;
    readonly locale: string | null;
    readonly begunAfter: Date;
    readonly jobId: string;
    readonly queuedBy: string | null;
    readonly now: Date;
  }
>(
  'resend-email-code',
  `with asked as (
    update user_email_authentications a set mails = a.mails + 1, locale = coalesce(:locale::text, a.locale)
    where a.id = :id::uuid and ${emailAuthenticationIsOpen('a', ':begunAfter::timestamptz')}
    returning a.id, a.mails
  )
  ${INSERT_CODE_MAIL_JOB} from asked`,
);

/**
 * Sends another mail with a different code. Has no effect if the authentication is not open.
 * @param locale undefined: the language of the earlier mails
 */
export async function resendEmailCode(
  deps: CodeMailDeps & { readonly database: Queryable; readonly clock: Clock },
  authentication: Pick<EmailAuthentication, 'id' | 'emailKey'>,
  address: string | undefined,
  locale?: string,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }> {
  const { database, clock } = deps;
  const { id, emailKey } = authentication;
  const taken = await takeTokens(database, clock, codeMailBuckets(deps, { authentication: id, emailKey, address }));
  if (!taken.ok) return taken;
  const now = clock.now();
  await database.execute(requestMail, {
    id: toUuid(id),
    locale: locale ?? null,
    begunAfter: begunAfter(now),
    jobId: toUuid(newId(now)),
    queuedBy: queuedBy(),
    now: new Date(now),
  });
  return { ok: true };
}
