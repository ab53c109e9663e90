import { setPassword } from '#domain/accounts/passwords/set-password.ts';
import type { Administrator } from '#domain/audit/administrator.ts';
import { endApplicationSessionsOfUser } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { type SignOutDeps, signOut } from '#domain/oauth-sessions/sign-out.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';

export interface ReplacePasswordDeps extends Pick<SignOutDeps, 'scopeRules' | 'homeserver'> {
  readonly sendsNotices: boolean;
}

export interface PasswordReplacement {
  readonly user: UserId;
  readonly stored: StoredHash;
  /** The browser session to keep; undefined to keep none. */
  readonly keptSession: BrowserSessionId | undefined;
  readonly endsOtherBrowsers: boolean;
  /** Also ends all sessions of applications and devices. */
  readonly endsApplications: boolean;
  /** Language of the request, for the email to the owner. */
  readonly language: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** The administrator who acts on the owner's behalf. */
  readonly admin?: Administrator | undefined;
}

/**
 * Replaces an account's password, notifies the owner, and ends sessions that an attacker may have. Links in recovery
 * emails stop working, because they are bound to the previous password.
 * @param now milliseconds since the epoch
 * @returns the number of ended sessions, for the log
 */
export async function replacePassword(
  { scopeRules, homeserver, sendsNotices }: ReplacePasswordDeps,
  transaction: Transaction,
  replacement: PasswordReplacement,
  now: number,
) {
  const { user, stored, keptSession, language, address, userAgent, admin } = replacement;
  const reason = 'password_changed';
  const syncsDevices = homeserver.isConnected;
  const eventId = await setPassword(transaction, { user, stored, address, userAgent, admin, now });
  if (sendsNotices) {
    const { endsOtherBrowsers: ends_browsers, endsApplications: ends_applications } = replacement;
    const detail = { ends_browsers, ends_applications };
    await queueNotice(transaction, 'password_changed', { user, eventId, detail, language, now });
  }
  const which = keptSession === undefined ? 'all' : { allBut: keptSession };
  const others = { userId: user, which, reason, now, address, userAgent } as const;
  const signOutDeps = { database: transaction, scopeRules, homeserver };
  const browsers = replacement.endsOtherBrowsers ? await signOut(signOutDeps, others) : 0;
  const applications = replacement.endsApplications
    ? await endApplicationSessionsOfUser(transaction, user, { reason, now, syncsDevices })
    : undefined;
  return {
    browser_sessions: browsers,
    oauth_sessions: applications?.oauth2Sessions ?? 0,
    compat_sessions: applications?.compatSessions ?? 0,
  };
}
