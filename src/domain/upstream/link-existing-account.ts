import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { finishSurplusSessions, liveSessionsSql } from '#domain/browser-sessions/surplus-sessions.ts';
import type { SessionCredentials } from '#domain/records/browser-session.ts';
import { type DueFactor, dueFactorCte, type SecondFactorRules } from '#domain/records/due-factor.ts';
import type { User } from '#domain/records/user.ts';
import { toPendingLinkRow } from '#domain/second-factors/pending-link.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
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
import { confirmedEmailKey } from './import-claims.ts';
import {
  LINK_IS_FREE,
  type LinkByNameParameters,
  linkByNameCtes,
  linkByNameParameters,
  lockForLink,
  MEASURED_LINKS,
} from './link-by-name.ts';
import type { EnabledMethods } from './login-methods.ts';

export interface LinkExistingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly secondFactors: Pick<SecondFactorRules, 'isRequiredAfterUpstream'>;
  readonly signIn: { readonly methods: EnabledMethods };
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
  readonly formerAccess: FormerAccess;
}

/** Ends earlier access to an account. Each method expects the caller's transaction. */
export interface FormerAccess {
  endCredentials(
    transaction: Transaction,
    of: Pick<ExistingLink, 'address' | 'userAgent'> & { readonly user: UserId; readonly now: number },
  ): Promise<void>;
  /** @param confirmedKey normalized form of the address to keep */
  removeEmails(transaction: Transaction, user: UserId, confirmedKey: string | undefined): Promise<void>;
}

export interface ExistingLink extends UsedAuthorization, UpstreamSignIn {
  /** The user with the name from the provider. */
  readonly user: User;
  /** The user's language. */
  readonly language: string;
}

export type LinkExistingOutcome =
  | { readonly ok: true; readonly session: SessionCredentials }
  | UpstreamFactorDue
  /**
   * `unusable`: the account is locked or deactivated, its owner became an administrator or has to sign in. `has-link`:
   * it was linked to another identity. `used`: another request was first, or it took too long.
   */
  | { readonly ok: false; readonly reason: 'unusable' | 'has-link' | 'too-many-links' | 'used' };

/**
 * Links an identity of a provider to the account with the same name and signs in there, if the operator's `on_conflict`
 * allows that (browser-flows 8.6). If a further factor is due, nothing is linked before the user has provided it: the
 * pending login stores the link.
 *
 * A stranger may have created the account in advance if it can be signed in to without the provider. It is then linked
 * only if the operator trusts the provider, and all earlier access ends.
 */
export async function linkExistingAccount(
  deps: LinkExistingDeps,
  linkExisting: ExistingLink,
): Promise<LinkExistingOutcome> {
  const { database, clock, signIn, formerAccess, sendsNotices } = deps;
  const { provider, completed, user, address, userAgent, language } = linkExisting;
  const now = clock.now();
  const { session, pending, parameters } = newUpstreamSession(linkExisting, deps.secondFactors, now);
  const { onConflict, trustsProvider } = provider.claimsImports.localpart;
  const link = { linkId: completed.linkId, providerId: provider.id, providerName: provider.name, onConflict };
  const wanted = { user: user.id, link, address, userAgent, language, sendsNotices, now };
  let liveSessions = 0;
  const outcome = await refusableTransaction<LinkExistingOutcome>(
    database,
    async (transaction, refuse) => {
      const locked = await lockForLink(transaction, user.id, signIn.methods);
      if (locked === undefined || (locked.hasCredential && !trustsProvider)) return { ok: false, reason: 'unusable' };
      if (locked.hasCredential)
        await formerAccess.endCredentials(transaction, { user: user.id, now, address, userAgent });
      const row = await transaction.first(linkByName, {
        ...linkByNameParameters(wanted),
        ...parameters,
        loginEventId: newAuditEventId(now),
        link: JSON.stringify(toPendingLinkRow(link)),
      });
      if (row?.has_link === true) return refuse({ ok: false, reason: 'has-link' });
      if (row?.is_full === true) return refuse({ ok: false, reason: 'too-many-links' });
      if (row?.is_pending === true && row.due_factor !== null) {
        return { ok: false, reason: 'factor-due', pending, factor: row.due_factor };
      }
      if (row?.is_opened !== true) return refuse({ ok: false, reason: 'used' });
      if (locked.hasCredential)
        await formerAccess.removeEmails(transaction, user.id, confirmedEmailKey(completed.answer));
      liveSessions = row.live_sessions;
      return { ok: true, session };
    },
    { isRepeatable: true },
  );
  if (outcome.ok) await finishSurplusSessions(database, toUuid(user.id), liveSessions, now);
  return outcome;
}

// With the lock on the identity, a concurrent request for it either commits first or waits.
const linkByName = statement<
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
