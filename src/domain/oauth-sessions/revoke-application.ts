import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { cancelGrantsOfUser } from '#domain/authorizations/cancel-grants-of-user.ts';
import { deleteConsentCte } from '#domain/clients/consents.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import { endingCtes } from './end-oauth2-session.ts';

export interface RevokeApplicationDeps {
  readonly database: Database;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
}

/** A user's request to revoke all access of an application. */
export interface ApplicationRevocation {
  readonly userId: UserId;
  readonly clientId: ClientId;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request, for the audit log. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/**
 * Ends all sessions of a client for a user, deletes the consent, and cancels codes that the client has not exchanged
 * yet. Locks in the usual order, grants before sessions. If a concurrent exchange commits first, its session is ended.
 * @returns number of ended sessions; undefined: the client had neither sessions nor a consent
 */
export async function revokeApplication(
  { database, homeserver }: RevokeApplicationDeps,
  { userId, clientId, now, address, userAgent }: ApplicationRevocation,
): Promise<number | undefined> {
  return await database.transaction(
    async (transaction) => {
      await cancelGrantsOfUser(transaction, userId, clientId, now);
      const row = await transaction.first(revoke, {
        userId: toUuid(userId),
        clientId: toUuid(clientId),
        now: new Date(now),
        auditEventId: newAuditEventId(now),
        ip: address ?? null,
        userAgent: userAgent ?? null,
        ...sessionEndParams(homeserver.isConnected),
      });
      return row?.is_found === true ? row.sessions : undefined;
    },
    { isRepeatable: true },
  );
}

const revoke = statement<
  { is_found: boolean; sessions: number },
  SessionEndParams & {
    readonly userId: string;
    readonly clientId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'revoke-application',
  `with recursive ${endingCtes(
    `select s.id from oauth2_sessions s
      where s.user_id = :userId::uuid and s.client_id = :clientId::uuid and ${oauthSessionIsLive('s')}`,
    ':now::timestamptz',
    `'logout'`,
  )}, ${deleteConsentCte(':userId::uuid', ':clientId::uuid')}, counted as (
    select exists (select from ended) or exists (select from consent_revoked) as is_found,
           (select count(ended.id) from ended where ended.client_id = :clientId::uuid)::integer as sessions
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'application_revoked', :userId::uuid, :clientId::uuid, null, :ip::inet,
           :userAgent::text, jsonb_build_object('sessions', counted.sessions), :now::timestamptz
      from counted where counted.is_found
  )
  select counted.is_found, counted.sessions from counted`,
);
