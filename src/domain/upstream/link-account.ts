import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { insertAuthentication } from '#domain/browser-sessions/start-browser-session.ts';
import type { BrowserSession } from '#domain/records/browser-session.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import {
  type ConsumeParameters,
  consumeAuthorization,
  consumeParameters,
  type EvidenceParameters,
  evidenceParameters,
  type UsedAuthorization,
} from './consume-authorization.ts';

export interface LinkAccountDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Maximum age of the session's authentication; undefined for no limit. */
  readonly reauthMaxAgeSeconds: number | undefined;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface AccountLink extends UsedAuthorization {
  /** Session of the user who links the account. */
  readonly session: BrowserSession;
  /** The user's language. */
  readonly language: string;
  /** Whether to remove the account's other identities at the provider. */
  readonly replaces: boolean;
}

/** `used`: another request was first, it took too long, or the session has ended. */
export type AccountLinkOutcome = 'linked' | 'reauthentication-needed' | 'too-many-links' | 'used';

/** Limit of identities per account. */
export const MAX_LINKS = 20;

/**
 * Links an unlinked subject of a provider to the account of a live session. The browser may have been left unattended,
 * so the authentication must be recent (security R-32). If several accounts want the same subject, the first one gets
 * it. A separate statement locks the account, so that the next one counts what concurrent requests have committed.
 */
export async function linkAccount(deps: LinkAccountDeps, link: AccountLink): Promise<AccountLinkOutcome> {
  const { database, clock, reauthMaxAgeSeconds, sendsNotices } = deps;
  const { provider, completed, session, language, replaces } = link;
  const now = clock.now();
  const authenticatedAfter = reauthMaxAgeSeconds === undefined ? 0 : now - reauthMaxAgeSeconds * 1000;
  if (session.authenticatedAt <= authenticatedAfter) return 'reauthentication-needed';
  const holder = { sessionId: toUuid(session.id), authenticatedAfter: new Date(authenticatedAfter) };
  return await refusableTransaction<AccountLinkOutcome>(
    database,
    async (transaction, refuse) => {
      const account = await transaction.first(lockAccountOfSession, holder);
      if (account === undefined) return 'used';
      const row = await transaction.first(linkToAccount, {
        ...consumeParameters(completed, session.id, now),
        ...evidenceParameters(link, now),
        userId: account.user_id,
        maxLinks: MAX_LINKS,
        replacedProviderId: replaces ? toUuid(provider.id) : null,
        auditEventId: newAuditEventId(now),
        isTold: sendsNotices,
        detail: JSON.stringify({ provider: provider.name }),
        language,
        queuedBy: queuedBy(),
      });
      if (row?.is_full === true) return 'too-many-links';
      return row?.is_linked === true ? 'linked' : refuse('used');
    },
    { isRepeatable: true },
  );
}

/** A concurrent lock of the account either commits first or waits. */
const lockAccountOfSession = statement<
  { user_id: string },
  { readonly sessionId: string; readonly authenticatedAfter: Date }
>(
  'lock-account-for-upstream-link',
  `select u.id as user_id
     from user_sessions s join users u on u.id = s.user_id
    where s.id = :sessionId::uuid and ${browserSessionIsLive('s')} and ${accountIsUsable('u')}
      and s.authenticated_at > :authenticatedAfter::timestamptz
      for no key update of u`,
);

const linkToAccount = statement<
  { is_full: boolean; is_linked: boolean },
  ConsumeParameters &
    EvidenceParameters & {
      readonly userId: string;
      readonly maxLinks: number;
      /** Null to replace nothing. */
      readonly replacedProviderId: string | null;
      readonly auditEventId: string;
      readonly isTold: boolean;
      readonly detail: string;
      readonly language: string;
      readonly queuedBy: string | null;
    }
>(
  'link-upstream-account',
  `with measured as (
    select count(*) >= :maxLinks::integer as is_full from upstream_links o
     where o.user_id = :userId::uuid and o.provider_id is distinct from :replacedProviderId::uuid
  ), consumed as (
    ${consumeAuthorization('measured')} and not measured.is_full
    returning a.link_id
  ), linked as (
    update upstream_links l set user_id = :userId::uuid, last_used_at = :now::timestamptz
      from consumed where l.id = consumed.link_id and l.user_id is null
    returning :sessionId::uuid as id, l.user_id
  ), removed as (
    delete from upstream_links o using linked
     where o.user_id = :userId::uuid and o.provider_id = :replacedProviderId::uuid and o.id <> :linkId::uuid
  ), authenticated as (
    ${insertAuthentication('linked', 'upstream')}
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'upstream_linked', linked.user_id, null, linked.id, :ip::inet, :userAgent::text,
           jsonb_build_object('link', :linkId::uuid) || :detail::jsonb, :now::timestamptz
      from linked
  ), ${noticeCtes({
    told: 'select linked.user_id from linked where :isTold::boolean',
    notice: 'upstream_linked',
    eventId: ':auditEventId::uuid',
    detail: ':detail::jsonb',
    language: ':language::text',
    now: ':now::timestamptz',
  })}
  select measured.is_full, exists (select from linked) as is_linked from measured`,
);
