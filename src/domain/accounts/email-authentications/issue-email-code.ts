import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { emailAuthenticationIsOpen } from '#domain/records/liveness/email-authentications.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { begunAfter } from './email-authentication.ts';
import { emailCode } from './email-code.ts';

export interface IssueCodeDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  /** Lifetime of a code. */
  readonly codeTtlSeconds: number;
  /** Lifetime of a registration. */
  readonly registrationTtlSeconds: number;
}

/**
 * The mail to send. `username` belongs to the registration, to the account that adds the address, or, for `in-use`, to
 * the account that already has it.
 */
export type CodeMail = { readonly to: string; readonly username: string; readonly locale: string } & (
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'in-use' }
);

interface CodeMailRow {
  readonly id: string;
  readonly mails: number;
  readonly email: string;
  readonly locale: string;
  readonly username: string;
  readonly owner_email: string | null;
  readonly owner_username: string | null;
  readonly is_issued: boolean;
}

/** Whether another account has the address is checked here, so that requests cannot reveal it (security S-82). */
const issue = statement<
  CodeMailRow,
  {
    readonly payload: string;
    readonly begunAfter: Date;
    readonly registeredAfter: Date;
    readonly expiresAt: Date;
  }
>(
  'issue-email-code',
  `with asked as (
    select a.id, a.mails, a.email, a.email_key, a.locale, r.id is not null as is_registration,
      coalesce(r.username, u.username) as username
    from user_email_authentications a
    left join user_registrations r on r.email_authentication_id = a.id
      and r.completed_at is null and r.created_at > :registeredAfter::timestamptz
    left join user_sessions s on s.id = a.user_session_id and ${browserSessionIsLive('s')}
    left join users u on u.id = s.user_id and ${accountIsUsable('u')}
    where a.id = (:payload::jsonb ->> 'authentication_id')::uuid
      and a.mails = (:payload::jsonb ->> 'mail')::integer
      and ${emailAuthenticationIsOpen('a', ':begunAfter::timestamptz')}
      and (r.id is not null or u.id is not null)
  ), owner as (
    select e.email, u.username
    from asked join user_emails e on e.email_key = asked.email_key join users u on u.id = e.user_id
    where asked.is_registration
  ), issued as (
    update user_email_authentications a set code_of_mail = a.mails, code_expires_at = :expiresAt::timestamptz
    from asked
    where a.id = asked.id and a.mails = asked.mails and not exists (select from owner)
    returning a.id
  )
  select asked.id, asked.mails, asked.email, asked.locale, asked.username,
    owner.email as owner_email, owner.username as owner_username, exists (select from issued) as is_issued
  from asked left join owner on true`,
);

/**
 * Returns the mail to send for an authentication, with a code that is valid from now on. If the authentication is for a
 * registration and an account already has the address, the mail contains no code (browser-flows 5.3, 6). A user who
 * adds an address to an account always gets a code, and learns only by entering it that the address belongs to another
 * account.
 *
 * Returns undefined if a code would be useless: another mail was requested, the address is already proven, its attempts
 * are used up, or the registration or the browser session has ended.
 * @param payload of the job
 */
export async function issueEmailCode(deps: IssueCodeDeps, payload: unknown): Promise<CodeMail | undefined> {
  const now = deps.clock.now();
  const row = await deps.database.first(issue, {
    payload: JSON.stringify(payload),
    begunAfter: begunAfter(now),
    registeredAfter: new Date(now - deps.registrationTtlSeconds * 1000),
    expiresAt: new Date(now + deps.codeTtlSeconds * 1000),
  });
  if (row === undefined) return undefined;
  const { locale } = row;
  if (row.owner_email !== null && row.owner_username !== null) {
    return { kind: 'in-use', to: row.owner_email, username: row.owner_username, locale };
  }
  if (!row.is_issued) return undefined;
  const code = emailCode(deps.keyRing, { authentication: fromUuid(row.id), mail: row.mails });
  return { kind: 'code', to: row.email, username: row.username, locale, code };
}
