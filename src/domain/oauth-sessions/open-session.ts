import { type AuditEvent, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Client } from '#domain/clients/client.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { giveBackLeaseCtes } from '#domain/homeserver/user-lease.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { clientWithIdIsCurrentAndAdmits } from '#domain/records/liveness/clients.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { type SessionLimit, type SessionRoomParams, sessionRoomCtes } from '#domain/records/session-limit.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Database } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import { ADMIN_AREA_TOKEN_SECONDS } from '#protocol/oauth/builtin-clients.ts';
import { newToken, parseToken } from '#protocol/oauth/token-format.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { endingCtes } from './end-oauth2-session.ts';
import { refreshFamily } from './refresh-successor.ts';
import { accessTokenExpiry, type TokenSettings } from './token-settings.ts';

/** Common columns of every user-approved grant that is about to be redeemed. */
export interface RedeemableRow {
  readonly grant_id: string;
  readonly user_id: string;
  readonly user_session_id: string;
  readonly resources: readonly string[];
}

/** Resource servers, scope and bound key of an access token. */
export interface TokenTarget {
  readonly resources: readonly string[];
  readonly scope: readonly string[];
  /** Thumbprint; undefined: a bearer token. */
  readonly key: string | undefined;
}

/** A grant that passed its checks, with everything that its redemption will store. Nothing has been written yet. */
export interface Redemption<Row extends RedeemableRow> {
  readonly row: Row;
  readonly sessionId: OAuth2SessionId;
  readonly userId: UserId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
  /** Undefined: the client does not use refresh tokens. */
  readonly refreshToken: string | undefined;
  /** Resource servers of the access token, and its part of the granted scope. */
  readonly target: TokenTarget;
  readonly now: number;
}

/** Generates the session ID and tokens for a grant that passed its checks. */
export function prepareRedemption<Row extends RedeemableRow>(
  row: Row,
  client: Client,
  target: TokenTarget,
  settings: TokenSettings,
  now: number,
): Redemption<Row> {
  return {
    row,
    sessionId: newId(now),
    userId: fromUuid(row.user_id),
    accessToken: newToken('mat'),
    accessTokenExpiresAt:
      client.kind === 'builtin'
        ? Math.min(now + ADMIN_AREA_TOKEN_SECONDS * 1000, accessTokenExpiry(settings, target.resources, now, now))
        : accessTokenExpiry(settings, target.resources, now, now),
    refreshToken: client.grantTypes.includes('refresh_token') ? newToken('mar') : undefined,
    target,
    now,
  };
}

/** The device that redeems the grant. */
export interface RedeemingDevice {
  /** The device ID in the granted scope. */
  readonly id: string | undefined;
  /** Its name at the homeserver, if the device is new there. */
  readonly name: string | undefined;
  readonly userAgent: string | undefined;
  readonly address: string | undefined;
}

/** The columns that `redeemSql` returns. */
export interface RedeemedRow {
  /** Null: nothing changed. */
  readonly id: string | null;
  /** Whether the session limit allows another session. */
  readonly is_left: boolean;
  /** Whether another process now holds the lease, which alone prevented the redemption. */
  readonly is_lease_lost: boolean;
}

/** A session and its first tokens, as stored. */
export interface Opening {
  readonly sessionId: OAuth2SessionId;
  /** UUID. */
  readonly userId: string;
  readonly accessToken: string;
  /** Milliseconds since the epoch; infinite: never. */
  readonly accessTokenExpiresAt: number;
  /** Undefined: none. */
  readonly refreshToken: string | undefined;
  readonly target: TokenTarget;
  /** The key that the session is bound to. */
  readonly sessionKey: string | undefined;
  /** The actor who opened it, if not the user. */
  readonly detail?: AuditEvent['detail'];
  readonly now: number;
}

/** Returns the parameters of statements with `openingCtes`. */
export function openingParams(
  opening: Opening,
  device: Omit<RedeemingDevice, 'name'>,
  limit: SessionRoomParams,
  leaseOwner: string | null,
): OpeningParams {
  const { userId, now, refreshToken, accessTokenExpiresAt, target, detail } = opening;
  const refreshText = refreshToken === undefined ? undefined : parseToken(refreshToken);
  return {
    userId,
    now: new Date(now),
    leaseOwner,
    sessionId: toUuid(opening.sessionId),
    deviceId: device.id ?? null,
    userAgent: device.userAgent ?? null,
    refreshFamily: refreshText === undefined ? null : refreshFamily(refreshText.random),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(opening.accessToken),
    accessTokenExpiresAt:
      accessTokenExpiresAt === Number.POSITIVE_INFINITY ? 'infinity' : new Date(accessTokenExpiresAt),
    resources: target.resources,
    tokenScope: target.scope,
    tokenKey: target.key ?? null,
    sessionKey: opening.sessionKey ?? null,
    refreshTokenId: toUuid(newId(now)),
    refreshTokenHash: refreshToken === undefined ? null : sha256(refreshToken),
    startedEventId: newAuditEventId(now),
    endedEventId: newAuditEventId(now),
    eventDetail: detail === undefined ? null : JSON.stringify(detail),
    ip: device.address ?? null,
    // The device of the replaced session remains in use.
    ...sessionEndParams(false),
    ...limit,
  };
}

