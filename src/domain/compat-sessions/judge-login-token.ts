/**
 * The login token that a browser hands to a chat client after a single sign-on (chat-compat 5.4). It is valid once, for
 * seconds, and only while the browser session of the user who consented is live.
 */
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { compatEndingCtes } from '#domain/oauth-sessions/end-compat-session.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { loginTokenIsValid } from '#domain/records/liveness/compat-sessions.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

/** Clients resend requests whose response was lost. A later repetition means that the token was stolen. */
const RESENT_SECONDS = 20;
const LOGIN_TOKEN = /^[0-9A-Za-z]{32}$/;

export interface PresentedLoginToken {
  readonly token: string;
  readonly ttlSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether a homeserver is connected, which must be notified of removed devices. */
  readonly syncsDevices: boolean;
}

/** A token that can be exchanged, unless that changes before the exchange. */
export interface ValidLoginToken {
  /** UUID of its single sign-on. */
  readonly loginId: string;
  readonly user: { readonly id: UserId; readonly username: string };
}

export type LoginTokenJudgement =
  | { readonly ok: true; readonly valid: ValidLoginToken }
  /** `replayed`: it was exchanged some time ago, and its session has now been ended. */
  | { readonly ok: false; readonly reason: 'invalid' | 'replayed'; readonly userId: UserId | undefined };

/**
 * Checks a login token. Runs one statement, none for malformed text, and a second one to end the session of a replayed
 * token. Opening the session checks whether the account is locked or deactivated.
 */
export async function judgeLoginToken(
  database: Queryable,
  { token, ttlSeconds, now, address, userAgent, syncsDevices }: PresentedLoginToken,
): Promise<LoginTokenJudgement> {
  if (!LOGIN_TOKEN.test(token)) return { ok: false, reason: 'invalid', userId: undefined };
  const row = await database.first(findLoginToken, {
    tokenHash: sha256(token),
    validSince: validSince(now, ttlSeconds),
    resentSince: new Date(now - RESENT_SECONDS * 1000),
  });
  if (row === undefined) return { ok: false, reason: 'invalid', userId: undefined };
  const userId = fromUuid<'user'>(row.user_id);
  if (row.is_valid) return { ok: true, valid: { loginId: row.id, user: { id: userId, username: row.username } } };
  if (!row.is_replayed) return { ok: false, reason: 'invalid', userId };
  await database.execute(endReplayed, {
    loginId: row.id,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    ...sessionEndParams(syncsDevices),
  });
  return { ok: false, reason: 'replayed', userId };
}

/** Returns the earliest issue time of valid tokens. */
export function validSince(now: number, ttlSeconds: number): Date {
  return new Date(now - ttlSeconds * 1000);
}

/** Uses the unique index on `login_token_hash`, then primary keys. */
const findLoginToken = statement<
  {
    readonly id: string;
    readonly user_id: string;
    readonly username: string;
    readonly is_valid: boolean;
    readonly is_replayed: boolean;
  },
  { readonly tokenHash: Buffer; readonly validSince: Date; readonly resentSince: Date }
>(
  'find-login-token',
  `select l.id, b.user_id, u.username,
          ${loginTokenIsValid('l', ':validSince::timestamptz')} and ${browserSessionIsLive('b')} as is_valid,
          coalesce(l.exchanged_at < :resentSince::timestamptz, false) as is_replayed
     from compat_sso_logins l
     join user_sessions b on b.id = l.user_session_id
     join users u on u.id = b.user_id
    where l.login_token_hash = :tokenHash::bytea`,
);

const endReplayed = statement<
  never,
  SessionEndParams & {
    readonly loginId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'end-replayed-compat-session',
  `with ${compatEndingCtes(
    'select compat_session_id from compat_sso_logins where id = :loginId::uuid',
    ':now::timestamptz',
    `'login_token_reused'`,
  )}
  ${INSERT_AUDIT_EVENT}
  select :auditEventId::uuid, 'session_ended', user_id, null::uuid, id, :ip::inet, :userAgent::text,
         '{"reason": "login_token_reused"}'::jsonb, :now::timestamptz
    from compat_ended`,
);
