import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ConsentId, UserId } from '#vocabulary/ids.ts';

/** A user's revocation of a consent. */
export interface ConsentRevocation {
  readonly userId: UserId;
  readonly consentId: ConsentId;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

const revoke = statement<
  { id: string },
  {
    readonly userId: string;
    readonly consentId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'revoke-consent',
  `with revoked as (
    delete from oauth2_consents where id = :consentId::uuid and user_id = :userId::uuid
    returning id, user_id, client_id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'consent_revoked', revoked.user_id, revoked.client_id, null, :ip::inet,
           :userAgent::text, null, :now::timestamptz
      from revoked
  )
  select revoked.id from revoked`,
);

/**
 * Deletes the consent, so that the user is asked at the next authorization. The application's sessions continue.
 * @returns false if the user has no such consent
 */
export async function revokeConsent(queryable: Queryable, revocation: ConsentRevocation): Promise<boolean> {
  const { userId, consentId, now, address, userAgent } = revocation;
  const row = await queryable.first(revoke, {
    userId: toUuid(userId),
    consentId: toUuid(consentId),
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: address ?? null,
    userAgent: userAgent ?? null,
  });
  return row !== undefined;
}
