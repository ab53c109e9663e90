import { takeTokens } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import { MAX_EMAILS } from '../user-emails.ts';
import {
  type BeginParameters,
  beginAuthenticationCtes,
  beginParameters,
  type CodeMailDeps,
  codeMailBuckets,
} from './begin-email-authentication.ts';
import type { EmailAuthenticationId } from './email-authentication.ts';

/** Limit of unfinished authentications per browser session; the oldest beyond it are deleted. */
const MAX_UNFINISHED = 5;

const readStanding = statement<
  { is_own: boolean; count: number },
  { readonly userId: string; readonly emailKey: string }
>(
  'emails-before-another',
  `select coalesce(bool_or(e.email_key = :emailKey::text), false) as is_own, count(*)::integer as count
     from user_emails e where e.user_id = :userId::uuid`,
);

/** Deleting an authentication invalidates its codes. */
const begin = statement<never, BeginParameters>(
  'begin-email-authentication-of-session',
  `with surplus as materialized (
    select older.id from user_email_authentications older
     where older.user_session_id = :browserSessionId::uuid and older.completed_at is null
     order by older.created_at desc, older.id desc offset ${MAX_UNFINISHED - 1}
       for update skip locked
  ), forgotten as (
    delete from user_email_authentications a where a.id = any (array(select surplus.id from surplus))
  ), ${beginAuthenticationCtes('(select) as once')}
  select`,
);

export interface EmailToProve {
  readonly session: BrowserSessionId;
  readonly user: UserId;
  readonly email: EmailAddress;
  /** Language of the mails. */
  readonly locale: string;
  /** IP address of the requester. */
  readonly address: string | undefined;
}

export type BeginForSessionOutcome =
  | { readonly ok: true; readonly id: EmailAuthenticationId; readonly createdAt: number }
  | { readonly ok: false; readonly reason: 'own' | 'too-many' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/**
 * Mails a code to an address that a signed-in user wants to add to their account (account-graphql 5.1). An address of
 * another account is treated the same, so that only a user who can read its mail learns about that account.
 */
export async function beginForSession(
  deps: CodeMailDeps & { readonly database: Queryable; readonly clock: Clock },
  { session, user, email, locale, address }: EmailToProve,
): Promise<BeginForSessionOutcome> {
  const { database, clock } = deps;
  const now = clock.now();
  const id: EmailAuthenticationId = newId(now);
  const taken = await takeTokens(
    database,
    clock,
    codeMailBuckets(deps, { authentication: id, emailKey: email.key, address }),
  );
  if (!taken.ok) return { ...taken, reason: 'rate-limited' };
  const standing = await database.first(readStanding, { userId: toUuid(user), emailKey: email.key });
  if (standing?.is_own === true) return { ok: false, reason: 'own' };
  if (standing !== undefined && standing.count >= MAX_EMAILS) return { ok: false, reason: 'too-many' };
  await database.execute(begin, beginParameters({ id, email, session }, { locale, now }));
  return { ok: true, id, createdAt: now };
}
