import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueNotice } from '#domain/security-notices/security-notice.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamLinkId } from '#vocabulary/ids.ts';

export interface DeleteLinkDeps {
  readonly database: Database;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
}

export interface LinkDeletion {
  readonly link: UpstreamLinkId;
  /** Display name of the provider. */
  readonly providerName: string;
  /** The administrator or operator. */
  readonly by: AuditActor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Deletes an identity at a provider, even if it is the account's last sign-in method. Unfinished sign-ins with it end.
 * Those that led to a session are kept, so that the provider can still end the session.
 * @returns false if the link does not exist
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

/** Also deletes authorizations that still refer to the link. */
const deleteRow = statement<{ user_id: string | null }, { readonly id: string }>(
  'delete-upstream-link',
  `with kept as (
    update upstream_authorizations a set link_id = null
     where a.link_id = :id::uuid and a.user_session_id is not null
  )
  delete from upstream_links l where l.id = :id::uuid returning l.user_id`,
);
