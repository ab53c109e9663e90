import { accountIsUsable } from '#domain/accounts/liveness.ts';
import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { browserSessionIsLive } from '#domain/browser-sessions/liveness.ts';
import type { Client } from '#domain/clients/client.ts';
import { fromUuid, newId, type OAuth2SessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Database } from '#platform/postgres/database.ts';
import { isUniqueViolation } from '#platform/postgres/failures.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import { newToken, parseToken } from '#protocol/oauth/token-format.ts';
import { endingCtes } from './end-oauth2-session.ts';
import { oauthSessionIsLive } from './liveness.ts';
import { refreshFamily } from './refresh-successor.ts';
import { accessTokenExpiry, type TokenSettings } from './token-settings.ts';

/** What every grant says that a person gave, and that is about to be redeemed. */
export interface RedeemableRow {
  readonly grant_id: string;
  readonly user_id: string;
  readonly user_session_id: string;
  readonly resources: readonly string[];
}

/** For which resource servers an access token is, its scope, and the key that it is bound to. */
export interface TokenTarget {
  readonly resources: readonly string[];
  readonly scope: readonly string[];
  /** Thumbprint; undefined: whoever has the token may use it. */
  readonly key: string | undefined;
}

/** A grant that passed its checks, with everything that its redemption will store; nothing is written yet. */
export interface Redemption<Row extends RedeemableRow> {
  readonly row: Row;
  readonly sessionId: OAuth2SessionId;
  readonly userId: UserId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
  /** Undefined: the client does not use refresh tokens. */
  readonly refreshToken: string | undefined;
  /** What the access token is for, and what of the granted scope it carries. */
  readonly target: TokenTarget;
  readonly now: number;
}

/** Draws the session and tokens that a judged grant will lead to. */
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
    accessTokenExpiresAt: accessTokenExpiry(settings, target.resources, now, now),
    refreshToken: client.grantTypes.includes('refresh_token') ? newToken('mar') : undefined,
    target,
    now,
  };
}

/** From where the grant is redeemed. */
export interface RedeemingDevice {
  /** The device that the granted scope names. */
  readonly id: string | undefined;
  readonly userAgent: string | undefined;
  readonly address: string | undefined;
}

/**
 * Redeems a grant: session and tokens are stored and the grant is consumed, or nothing changes. One statement, unless
 * another session of the same user and device was opened in the same instant: then once more with the user held, so
 * that however many sign in at once, each comes to its turn.
 *
 * @param redeem made with `redeemSql`
 * @returns false when another request was faster, or the user, the browser session or the client is gone by now
 */
export async function openSession<Parameters extends RedeemParams>(
  database: Database,
  redeem: Statement<{ id: string }, Parameters>,
  params: Parameters,
): Promise<boolean> {
  try {
    return (await database.first(redeem, params)) !== undefined;
  } catch (error) {
    if (!isUniqueViolation(error, 'oauth2_sessions_live_device')) throw error;
  }
  return await database.transaction(
    async (transaction) => {
      await transaction.first(holdUser, { userId: params.userId });
      return (await transaction.first(redeem, params)) !== undefined;
    },
    { isRepeatable: true },
  );
}

/** The parameters that all statements of `redeemSql` have. */
export function redeemParams(
  redemption: Redemption<RedeemableRow>,
  client: Client,
  device: RedeemingDevice,
): RedeemParams {
  const { row, now, refreshToken } = redemption;
  const refreshText = refreshToken === undefined ? undefined : parseToken(refreshToken);
  return {
    grantId: row.grant_id,
    userId: row.user_id,
    userSessionId: row.user_session_id,
    clientVersion: client.version,
    now: new Date(now),
    sessionId: toUuid(redemption.sessionId),
    deviceId: device.id ?? null,
    userAgent: device.userAgent ?? null,
    refreshFamily: refreshText === undefined ? null : refreshFamily(refreshText.random),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(redemption.accessToken),
    accessTokenExpiresAt: new Date(redemption.accessTokenExpiresAt),
    resources: redemption.target.resources,
    tokenScope: redemption.target.scope,
    tokenKey: redemption.target.key ?? null,
    // Others prove themselves by their secret when they refresh (RFC 9449 5).
    sessionKey: client.authMethod === 'none' ? (redemption.target.key ?? null) : null,
    refreshTokenId: toUuid(newId(now)),
    refreshTokenHash: refreshToken === undefined ? null : sha256(refreshToken),
    startedEventId: newAuditEventId(now),
    endedEventId: newAuditEventId(now),
    ip: device.address ?? null,
    queuedBy: queuedBy(),
  };
}

