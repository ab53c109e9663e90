import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { fromUuid, toUuid, type UpstreamLinkId } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

export interface DeleteLinkDeps {
  readonly database: Database;
  /** People are told by mail. */
  readonly sendsNotices: boolean;
}

export interface LinkDeletion {
  readonly link: UpstreamLinkId;
  /** What people call the provider. */
  readonly providerName: string;
  /** Those who run the service. */
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Deletes what is known of an identity at a provider, also when it was the last way into its account. Sign-ins with it
 * that wait for their last button end; those that led to a session stay, so that the provider can still end that.
 * @returns false when there is no such link
 */
export async function deleteLink(
  { database, sendsNotices }: DeleteLinkDeps,
  { link, providerName: provider, by, now }: LinkDeletion,
): Promise<boolean> {
  return await database.transaction(
    async (transaction) => {
      const row = await transaction.first(deleteRow, { id: toUuid(link) });
      if (row === undefined) return false;
      if (row.user_id === null) return true;
      const user = fromUuid<'user'>(row.user_id);
      const detail = { provider };
      const eventId = await recordAuditEvent(transaction, {
        ...by,
        kind: 'upstream_unlinked',
        at: now,
        userId: user,
        detail: { ...by.detail, ...detail, link: toUuid(link) },
      });
      if (sendsNotices) await queueNotice(transaction, 'upstream_unlinked', { user, eventId, detail, now });
      return true;
    },
    { isRepeatable: true },
  );
}

/** Authorizations that still name the link go with it. */
const deleteRow = statement<{ user_id: string | null }, { readonly id: string }>(
  'delete-upstream-link',
  `with kept as (
    update upstream_authorizations a set link_id = null
     where a.link_id = :id::uuid and a.user_session_id is not null
  )
  delete from upstream_links l where l.id = :id::uuid returning l.user_id`,
);
