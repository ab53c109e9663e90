import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { KnownBrowser } from './known-browsers.ts';

/** At least; what an older account did before may be forgotten, so its owner is told in any case. */
const EVENTS_KEPT_DAYS = 30;

/** Whether nobody has signed in to the account from this browser yet. */
export function isUnknownBrowser(known: readonly KnownBrowser[], account: UserId): boolean {
  return !known.some(({ user }) => user === account);
}

/**
 * CTEs that tell the owner of a session that a statement has just opened (browser-flows 11.4), but for the first one of
 * an account. In the language that the owner has used last, `:language` while none is known. Expects `opened` with
 * `user_id`, and `:isTold`, `:auditEventId`, `:language`, `:queuedBy` and `:now`.
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
    // Who signs in with somebody else's password does not choose a language that the owner cannot read.
    language: `coalesce((select owner.locale from users owner where owner.id = told_user.user_id), :language::text)`,
    now: ':now::timestamptz',
  });
}
