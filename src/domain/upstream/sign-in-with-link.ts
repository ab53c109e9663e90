import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type KnownBrowser, nonceOf } from '#domain/browser-sessions/known-browsers.ts';
import { isUnknownBrowser, newSigninCtes } from '#domain/browser-sessions/new-signin-notice.ts';
import { finishSurplusSessions, liveSessionsSql } from '#domain/browser-sessions/surplus-sessions.ts';
import type { SessionCredentials } from '#domain/records/browser-session.ts';
import { type DueFactor, dueFactorCte, type SecondFactorRules } from '#domain/records/due-factor.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  consumeAuthorization,
  newUpstreamSession,
  SESSION_IF_ENOUGH,
  type UpstreamFactorDue,
  type UpstreamSessionParameters,
  type UpstreamSignIn,
  USED_LINK,
  type UsedAuthorization,
  upstreamSessionCtes,
} from './consume-authorization.ts';

export interface LinkSignInDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly secondFactors: Pick<SecondFactorRules, 'isRequiredAfterUpstream'>;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface LinkSignIn extends UsedAuthorization, Pick<UpstreamSignIn, 'action'> {
  readonly knownBrowsers: readonly KnownBrowser[];
  /** Language of the page, for the email to an owner whose preferred language is unknown. */
  readonly language: string;
}

export type LinkSignInOutcome =
  | { readonly ok: true; readonly session: SessionCredentials; readonly user: User }
  | { readonly ok: false; readonly reason: 'locked' | 'deactivated'; readonly user: User }
  | UpstreamFactorDue
  /** `no-account`: the link has no account. `used`: another request was first, or it took too long. */
  | { readonly ok: false; readonly reason: 'no-account' | 'used' };

/**
 * Signs in the user whose account the link belongs to. One statement consumes the authorization and opens the session,
 * so that it leads to one session, whatever instances receive the request.
 */
export async function signInWithLink(deps: LinkSignInDeps, signIn: LinkSignIn): Promise<LinkSignInOutcome> {
  const { database, clock, log } = deps;
  const { completed, knownBrowsers, language } = signIn;
  const now = clock.now();
  const { owner } = completed;
  const nonce = owner === undefined ? undefined : nonceOf(knownBrowsers, owner.id);
  const { session, pending, parameters } = newUpstreamSession({ ...signIn, nonce }, deps.secondFactors, now);
  const row = await database.first(openLinkedSession, {
    ...parameters,
    auditEventId: newAuditEventId(now),
    isTold: deps.sendsNotices && owner !== undefined && isUnknownBrowser(knownBrowsers, owner.id),
    language,
    queuedBy: queuedBy(),
  });
  if (row === undefined) return { ok: false, reason: 'no-account' };
  const user = toUser(row);
  if (row.is_opened) {
    await finishSurplusSessions(database, row.user_id, row.live_sessions, now);
    return { ok: true, session, user };
  }
  if (row.is_pending && row.due_factor !== null)
    return { ok: false, reason: 'factor-due', pending, factor: row.due_factor };
  if (!user.isLocked && !user.isDeactivated) return { ok: false, reason: 'used' };
  const reason = user.isDeactivated ? 'deactivated' : 'locked';
  log.info('auth.refused', 'sign-in refused: the account is locked or deactivated', { code: reason, user: user.id });
  return { ok: false, reason, user };
}

// With the row locks, a concurrent account lock or unlinking either commits first or waits.
const openLinkedSession = statement<
  UserRow & {
    readonly is_opened: boolean;
    readonly live_sessions: number;
    readonly is_pending: boolean;
    readonly due_factor: DueFactor | null;
  },
  UpstreamSessionParameters & {
    readonly auditEventId: string;
    readonly isTold: boolean;
    readonly language: string;
    readonly queuedBy: string | null;
  }
>(
  'open-linked-session',
  `with account as (
    select ${userColumns('u')} from upstream_links l join users u on u.id = l.user_id
     where l.id = :linkId::uuid
       for share of u for no key update of l
  ), ${dueFactorCte('account')}, consumed as (
    ${consumeAuthorization('account', SESSION_IF_ENOUGH)}
       and not account.is_locked and not account.is_deactivated
    returning account.user_id
  ), ${USED_LINK}, ${upstreamSessionCtes('consumed.user_id')}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text,
           '{"method": "upstream"}'::jsonb, :now::timestamptz from opened
  ), ${newSigninCtes(`'upstream'`)}
  select account.user_id, account.username, account.display_name, account.locale, account.can_request_admin,
         account.is_locked, account.is_deactivated,
         exists (select from pending) as is_pending, (select due.factor from due) as due_factor,
         exists (select from opened) as is_opened, ${liveSessionsSql('account.user_id')} as live_sessions
    from account`,
);
