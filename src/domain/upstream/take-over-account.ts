import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import type { User } from '#domain/accounts/user.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import { finishSurplusSessions, liveSessionsSql } from '#domain/browser-sessions/surplus-sessions.ts';
import { type DueFactor, dueFactorCte, type SecondFactorRules } from '#domain/pending-logins/due-factor.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  consumeAuthorization,
  newUpstreamSession,
  SESSION_IF_ENOUGH,
  type UpstreamFactorDue,
  type UpstreamSessionParameters,
  type UpstreamSignIn,
  type UsedAuthorization,
  upstreamSessionCtes,
} from './consume-authorization.ts';
import { MAX_LINKS } from './link-account.ts';
import { providerName } from './upstream-providers.ts';

export interface TakeOverDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly secondFactors: Pick<SecondFactorRules, 'isAskedAfterUpstream'>;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

export interface TakeOver extends UsedAuthorization, UpstreamSignIn {
  /** Who has the name that the provider gives. */
  readonly user: User;
  /** That the person reads. */
  readonly language: string;
}

export type TakeOverOutcome =
  | { readonly ok: true; readonly session: SessionCredentials }
  | UpstreamFactorDue
  /**
   * `unusable`: the account was locked or deactivated. `has-link`: it was linked to somebody else. `used`: another
   * request was first, or it took too long.
   */
  | { readonly ok: false; readonly reason: 'unusable' | 'has-link' | 'too-many-links' | 'used' };

/**
 * Links an identity of a provider to the account that has its name, and signs in there, where the operator's
 * `on_conflict` wants that (browser-flows 8.6). The lock of the account comes in a statement of its own: what the next
 * one counts is what others that waited for it left.
 */
export async function takeOverAccount(deps: TakeOverDeps, takeOver: TakeOver): Promise<TakeOverOutcome> {
  const { database, clock, sendsNotices } = deps;
  const { provider, user, language } = takeOver;
  const { onConflict } = provider.claimsImports.localpart;
  const now = clock.now();
  const { session, pending, parameters } = newUpstreamSession(takeOver, deps.secondFactors, now);
  const userId = toUuid(user.id);
  let liveSessions = 0;
  const outcome = await refusableTransaction<TakeOverOutcome>(
    database,
    async (transaction, refuse) => {
      if ((await transaction.first(lockUser, { userId })) === undefined) return { ok: false, reason: 'unusable' };
      const row = await transaction.first(bindLink, {
        ...parameters,
        userId,
        providerId: toUuid(provider.id),
        onConflict,
        maxLinks: MAX_LINKS,
        loginEventId: newAuditEventId(now),
        linkEventId: newAuditEventId(now),
        isTold: sendsNotices,
        detail: JSON.stringify({ provider: providerName(provider) }),
        language,
        queuedBy: queuedBy(),
      });
      if (row?.has_link === true) return { ok: false, reason: 'has-link' };
      if (row?.is_full === true) return { ok: false, reason: 'too-many-links' };
      if (row?.is_pending === true && row.due_factor !== null) {
        return { ok: false, reason: 'factor-due', pending, factor: row.due_factor };
      }
      if (row?.is_opened !== true) return refuse({ ok: false, reason: 'used' });
      liveSessions = row.live_sessions;
      return { ok: true, session };
    },
    { isRepeatable: true },
  );
  if (outcome.ok) await finishSurplusSessions(database, userId, liveSessions, now);
  return outcome;
}

const lockUser = statement<{ id: string }, { readonly userId: string }>(
  'lock-user-for-upstream-link',
  `select u.id from users u where u.id = :userId::uuid and ${accountIsUsable('u')} for no key update`,
);

const bindLink = statement<
  {
    is_full: boolean;
    has_link: boolean;
    is_opened: boolean;
    live_sessions: number;
    is_pending: boolean;
    due_factor: DueFactor | null;
  },
  UpstreamSessionParameters & {
    readonly userId: string;
    readonly providerId: string;
    readonly onConflict: string;
    readonly maxLinks: number;
    readonly loginEventId: string;
    readonly linkEventId: string;
    readonly isTold: boolean;
    readonly detail: string;
    readonly language: string;
    readonly queuedBy: string | null;
  }
>(
  'bind-upstream-link-by-name',
  `with account as (
    select :userId::uuid as user_id
  ), ${dueFactorCte('account')}, measured as (
    select count(*) filter (where :onConflict::text <> 'replace' or o.provider_id <> :providerId::uuid)
             >= :maxLinks::integer as is_full,
           :onConflict::text = 'set' and count(*) filter (where o.provider_id = :providerId::uuid) > 0 as has_link
      from upstream_links o where o.user_id = :userId::uuid
  ), linked as (
    update upstream_links l set user_id = :userId::uuid, last_used_at = :now::timestamptz
      from measured
     where l.id = :linkId::uuid and l.user_id is null and not measured.is_full and not measured.has_link
    returning l.id
  ), consumed as (
    ${consumeAuthorization('linked', SESSION_IF_ENOUGH)}
    returning a.link_id as id
  ), removed as (
    delete from upstream_links o using consumed
     where :onConflict::text = 'replace' and o.user_id = :userId::uuid and o.provider_id = :providerId::uuid
       and o.id <> consumed.id
  ), ${upstreamSessionCtes(':userId::uuid')}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :linkEventId::uuid, 'upstream_linked', :userId::uuid, null::uuid, (select opened.id from opened), :ip::inet,
           :userAgent::text, jsonb_build_object('link', :linkId::uuid, 'by', 'name') || :detail::jsonb, :now::timestamptz
      from consumed
    union all
    select :loginEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text,
           '{"method": "upstream"}'::jsonb, :now::timestamptz
      from opened
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id from consumed where :isTold::boolean',
    notice: 'upstream_linked',
    eventId: ':linkEventId::uuid',
    detail: ':detail::jsonb',
    language: ':language::text',
    now: ':now::timestamptz',
  })}
  select measured.is_full, measured.has_link, exists (select from opened) as is_opened,
         exists (select from pending) as is_pending, (select due.factor from due) as due_factor,
         ${liveSessionsSql(':userId::uuid')} as live_sessions
    from measured`,
);