export type RedeemParams = {
  readonly grantId: string;
  readonly userId: string;
  readonly userSessionId: string;
  readonly clientVersion: number;
  readonly now: Date;
  readonly sessionId: string;
  readonly deviceId: string | null;
  readonly userAgent: string | null;
  readonly refreshFamily: Buffer | null;
  readonly accessTokenId: string;
  readonly accessTokenHash: Buffer;
  readonly accessTokenExpiresAt: Date;
  readonly resources: readonly string[];
  readonly tokenScope: readonly string[];
  readonly tokenKey: string | null;
  readonly sessionKey: string | null;
  readonly refreshTokenId: string;
  /** Null: no refresh token is issued. */
  readonly refreshTokenHash: Buffer | null;
  readonly startedEventId: string;
  readonly endedEventId: string;
  readonly ip: string | null;
  readonly queuedBy: string | null;
};

/**
 * Consumes a grant, ends the older session of the same user and device, opens the new one and stores its first
 * tokens. Returns a row when this caller redeemed the grant; otherwise nothing changed.
 *
 * The conditional update of the grant decides a race. The user and the browser session are locked against a lock-out,
 * a deactivation or a sign-out that commits at the same time (security S-102). Locks are taken in the order users, browser
 * sessions, grants, OAuth sessions, tokens; each step depends on the rows of the one before, which fixes that order.
 *
 * Two grants for one user and device redeemed in the same instant meet at `oauth2_sessions_live_device`: the later
 * statement fails as a whole with a unique violation, and is sent again behind `holdUser`.
 *
 * @param consumed the update that consumes the grant: conditional on its state, its client and `exists (select from
 *   sign_in)`, returning client_id, scope, claims, resources, locale, auth_time, acr and amr
 */
export function redeemSql(consumed: string): string {
  return `with recursive account as materialized (
    select id from users
     where id = :userId::uuid and ${accountIsUsable('users')}
       for share
  ), sign_in as materialized (
    select id from user_sessions
     where id = :userSessionId::uuid and user_id = :userId::uuid and ${browserSessionIsLive('user_sessions')}
       and exists (select from account)
       for share
  ), consumed as (
    ${consumed}
  ), ${endingCtes(
    `select id from oauth2_sessions
      where user_id = :userId::uuid and device_id = :deviceId::text and ${oauthSessionIsLive('oauth2_sessions')}
        and exists (select from consumed)`,
    ':now::timestamptz',
    `'device_replaced'`,
  )}, opened as (
    insert into oauth2_sessions (
      id, user_id, user_session_id, client_id, scope, claims, resources, device_id, locale, user_agent,
      auth_time, acr, amr, dpop_jkt, refresh_family, created_at
    )
    select :sessionId::uuid, :userId::uuid, :userSessionId::uuid, client_id, scope, claims, resources, :deviceId::text, locale, :userAgent::text,
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
    select :startedEventId::uuid, 'session_started', :userId::uuid, client_id, id, :ip::inet, :userAgent::text, null::jsonb, :now::timestamptz
      from opened
    union all
    select :endedEventId::uuid, 'session_ended', user_id, client_id, id, :ip::inet, :userAgent::text,
           '{"reason": "device_replaced"}'::jsonb, :now::timestamptz
      from (select id, user_id, client_id from ended order by id limit 1) replaced
  )
  select id from opened`;
}

/**
 * Keeps every other redemption for this user waiting at its first step until the transaction ends, so that the
 * statement behind it sees the sessions of all that came before.
 */
const holdUser = statement<{ id: string }, { readonly userId: string }>(
  'hold-user',
  'select id from users where id = :userId::uuid for no key update',
);
