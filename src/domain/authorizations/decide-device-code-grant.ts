import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { deviceCodeGrantIsPending } from '#domain/records/liveness/authorizations.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { clientAdmits, clientIsCurrent } from '#domain/records/liveness/clients.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, DeviceCodeGrantId, UserId } from '#vocabulary/ids.ts';

export interface DeviceDecision {
  readonly id: DeviceCodeGrantId;
  readonly isConfirmed: boolean;
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  /** The client's version when the page was rendered. */
  readonly clientVersion: number;
  /** Language of the page. */
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Confirms or rejects a pending grant for the signed-in user. Uses one statement; of several concurrent callers,
 * exactly one succeeds. Returns false and writes nothing if the grant, its client, the session or the account has
 * changed since it was read, or if the account may not use the client and confirms.
 */
export async function decideDeviceCodeGrant(database: Queryable, decision: DeviceDecision): Promise<boolean> {
  const row = await database.first(decide, {
    id: toUuid(decision.id),
    isConfirmed: decision.isConfirmed,
    userId: toUuid(decision.userId),
    browserSessionId: toUuid(decision.browserSessionId),
    clientVersion: decision.clientVersion,
    locale: decision.locale,
    now: new Date(decision.now),
    auditEventId: newAuditEventId(decision.now),
    ip: decision.address ?? null,
    userAgent: decision.userAgent ?? null,
  });
  return row !== undefined;
}

/**
 * Locks the user and the browser session against a concurrent account lock or sign-out (security S-102). All statements
 * lock in the order users, browser sessions, grants.
 */
const decide = statement<
  { id: string },
  {
    readonly id: string;
    readonly isConfirmed: boolean;
    readonly userId: string;
    readonly browserSessionId: string;
    readonly clientVersion: number;
    readonly locale: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'decide-device-code-grant',
  `with account as materialized (
    select id, groups from users
     where id = :userId::uuid and ${accountIsUsable('users')}
       for share
  ), sign_in as materialized (
    select id, acr, amr, authenticated_at from user_sessions
     where id = :browserSessionId::uuid and user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')}
       and exists (select from account)
       for share
  ), decided as (
    update oauth2_device_code_grants g
       set user_session_id = sign_in.id,
           auth_time = sign_in.authenticated_at,
           acr = sign_in.acr,
           amr = sign_in.amr,
           locale = :locale::text,
           fulfilled_at = case when :isConfirmed::boolean then :now::timestamptz end,
           rejected_at = case when not :isConfirmed::boolean then :now::timestamptz end
      from sign_in
     where g.id = :id::uuid
       and ${deviceCodeGrantIsPending('g', ':now::timestamptz')}
       and exists (select from oauth2_clients c, account
                    where c.id = g.client_id and ${clientIsCurrent('c', ':clientVersion::integer')}
                      and (not :isConfirmed::boolean or ${clientAdmits('c', 'account')}))
    returning g.id, g.client_id
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'consent_given', :userId::uuid, decided.client_id, :browserSessionId::uuid, :ip::inet,
           :userAgent::text, '{"grant": "device_code"}'::jsonb, :now::timestamptz
      from decided where :isConfirmed::boolean
  )
  select id from decided`,
);
