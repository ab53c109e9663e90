import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { dataExportState } from '#domain/records/liveness/data-exports.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { DataExportId, UserId } from '#vocabulary/ids.ts';

export interface ArchiveReading {
  readonly id: DataExportId;
  readonly user: UserId;
  /** IP address of the request, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export interface ReadArchive {
  /** A zip file. */
  readonly archive: Buffer;
  /** Milliseconds since the epoch. */
  readonly readyAt: number;
}

const readAndRecord = statement<
  { archive: Buffer; ready_at: number },
  {
    readonly id: string;
    readonly userId: string;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly now: Date;
  }
>(
  'read-data-export',
  `with found as materialized (
    select e.id, e.user_id, e.archive, e.ready_at from data_exports e
     where e.id = :id::uuid and e.user_id = :userId::uuid and ${dataExportState('e', ':now::timestamptz')} = 'ready'
  ), recorded as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'data_exported', found.user_id, null, null, :ip::inet, :userAgent::text, null, :now::timestamptz
      from found
  )
  select found.archive, ${ms('found.ready_at')} as ready_at from found`,
);

/**
 * Returns the archive of a user's export and records the download. Undefined if the user has no such export or it is
 * not ready.
 */
export async function readArchive(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  { id, user, address, userAgent }: ArchiveReading,
): Promise<ReadArchive | undefined> {
  const now = clock.now();
  const row = await database.first(readAndRecord, {
    id: toUuid(id),
    userId: toUuid(user),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    now: new Date(now),
  });
  return row === undefined ? undefined : { archive: row.archive, readyAt: row.ready_at };
}
