import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import type { User } from '#domain/accounts/user.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { SessionCredentials } from '#domain/browser-sessions/browser-session.ts';
import { finishSurplusSessions, liveSessionsSql } from '#domain/browser-sessions/surplus-sessions.ts';
import { type DueFactor, dueFactorCte, type SecondFactorRules } from '#domain/pending-logins/due-factor.ts';
import { toPendingLinkRow } from '#domain/pending-logins/pending-link.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
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
import {
  LINK_IS_FREE,
  type LinkByNameParameters,
  linkByNameCtes,
  linkByNameParameters,
  lockForLink,
  MEASURED_LINKS,
} from './link-by-name.ts';
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
 * `on_conflict` wants that (browser-flows 8.6). Where a further factor is due nothing is linked before it was given: the
 * pending login carries what is to be linked.
 */
export async function takeOverAccount(deps: TakeOverDeps, takeOver: TakeOver): Promise<TakeOverOutcome> {
  const { database, clock, sendsNotices } = deps;
  const { provider, completed, user, address, userAgent, language } = takeOver;
  const now = clock.now();
  const { session, pending, parameters } = newUpstreamSession(takeOver, deps.secondFactors, now);
  const { onConflict } = provider.claimsImports.localpart;
  const link = { linkId: completed.linkId, providerId: provider.id, providerName: providerName(provider), onConflict };
  const wanted = { user: user.id, link, address, userAgent, language, sendsNotices, now };
  let liveSessions = 0;
  const outcome = await refusableTransaction<TakeOverOutcome>(
    database,
    async (transaction, refuse) => {
      if (!(await lockForLink(transaction, user.id))) return { ok: false, reason: 'unusable' };
      const row = await transaction.first(takeOverByName, {
        ...linkByNameParameters(wanted),
        ...parameters,
        loginEventId: newAuditEventId(now),
        link: JSON.stringify(toPendingLinkRow(link)),
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
  if (outcome.ok) await finishSurplusSessions(database, toUuid(user.id), liveSessions, now);
  return outcome;
}

// The lock of the identity makes another request that wants it come first or wait.
const takeOverByName = statement<
  {
    is_full: boolean;
    has_link: boolean;
    is_opened: boolean;
    live_sessions: number;
    is_pending: boolean;
    due_factor: DueFactor | null;
  },
  UpstreamSessionParameters & LinkByNameParameters & { readonly loginEventId: string; readonly link: string }
>(
  'take-over-account-by-name',
  `with account as (
    select :userId::uuid as user_id
  ), ${dueFactorCte('account')}, ${MEASURED_LINKS}, free as (
    select l.id from upstream_links l cross join measured where ${LINK_IS_FREE} for no key update of l
  ), consumed as (
    ${consumeAuthorization('free', SESSION_IF_ENOUGH)}
    returning a.id
  ), ${upstreamSessionCtes(':userId::uuid', ':link::jsonb')}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :loginEventId::uuid, 'login', opened.user_id, null, opened.id, :ip::inet, :userAgent::text,
           '{"method": "upstream"}'::jsonb, :now::timestamptz
      from opened
  ), ${linkByNameCtes('opened')}
  select measured.is_full, measured.has_link, exists (select from opened) as is_opened,
         exists (select from pending) as is_pending, (select due.factor from due) as due_factor,
         ${liveSessionsSql(':userId::uuid')} as live_sessions
    from measured`,
);
