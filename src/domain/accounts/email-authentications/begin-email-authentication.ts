import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import { MAIL_QUEUES, type QueueState } from '#domain/limits/late-mails.ts';
import { addressBucket, type Bucket, mailBucket, unknownNameKey } from '#domain/limits/rate-limits.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { INSERT_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import type { EmailAuthenticationId } from './email-authentication.ts';

/** Queue of the jobs that generate a code and mail it. */
export const CODE_MAIL_QUEUE = MAIL_QUEUES.code;

export interface CodeMailDeps {
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly instance: QueueState;
  readonly limits: Pick<RateLimitingConfig, 'emailAuthentication'>;
}

/**
 * Returns the rate limit buckets that each mail with a code charges (browser-flows 6): per authentication, per email
 * address and per IP address. The bucket of an email address has a digest as its key, so that the table does not list
 * addresses.
 */
export function codeMailBuckets(
  { log, keyRing, instance, limits: { emailAuthentication } }: CodeMailDeps,
  mail: {
    readonly authentication: EmailAuthenticationId;
    readonly emailKey: string;
    /** IP address of the requester. */
    readonly address: string | undefined;
  },
): Bucket[] {
  const { perIp, perAddress, emailsPerSession } = emailAuthentication;
  return [
    mailBucket(addressBucket(log, { name: 'email-code', limiter: perIp, address: mail.address }), instance),
    { key: `email-code:address:${unknownNameKey(keyRing, mail.emailKey)}`, limiter: perAddress },
    { key: `email-code:mails:${mail.authentication}`, limiter: emailsPerSession },
  ];
}

/** Expects `:authenticationId`, `:mail`, `:jobId`, `:queuedBy` and `:now`. The caller appends the `from` clause. */
export const INSERT_CODE_MAIL_JOB = `${INSERT_JOB}
    select :jobId::uuid, '${CODE_MAIL_QUEUE}',
           jsonb_build_object('authentication_id', asked.id, 'mail', asked.mails), null, :queuedBy::text,
           :now::timestamptz, :now::timestamptz`;

/** The parameters of `beginAuthenticationCtes`. Without an email address, the statement starts nothing. */
export interface BeginParameters {
  readonly authenticationId: string | null;
  readonly email: string | null;
  readonly emailKey: string | null;
  readonly browserSessionId: string | null;
  readonly locale: string;
  readonly jobId: string;
  readonly queuedBy: string | null;
  readonly now: Date;
}

/**
 * Returns CTEs that start an authentication and queue its first mail, for a statement that refers to the
 * authentication.
 * @param source relation with at most one row; without a row, nothing starts
 */
export function beginAuthenticationCtes(source: string): string {
  return `asked as (
    insert into user_email_authentications (id, email, email_key, user_session_id, locale, created_at, mails)
    select :authenticationId::uuid, :email::text, :emailKey::text, :browserSessionId::uuid, :locale::text,
      :now::timestamptz, 1
    from ${source} where :email::text is not null
    returning id, mails
  ), code_mail as (
    ${INSERT_CODE_MAIL_JOB} from asked
  )`;
}

/** CTE for a statement with `beginAuthenticationCtes`: a proven address, without a code. Expects `:isEmailProven`. */
export const PROVEN_AUTHENTICATION_CTE = `proven as (
    insert into user_email_authentications (id, email, email_key, locale, created_at, mails, completed_at)
    select :authenticationId::uuid, :email::text, :emailKey::text, :locale::text, :now::timestamptz, 0,
      :now::timestamptz
    where :isEmailProven::boolean
  )`;

/** Source for `beginAuthenticationCtes`: sends a code only if the address is not proven. */
export const UNLESS_PROVEN = '(select where not :isEmailProven::boolean) as once';

/** @param begun `session`: the browser session that adds the address to its account; undefined: a registration */
export function beginParameters(
  begun:
    | {
        readonly id: EmailAuthenticationId;
        readonly email: EmailAddress;
        readonly session?: BrowserSessionId;
      }
    | undefined,
  { locale, now }: { readonly locale: string; readonly now: number },
): BeginParameters {
  return {
    authenticationId: begun === undefined ? null : toUuid(begun.id),
    email: begun?.email.address ?? null,
    emailKey: begun?.email.key ?? null,
    browserSessionId: begun?.session === undefined ? null : toUuid(begun.session),
    locale,
    jobId: toUuid(newId(now)),
    queuedBy: queuedBy(),
    now: new Date(now),
  };
}
