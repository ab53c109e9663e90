import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { ssoLoginIsPending } from '#domain/records/liveness/compat-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, CompatSsoLoginId, UserId } from '#vocabulary/ids.ts';

/** 190 bits: tokens cannot be guessed, so no rate limit is needed. */
const LOGIN_TOKEN_LENGTH = 32;

export interface SsoConsent {
  readonly id: CompatSsoLoginId;
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Issues the login token of a pending single sign-on to the user who consented. Uses one statement; of several
 * concurrent callers, exactly one succeeds. Returns undefined and writes nothing if the sign-on, the browser session or
 * the account has changed since it was read.
 */
export async function fulfillSsoLogin(database: Queryable, consent: SsoConsent): Promise<string | undefined> {
  const token = randomAlphanumeric(LOGIN_TOKEN_LENGTH);
  const row = await database.first(fulfill, {
    id: toUuid(consent.id),
    userId: toUuid(consent.userId),
    browserSessionId: toUuid(consent.browserSessionId),
    tokenHash: sha256(token),
    now: new Date(consent.now),
    auditEventId: newAuditEventId(consent.now),
    ip: consent.address ?? null,
    userAgent: consent.userAgent ?? null,
  });
  return row === undefined ? undefined : token;
}

/**
 * Locks the user and the browser session against a concurrent account lock or sign-out (security S-102). All statements
 * lock in the order users, browser sessions, sign-ons.
 */
const fulfill = statement<
  { readonly id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly browserSessionId: string;
    readonly tokenHash: Buffer;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'fulfill-compat-sso-login',
  `with account as materialized (
    select id from users
     where id = :userId::uuid and ${accountIsUsable('users')}
       for share
  ), sign_in as materialized (
    select id from user_sessions
     where id = :browserSessionId::uuid and user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')}
       and exists (select from account)
       for share
  ), agreed as (
    update compat_sso_logins l
       set user_session_id = sign_in.id, fulfilled_at = :now::timestamptz, login_token_hash = :tokenHash::bytea
      from sign_in
     where l.id = :id::uuid and ${ssoLoginIsPending('l', ':now::timestamptz')}
    returning l.id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'consent_given', :userId::uuid, null::uuid, :browserSessionId::uuid, :ip::inet,
           :userAgent::text, '{"grant": "compat_sso_login"}'::jsonb, :now::timestamptz
      from agreed
  )
  select id from agreed`,
);
