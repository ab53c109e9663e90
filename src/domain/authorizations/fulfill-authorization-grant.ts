import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { rememberConsentCte } from '#domain/clients/consents.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { grantIsPending } from '#domain/records/liveness/authorizations.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { clientWithIdIsCurrentAndAdmits } from '#domain/records/liveness/clients.ts';
import { toUuid } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AuthorizationGrantId, BrowserSessionId, UserId } from '#vocabulary/ids.ts';

export interface Fulfillment {
  readonly id: AuthorizationGrantId;
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  /** The client's version when the request was validated. */
  readonly clientVersion: number;
  /** Language of the pages, used if the client requested none. */
  readonly locale: string;
  /** Whether the user consented on the page; false if the page was skipped. */
  readonly isDecided: boolean;
  /** Scopes to remember, in canonical form; see `rememberableScopes`. */
  readonly rememberedScopes: readonly string[];
  readonly rememberedResources: readonly string[];
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Issues the authorization code of a pending grant: 43 base64url characters, stored only as SHA-256. Returns undefined
 * and writes nothing if the grant, its client, the session or the account has changed since it was read, or the account
 * may not use the client. Uses one statement; of several concurrent callers, exactly one succeeds.
 */
export async function fulfillAuthorizationGrant(
  database: Queryable,
  fulfillment: Fulfillment,
): Promise<string | undefined> {
  const { now } = fulfillment;
  const code = randomBase64Url();
  const row = await database.first(fulfillGrant, {
    id: toUuid(fulfillment.id),
    userId: toUuid(fulfillment.userId),
    browserSessionId: toUuid(fulfillment.browserSessionId),
    clientVersion: fulfillment.clientVersion,
    codeHash: sha256(code),
    locale: fulfillment.locale,
    rememberedScopes: fulfillment.rememberedScopes,
    rememberedResources: fulfillment.rememberedResources,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: fulfillment.address ?? null,
    userAgent: fulfillment.userAgent ?? null,
    isDecided: fulfillment.isDecided,
  });
  return row === undefined ? undefined : code;
}

/**
 * Stores the code of a pending grant and remembers the consent. Returns a row to exactly one caller. Returns none if
 * the grant is no longer pending, the client has changed or does not admit the user, or the session or account is no
 * longer usable.
 *
 * Locks the user and the browser session against a concurrent account lock or sign-out (security S-102). All statements
 * lock in the order users, browser sessions, grants.
 */
const fulfillGrant = statement<
  { client_id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly browserSessionId: string;
    readonly clientVersion: number;
    readonly codeHash: Buffer;
    readonly locale: string;
    readonly rememberedScopes: readonly string[];
    readonly rememberedResources: readonly string[];
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    /** Whether the user has just consented, which is recorded as an event. */
    readonly isDecided: boolean;
  }
>(
  'fulfil-authorization-grant',
  `with account as materialized (
    select id, groups from users
     where id = :userId::uuid and ${accountIsUsable('users')}
       for share
  ), sign_in as materialized (
    select id, authenticated_at, acr, amr from user_sessions
     where id = :browserSessionId::uuid and user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')}
       and exists (select from account)
       for share
  ), fulfilled as (
    update oauth2_authorization_grants g
       set user_session_id = sign_in.id,
           auth_time = sign_in.authenticated_at,
           acr = sign_in.acr,
           amr = sign_in.amr,
           code_hash = :codeHash::bytea,
           locale = coalesce(g.locale, :locale::text),
           fulfilled_at = :now::timestamptz
      from sign_in
     where g.id = :id::uuid
       and ${grantIsPending('g', ':now::timestamptz')}
       and ${clientWithIdIsCurrentAndAdmits('g.client_id', ':clientVersion::integer', 'account')}
    returning g.client_id, :userId::uuid as user_id
  ), ${rememberConsentCte('fulfilled', ':rememberedScopes::text[]', ':rememberedResources::text[]', ':now::timestamptz')}, audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'consent_given', fulfilled.user_id, fulfilled.client_id, :browserSessionId::uuid, :ip::inet, :userAgent::text,
           null::jsonb, :now::timestamptz
      from fulfilled where :isDecided::boolean
  )
  select client_id from fulfilled`,
);
