import { accountIsDeactivated } from '#domain/accounts/liveness.ts';
import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { toUuid, type UserId } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type BindOutcome, bindIdentity } from './bind-identity.ts';
import { providerName, type UpstreamProvider } from './upstream-providers.ts';

export interface AddLinkDeps {
  readonly database: Database;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

export interface NewLink {
  readonly user: UserId;
  readonly provider: UpstreamProvider;
  /** Who the person is there. */
  readonly subject: string;
  /** What the account there is called; undefined: what is known of it stays. */
  readonly accountName: string | undefined;
  /** Those who run the service. */
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type AddLinkOutcome = BindOutcome | { readonly ok: false; readonly reason: 'unknown-user' };

/** Gives an account an identity at a provider, as `bindIdentity`, for those who run the service. */
export async function addLink(
  { database, sendsNotices }: AddLinkDeps,
  { user, provider, subject, accountName, by, now }: NewLink,
): Promise<AddLinkOutcome> {
  return await refusableTransaction<AddLinkOutcome>(
    database,
    async (transaction, refuse) => {
      if ((await transaction.first(lockAccount, { userId: toUuid(user) })) === undefined) {
        return refuse({ ok: false, reason: 'unknown-user' });
      }
      const bound = await bindIdentity(transaction, user, { providerId: provider.id, subject, accountName }, now);
      if (!bound.ok) return refuse(bound);
      const detail = { provider: providerName(provider) };
      const eventId = await recordAuditEvent(transaction, {
        ...by,
        kind: 'upstream_linked',
        at: now,
        userId: user,
        detail: { ...by.detail, ...detail, link: toUuid(bound.id) },
      });
      if (sendsNotices) await queueNotice(transaction, 'upstream_linked', { user, eventId, detail, now });
      return bound;
    },
    { isRepeatable: true },
  );
}

const lockAccount = statement<{ id: string }, { readonly userId: string }>(
  'lock-account-to-add-link',
  `select u.id from users u where u.id = :userId::uuid and not (${accountIsDeactivated('u')}) for no key update`,
);
