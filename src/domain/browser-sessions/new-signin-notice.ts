import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { KnownBrowser } from './known-browsers.ts';

/** Minimum retention of events. Older accounts may have no remaining events, so their owners are always notified. */
const EVENTS_KEPT_DAYS = 30;

/** Returns whether the account has not yet signed in with this browser. */
export function isUnknownBrowser(known: readonly KnownBrowser[], account: UserId): boolean {
  return !known.some(({ user }) => user === account);
}

/**
 * Returns CTEs that notify the owner of a session opened by the same statement (browser-flows 11.4), except for the
 * first session of an account. The mail uses the owner's last used language, or `:language` if unknown. Expects
 * `opened` with `user_id`, and `:isTold`, `:auditEventId`, `:language`, `:queuedBy` and `:now`.
 * @param method SQL expression for the first factor, an `AuthenticationKind`
 */
export function newSigninCtes(method: string): string {
  return noticeCtes({
    told: `select opened.user_id from opened join users owner on owner.id = opened.user_id
      where :isTold::boolean and owner.created_at < :now::timestamptz - interval '1 hour'
        and (owner.created_at < :now::timestamptz - interval '${EVENTS_KEPT_DAYS} days' or exists (
          select from audit_events earlier
          where earlier.user_id = opened.user_id and earlier.kind in ('login', 'registered')
        ))`,
    notice: 'new_signin',
    eventId: ':auditEventId::uuid',
    detail: `jsonb_build_object('method', ${method})`,
    // An attacker with a stolen password must not be able to choose a language that the owner cannot read.
    language: `coalesce((select owner.locale from users owner where owner.id = told_user.user_id), :language::text)`,
    now: ':now::timestamptz',
  });
}
