import { newAuditEventId } from '#domain/audit/audit-event.ts';
import type { Client } from '#domain/clients/client.ts';
import { fromUuid, newId, type OAuth2SessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { isUniqueViolation } from '#platform/postgres/failures.ts';
import { newToken, parseToken } from '#protocol/oauth/token-format.ts';
import { refreshFamily } from './refresh-successor.ts';
import { type CodeRow, readCode } from './statements/read-code.ts';
import { holdUser, type RedeemCodeParams, redeemCode } from './statements/redeem-code.ts';
import { accessTokenExpiry, type TokenSettings } from './token-settings.ts';

/** A code that passed its checks, with everything that its redemption will store; nothing is written yet. */
export interface CodeRedemption {
  readonly row: CodeRow;
  readonly sessionId: OAuth2SessionId;
  readonly userId: UserId;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
  /** Undefined: the client does not use refresh tokens. */
  readonly refreshToken: string | undefined;
  readonly resources: readonly string[];
  readonly now: number;
}

/** The grant behind a code; undefined when there is none. One statement. */
export async function findCode(database: Queryable, client: Client, code: string): Promise<CodeRow | undefined> {
  return await database.first(readCode, {
    codeHash: sha256(code),
    clientId: toUuid(client.id),
    clientVersion: client.version,
  });
}

/** Draws the session and tokens that a judged code will lead to. */
export function prepareRedemption(
  row: CodeRow,
  client: Client,
  resources: readonly string[],
  settings: TokenSettings,
  now: number,
): CodeRedemption {
  return {
    row,
    sessionId: newId(now),
    userId: fromUuid(row.user_id),
    accessToken: newToken('mat'),
    accessTokenExpiresAt: accessTokenExpiry(settings, now, now),
    refreshToken: client.grantTypes.includes('refresh_token') ? newToken('mar') : undefined,
    resources: resources.length === 0 ? row.resources : resources,
    now,
  };
}

/** From where the code is redeemed. */
export interface RedeemingDevice {
  /** The device that the granted scope names. */
  readonly id: string | undefined;
  readonly userAgent: string | undefined;
  readonly address: string | undefined;
}

/**
 * Redeems the code: session and tokens are stored and the grant is consumed, or nothing changes. One statement, unless
 * another session of the same user and device was opened in the same instant: then once more with the user held, so
 * that however many sign in at once, each comes to its turn.
 *
 * @returns false when another request was faster, or the user, the browser session or the client is gone by now
 */
export async function redeemAuthorizationCode(
  database: Database,
  redemption: CodeRedemption,
  client: Client,
  settings: TokenSettings,
  device: RedeemingDevice,
): Promise<boolean> {
  const params = redeemParams(redemption, client, settings, device);
  try {
    return (await database.first(redeemCode, params)) !== undefined;
  } catch (error) {
    if (!isUniqueViolation(error, 'oauth2_sessions_live_device')) throw error;
  }
  return await database.transaction(
    async (transaction) => {
      await transaction.first(holdUser, { userId: redemption.row.user_id });
      return (await transaction.first(redeemCode, params)) !== undefined;
    },
    { isRepeatable: true },
  );
}

function redeemParams(
  redemption: CodeRedemption,
  client: Client,
  settings: TokenSettings,
  device: RedeemingDevice,
): RedeemCodeParams {
  const { row, now, refreshToken } = redemption;
  const refreshText = refreshToken === undefined ? undefined : parseToken(refreshToken);
  return {
    grantId: row.grant_id,
    userId: row.user_id,
    userSessionId: row.user_session_id,
    clientVersion: client.version,
    oldest: new Date(now - settings.authorizationCodeTtlSeconds * 1000),
    now: new Date(now),
    sessionId: toUuid(redemption.sessionId),
    deviceId: device.id ?? null,
    userAgent: device.userAgent ?? null,
    refreshFamily: refreshText === undefined ? null : refreshFamily(refreshText.random),
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(redemption.accessToken),
    accessTokenExpiresAt: new Date(redemption.accessTokenExpiresAt),
    resources: redemption.resources,
    refreshTokenId: toUuid(newId(now)),
    refreshTokenHash: refreshToken === undefined ? null : sha256(refreshToken),
    startedEventId: newAuditEventId(now),
    endedEventId: newAuditEventId(now),
    ip: device.address ?? null,
  };
}
