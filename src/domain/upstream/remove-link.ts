import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { providerIsEnabled } from '#domain/records/liveness/upstream-providers.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamLinkId, UserId } from '#vocabulary/ids.ts';
import { type EnabledMethods, hasUsableLink, hasUsablePasskey, hasUsablePassword } from './login-methods.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface RemoveLinkDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly signIn: { readonly methods: EnabledMethods };
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface LinkRemoval {
  readonly userId: UserId;
  readonly linkId: UpstreamLinkId;
  /** The provider of the identity. */
  readonly provider: UpstreamProvider;
  /** IP address of the request, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** `last-login-method`: the account has no other sign-in method. */
export type LinkRemovalOutcome = 'removed' | 'not-found' | 'last-login-method';

/**
 * Unlinks an identity at a provider from its account, which must keep another sign-in method. The row stays without an
 * account, because a sign-in through the provider may be in progress. A separate statement locks the account, so that
 * the next one sees what concurrent removals have committed. Two removals can therefore not remove the last two
 * methods.
 */
export async function removeLink(deps: RemoveLinkDeps, removal: LinkRemoval): Promise<LinkRemovalOutcome> {
  const { database, clock, signIn, sendsNotices } = deps;
  const { linkId, provider, address, userAgent } = removal;
  const userId = toUuid(removal.userId);
  const now = clock.now();
  return await database.transaction<LinkRemovalOutcome>(
    async (transaction) => {
      if ((await transaction.first(lockAccount, { userId })) === undefined) return 'not-found';
      const row = await transaction.first(removeOwnLink, {
        userId,
        linkId: toUuid(linkId),
        ...signIn.methods,
        now: new Date(now),
        auditEventId: newAuditEventId(now),
        ip: address ?? null,
        userAgent: userAgent ?? null,
        isTold: sendsNotices,
        detail: JSON.stringify({ provider: provider.name }),
        queuedBy: queuedBy(),
      });
      if (row === undefined) return 'not-found';
      return row.is_removed ? 'removed' : 'last-login-method';
    },
    { isRepeatable: true },
  );
}

const lockAccount = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-remove-link',
  `select u.id from users u where ${accountIsUsable('u')} and u.id = :userId::uuid for no key update`,
);

const removeOwnLink = statement<
  { is_removed: boolean },
  EnabledMethods & {
    readonly userId: string;
    readonly linkId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly isTold: boolean;
    readonly detail: string;
    readonly queuedBy: string | null;
  }
>(
  'remove-upstream-link',
  `with own as materialized (
    select l.id, l.human_account_name,
           ${hasUsablePassword(':userId::uuid')} or ${hasUsableLink(':userId::uuid', 'way.id <> :linkId::uuid')}
             or ${hasUsablePasskey(':userId::uuid')} as has_other
      from upstream_links l join upstream_providers p on p.id = l.provider_id
     where l.id = :linkId::uuid and l.user_id = :userId::uuid and ${providerIsEnabled('p')}
  ), removed as (
    update upstream_links l set user_id = null from own where l.id = own.id and own.has_other
    returning l.id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'upstream_unlinked', :userId::uuid, null, null, :ip::inet, :userAgent::text,
           :detail::jsonb || jsonb_build_object('link', removed.id), :now::timestamptz
      from removed
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id from removed where :isTold::boolean',
    notice: 'upstream_unlinked',
    eventId: ':auditEventId::uuid',
    detail: ':detail::jsonb',
    language: 'null::text',
    now: ':now::timestamptz',
  })}
  select exists (select from removed) as is_removed from own`,
);
