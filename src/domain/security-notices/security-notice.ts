/**
 * Emails about security-relevant changes of an account (browser-flows 11, security R-33). The statement or transaction
 * of a change queues its notice, with one job per address confirmed at that time. An attacker who has access to the
 * account cannot suppress notices by removing addresses.
 */

import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { MAIL_QUEUES } from '#domain/limits/late-mails.ts';
import { accountIsDeactivated, accountIsLocked } from '#domain/records/liveness/accounts.ts';
import { toUuid } from '#platform/base/ids.ts';
import { INSERT_JOB, queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

export const NOTICE_QUEUE = MAIL_QUEUES.notice;

/** Events that users are notified about. */
export const NOTICES = [
  'account_deactivated',
  'account_locked',
  'cross_signing_reset',
  'data_export',
  'email_added',
  'email_removed',
  'factor_changed',
  'failed_logins',
  'new_signin',
  'password_changed',
  'recovery_code_used',
  'upstream_linked',
  'upstream_unlinked',
] as const;
export type Notice = (typeof NOTICES)[number];

/** Limit of notified events per account and hour. After ten, the owner knows that something is wrong. */
const MAX_PER_HOUR = 10;

export interface NoticeSql {
  /** Query for the `user_id` to notify, with at most one row. */
  readonly told: string;
  readonly notice: Notice;
  /** SQL for the `id` of the audit event, which has the time, address and browser; or null. */
  readonly eventId: string;
  /** SQL for further content of the email, `jsonb`: names and booleans, never a secret. */
  readonly detail: string;
  /** SQL for the language of the request, `text`; null to use the account's language. It may read `told_user`. */
  readonly language: string;
  /** Parameter with the time, cast to `timestamptz`. */
  readonly now: string;
  /** SQL for an additional bucket of this user: `key`, `burst` and `seconds` per token. */
  readonly limit?: string;
}

/**
 * Returns CTEs that queue a notice, for statements that expect `:queuedBy`. They define `told_user`, `wanted`, the CTEs
 * of `chargeCtes`, and `noticed`.
 */
export function noticeCtes({ told, notice, eventId, detail, language, now, limit }: NoticeSql): string {
  const further = limit === undefined ? '' : `union all select ${limit} from told_user`;
  return `told_user as materialized (${told}),
  wanted as materialized (
    select 'security-notice:' || told_user.user_id as key, ${MAX_PER_HOUR}::float8 as burst,
      ${3600 / MAX_PER_HOUR}::float8 as seconds
    from told_user ${further}
  ),
  ${chargeCtes(now)},
  noticed as (
    ${INSERT_JOB}
    select gen_random_uuid(), '${NOTICE_QUEUE}',
      jsonb_build_object('notice', '${notice}', 'user_id', email.user_id, 'to', email.email, 'at', ${now},
        'event_id', ${eventId}, 'language', ${language}, 'detail', ${detail}),
      null, :queuedBy::text, ${now}, ${now}
    from told_user join user_emails email on email.user_id = told_user.user_id
    where (select count(*) from charged) = (select count(*) from wanted)
  )`;
}

interface NoticeParams {
  readonly userId: string;
  readonly eventId: string | null;
  readonly detail: string;
  readonly language: string | null;
  readonly queuedBy: string | null;
  readonly now: Date;
}

const alone = {
  told: 'select :userId::uuid as user_id',
  eventId: ':eventId::uuid',
  detail: ':detail::jsonb',
  language: ':language::text',
  now: ':now::timestamptz',
} as const;

function queueing(label: string, notice: Notice): Statement<never, NoticeParams> {
  return statement<never, NoticeParams>(label, `with ${noticeCtes({ ...alone, notice })} select`);
}

/**
 * Limited to once a day, because an attacker can cause failures indefinitely. The asynchronous commit avoids a delay
 * that would reveal whether a notice is stored.
 */
const queueFailedLogins = statement<never, NoticeParams>(
  'queue-failed-logins-notice',
  `with lazy as materialized (select set_config('synchronous_commit', 'off', true) as setting),
  ${noticeCtes({
    ...alone,
    told: `select :userId::uuid as user_id from lazy where lazy.setting = 'off'`,
    notice: 'failed_logins',
    limit: `'failed-logins-notice:' || told_user.user_id, 1::float8, 86400::float8`,
  })} select`,
);

const QUEUEING = {
  account_deactivated: queueing('queue-account-deactivated-notice', 'account_deactivated'),
  account_locked: queueing('queue-account-locked-notice', 'account_locked'),
  cross_signing_reset: queueing('queue-cross-signing-reset-notice', 'cross_signing_reset'),
  data_export: queueing('queue-data-export-notice', 'data_export'),
  email_added: queueing('queue-email-added-notice', 'email_added'),
  email_removed: queueing('queue-email-removed-notice', 'email_removed'),
  factor_changed: queueing('queue-factor-changed-notice', 'factor_changed'),
  failed_logins: queueFailedLogins,
  password_changed: queueing('queue-password-changed-notice', 'password_changed'),
  upstream_linked: queueing('queue-upstream-linked-notice', 'upstream_linked'),
  upstream_unlinked: queueing('queue-upstream-unlinked-notice', 'upstream_unlinked'),
} as const;

/** Queues a notice. Pass the transaction of the change, before it changes which addresses receive the notice. */
export async function queueNotice(
  queryable: Queryable,
  notice: keyof typeof QUEUEING,
  about: {
    readonly user: UserId;
    /** ID of the audit event. */
    readonly eventId?: string;
    readonly detail?: Readonly<Record<string, string | boolean>>;
    readonly language?: string | undefined;
    /** Milliseconds since the epoch. */
    readonly now: number;
  },
): Promise<void> {
  await queryable.execute(QUEUEING[notice], {
    userId: toUuid(about.user),
    eventId: about.eventId ?? null,
    detail: JSON.stringify(about.detail ?? {}),
    language: about.language ?? null,
    queuedBy: queuedBy(),
    now: new Date(about.now),
  });
}

/** The content of an email. */
export interface NoticeFacts {
  readonly notice: Notice;
  readonly to: string;
  readonly username: string;
  readonly language: string | undefined;
  readonly at: Date;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
}

interface NoticeRow {
  readonly notice: string;
  readonly recipient: string;
  readonly username: string;
  readonly language: string | null;
  readonly at: Date;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

const readNotice = statement<NoticeRow, { readonly payload: string }>(
  'read-security-notice',
  `select queued.notice, queued.to as recipient, u.username, coalesce(queued.language, u.locale) as language,
          coalesce(event.created_at, queued.at) as at, host(event.ip) as address, event.user_agent, queued.detail
     from jsonb_to_record(:payload::jsonb) as queued (
       notice text, user_id uuid, "to" text, at timestamptz, event_id uuid, language text, detail jsonb
     )
     join users u on u.id = queued.user_id
     left join audit_events event on event.id = queued.event_id
    where case queued.notice
            when 'account_locked' then ${accountIsLocked('u')} and not (${accountIsDeactivated('u')})
            when 'account_deactivated' then ${accountIsDeactivated('u')}
            else true
          end`,
);

/**
 * Reads the content of a queued notice. Undefined if it no longer applies, the account is gone, or another version
 * queued it.
 */
export async function findNotice(queryable: Queryable, payload: unknown): Promise<NoticeFacts | undefined> {
  const row = await queryable.first(readNotice, { payload: JSON.stringify(payload) });
  const notice = NOTICES.find((known) => known === row?.notice);
  if (row === undefined || notice === undefined) return undefined;
  return {
    notice,
    to: row.recipient,
    username: row.username,
    language: row.language ?? undefined,
    at: row.at,
    address: row.address ?? undefined,
    userAgent: row.user_agent ?? undefined,
    detail: row.detail ?? {},
  };
}