/** Returns the parameters of statements with `redeemSql`. */
export function redeemParams(
  redemption: Redemption<RedeemableRow>,
  client: Client,
  device: RedeemingDevice,
  limit: SessionLimit,
  leaseOwner: string | null,
): RedeemParams {
  const { row, now, target } = redemption;
  // Confidential clients authenticate when they refresh, so only public clients need a bound session (RFC 9449 5).
  const sessionKey = client.authMethod === 'none' ? target.key : undefined;
  return {
    ...openingParams({ ...redemption, userId: row.user_id, sessionKey }, device, limit.params(now), leaseOwner),
    grantId: row.grant_id,
    userSessionId: row.user_session_id,
    clientVersion: client.version,
  };
}

export type OpeningParams = SessionRoomParams &
  SessionEndParams & {
    readonly userId: string;
    readonly now: Date;
    /** Holder of the user's lease; null: no lease needed. */
    readonly leaseOwner: string | null;
    readonly sessionId: string;
    readonly deviceId: string | null;
    readonly userAgent: string | null;
    readonly refreshFamily: Buffer | null;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    /** PostgreSQL's value later than all timestamps, so that liveness, sweeps and indexes need no special case. */
    readonly accessTokenExpiresAt: Date | 'infinity';
    readonly resources: readonly string[];
    readonly tokenScope: readonly string[];
    readonly tokenKey: string | null;
    readonly sessionKey: string | null;
    readonly refreshTokenId: string;
    /** Null: issue no refresh token. */
    readonly refreshTokenHash: Buffer | null;
    readonly startedEventId: string;
    readonly endedEventId: string;
    /** Detail of both events; null: the user acted. */
    readonly eventDetail: string | null;
    readonly ip: string | null;
  };

export type RedeemParams = OpeningParams & {
  readonly grantId: string;
  readonly userSessionId: string;
  readonly clientVersion: number;
};

/**
 * Consumes a grant, ends the older session of the same user and device (of either kind), opens the new session and
 * stores its first tokens. Returns one row that shows whether this caller redeemed the grant. If not, nothing changed,
 * except that the lease may have been released.
 *
 * The conditional update of the grant decides races. The user and the browser session are locked against a concurrent
 * account lock, deactivation, change of groups or sign-out (security S-102). Locks are taken in the order users, browser sessions,
 * leases, grants, OAuth sessions, compat sessions, tokens. Each step depends on the rows of the previous one, which
 * enforces that order.
 *
 * Two grants for the same user and device are redeemed in sequence, either under the user's lease or while the user is
 * locked (`sendInTurn`). The later one therefore sees the session of the other. Otherwise `oauth2_sessions_live_device`
 * would reject the whole statement.
 *
 * @param update start of the update that consumes the grant `:grantId`, up to `set`, with the alias `g`
 * @param isRedeemable condition on `g`: the grant may be redeemed
 * @param claims column of the individually requested claims
 * @param isRenewal see `openingCtes`
 */
export function redeemSql(update: string, isRedeemable: string, claims: string, isRenewal = false): string {
  return `with recursive account as materialized (
    select id, groups from users
     where id = :userId::uuid and ${accountIsUsable('users')}
       for share
  ), ${sessionRoomCtes(':userId::uuid', ':deviceId::text', ':now::timestamptz')}, sign_in as materialized (
    select id from user_sessions
     where id = :userSessionId::uuid and user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')}
       and exists (select from account) and exists (select from room where is_left)
       for share
  ), ${giveBackLeaseCtes(':userId::uuid', 'sign_in')}, consumed as (
    ${update} exchanged_at = :now::timestamptz, oauth2_session_id = :sessionId::uuid
     where g.id = :grantId::uuid
       and g.user_session_id = :userSessionId::uuid
       and ${isRedeemable}
       and exists (select from fenced)
       and ${clientWithIdIsCurrentAndAdmits('g.client_id', ':clientVersion::integer', 'account')}
    returning g.client_id, g.scope, ${claims}, g.resources, g.locale, g.auth_time, g.acr, g.amr
  ), ${openingCtes(':userSessionId::uuid', isRenewal)}
  select opened.id, room.is_left,
         exists (select from sign_in) and not exists (select from fenced) as is_lease_lost
    from room left join opened on true`;
}

