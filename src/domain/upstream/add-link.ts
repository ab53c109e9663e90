import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { accountIsDeactivated } from '#domain/records/liveness/accounts.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type BindOutcome, bindIdentity } from './bind-identity.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface AddLinkDeps {
  readonly database: Database;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface NewLink {
  readonly user: UserId;
  readonly provider: UpstreamProvider;
  /** The user's subject at the provider. */
  readonly subject: string;
  /** Name of the account at the provider; undefined to keep the known name. */
  readonly accountName: string | undefined;
  /** The administrator or operator. */
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type AddLinkOutcome = BindOutcome | { readonly ok: false; readonly reason: 'unknown-user' };

/** Links an account to an identity at a provider, like `bindIdentity`, on behalf of an administrator or operator. */
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
      const detail = { provider: provider.name };
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