/**
 * Returns CTEs that end the older session of the same user and device (of either kind), open the new one as
 * `opened(id, client_id)` and store its first tokens. They do so only if the CTE `consumed` has a row: client_id,
 * scope, claims, resources, locale, auth_time, acr and amr. Expects a preceding `with recursive`, and `OpeningParams`.
 * @param browserSession expression of the browser session of the consent
 * @param isRenewal for the admin area: ends its former sessions of the browser session whose tokens have expired, instead
 * of one of the device. Other tabs keep theirs. Only the first session is recorded
 */
export function openingCtes(browserSession: string, isRenewal = false): string {
  const former = isRenewal
    ? `user_session_id = ${browserSession} and client_id in (select client_id from consumed)
        and created_at <= :now::timestamptz - make_interval(secs => ${ADMIN_AREA_TOKEN_SECONDS})`
    : `user_id = :userId::uuid and device_id = :deviceId::text`;
  const isFirst = `
     where not exists (
       select from oauth2_sessions other where other.user_session_id = ${browserSession} and other.client_id = opened.client_id
     )`;
  return `${endingCtes(
    `select id from oauth2_sessions
      where ${former} and ${oauthSessionIsLive('oauth2_sessions')}
        and exists (select from consumed)`,
    ':now::timestamptz',
    isRenewal ? `'renewed'` : `'device_replaced'`,
    {
      compat: {
        roots: `select id from compat_sessions
         where user_id = :userId::uuid and device_id = :deviceId::text and ${compatSessionIsLive('compat_sessions')}
           and exists (select from consumed)`,
        reason: `'device_replaced'`,
      },
    },
  )}, replaced as materialized (
    select id, ended.user_id, client_id, human_name from ended join oauth2_sessions using (id, client_id)
     where oauth2_sessions.device_id = :deviceId::text
    union all
    select id, user_id, null, human_name from compat_ended
  ), opened as (
    insert into oauth2_sessions (
      id, user_id, user_session_id, client_id, scope, claims, resources, device_id, human_name, locale, user_agent,
      auth_time, acr, amr, dpop_jkt, refresh_family, created_at
    )
    select :sessionId::uuid, :userId::uuid, ${browserSession}, client_id, scope, claims, resources, :deviceId::text,
           (select human_name from replaced where human_name is not null order by id desc limit 1), locale, :userAgent::text,
           auth_time, acr, amr, :sessionKey::text, :refreshFamily::bytea, :now::timestamptz
      from consumed
     -- the count makes the older session of the device end before the unique index is asked
     where (select count(*) from ended) >= 0
    returning id, client_id
  ), issued_access as (
    insert into oauth2_access_tokens (id, session_id, token_hash, scope, resources, dpop_jkt, created_at, expires_at)
    select :accessTokenId::uuid, id, :accessTokenHash::bytea, :tokenScope::text[], :resources::text[], :tokenKey::text, :now::timestamptz, :accessTokenExpiresAt::timestamptz from opened
    returning id, session_id
  ), issued_refresh as (
    insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
    select :refreshTokenId::uuid, session_id, :refreshTokenHash::bytea, id, :now::timestamptz
      from issued_access
     where :refreshTokenHash::bytea is not null
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :startedEventId::uuid, 'session_started', :userId::uuid, client_id, id, :ip::inet, :userAgent::text, :eventDetail::jsonb,
           :now::timestamptz
      from opened${isRenewal ? isFirst : ''}
    union all
    select :endedEventId::uuid, 'session_ended', user_id, client_id, id, :ip::inet, :userAgent::text,
           '{"reason": "device_replaced"}'::jsonb || coalesce(:eventDetail::jsonb, '{}'), :now::timestamptz
      from (select id, user_id, client_id from replaced order by id limit 1) first_replaced
  )`;
}

/**
 * Runs a statement that opens a session. A sign-in for a device must see all sessions opened before it, because older
 * sessions of the device end. With a session limit, this applies to every sign-in, because sessions are counted. The
 * holder of the user's lease sees them all. Otherwise this locks the user, so that other sign-ins wait at their first
 * step.
 * @param isDeviceGiven whether the client named a device; other sign-ins for that device may run concurrently
 */
export async function sendInTurn<Row, Parameters extends TurnParams>(
  database: Database,
  opening: Statement<Row, Parameters>,
  params: Parameters,
  isDeviceGiven: boolean,
): Promise<Row | undefined> {
  const isAlone = params.leaseOwner !== null || !isDeviceGiven;
  if (isAlone && params.sessionLimit === null) return await database.first(opening, params);
  return await database.transaction(
    async (transaction) => {
      await transaction.first(holdUser, { userId: params.userId });
      return await transaction.first(opening, params);
    },
    { isRepeatable: true },
  );
}

type TurnParams = Pick<OpeningParams, 'userId' | 'leaseOwner' | 'sessionLimit'>;

const holdUser = statement<{ id: string }, { readonly userId: string }>(
  'hold-user',
  'select id from users where id = :userId::uuid for no key update',
);
