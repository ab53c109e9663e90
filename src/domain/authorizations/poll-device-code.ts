import type { Client } from '#domain/clients/client.ts';
import { deviceCodeGrantIsPending } from '#domain/records/liveness/authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import {
  type ApprovedGrantRow,
  approvedGrantColumns,
  type PresentedGrantRow,
  type RedemptionRefusal,
  type RedemptionRequest,
  type RedemptionRules,
  redemptionRefusal,
} from './approved-grant.ts';
import { deviceCodeGrantState } from './device-code-grant.ts';

/** Increment and maximum of the interval when a device polls too early (RFC 8628 3.5). */
const SLOW_DOWN_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 60;
/** Allowance for imprecise timers and networks. */
const TOLERANCE_SECONDS = 1;

interface PolledGrantRow extends PresentedGrantRow {
  /** Whether the device polled before the interval had passed. */
  readonly is_early: boolean;
  readonly expires_at: number;
  readonly is_fulfilled: boolean;
  readonly is_rejected: boolean;
  readonly is_exchanged: boolean;
}

/** The grant of a device code after the user's decision. */
export type DecidedDeviceCodeRow = PolledGrantRow & ApprovedGrantRow;

/** Without a user before the decision. */
export type DeviceCodeRow = DecidedDeviceCodeRow | (PolledGrantRow & { readonly user_id: null });

/**
 * Returns the grant of a device code; undefined if it does not exist. Uses one statement. While the grant is pending,
 * it also records the time of the poll and increases the interval if the device polls too early.
 */
export async function pollDeviceCode(
  database: Queryable,
  client: Client,
  deviceCode: string,
  now: number,
): Promise<DeviceCodeRow | undefined> {
  return await database.first(poll, {
    deviceCodeHash: sha256(deviceCode),
    clientId: toUuid(client.id),
    clientVersion: client.version,
    now: new Date(now),
    tolerance: TOLERANCE_SECONDS,
    growth: SLOW_DOWN_SECONDS,
    maximum: MAX_INTERVAL_SECONDS,
  });
}

export type DeviceCodeRefusal =
  | RedemptionRefusal
  | 'unknown'
  | 'other-client'
  | 'exchanged'
  | 'rejected'
  | 'expired'
  | 'pending'
  | 'too-early';

export type DeviceCodeVerdict =
  | { readonly ok: true; readonly row: DecidedDeviceCodeRow }
  | { readonly ok: false; readonly reason: DeviceCodeRefusal };

/** Makes the checks of oauth 10.4 without writing anything. */
export function judgeDeviceCode(
  row: DeviceCodeRow | undefined,
  request: RedemptionRequest,
  rules: RedemptionRules<DecidedDeviceCodeRow>,
  now: number,
): DeviceCodeVerdict {
  if (row === undefined) return refuse('unknown');
  if (!row.is_own_client) return refuse('other-client');
  const { is_exchanged: isExchanged, is_rejected: isRejected, is_fulfilled: isFulfilled, expires_at: expiresAt } = row;
  const state = deviceCodeGrantState({ isExchanged, isRejected, isFulfilled, expiresAt }, now);
  if (state === 'pending') return refuse(row.is_early ? 'too-early' : 'pending');
  if (state !== 'fulfilled') return refuse(state);
  if (row.user_id === null) return refuse('sign-in-gone');
  const refusal = redemptionRefusal(row, request, rules);
  return refusal === undefined ? { ok: true, row } : refuse(refusal);
}

function refuse(reason: DeviceCodeRefusal): DeviceCodeVerdict {
  return { ok: false, reason };
}

/**
 * Uses the unique index on `device_code_hash`, then those of `approvedGrantColumns`. The row is locked before it
 * is read, so that each of several concurrent polls sees the time of the previous one.
 */
const poll = statement<
  DeviceCodeRow,
  {
    readonly deviceCodeHash: Buffer;
    readonly clientId: string;
    readonly clientVersion: number;
    readonly now: Date;
    /** In seconds, like the others. */
    readonly tolerance: number;
    readonly growth: number;
    readonly maximum: number;
  }
>(
  'poll-device-code',
  `with seen as materialized (
    select id, client_id, scope, resources, user_session_id, auth_time, acr, amr, locale, interval_seconds, expires_at,
           fulfilled_at, rejected_at, exchanged_at,
           coalesce(polled_at > :now::timestamptz - make_interval(secs => interval_seconds - :tolerance::integer), false)
             as is_early
      from oauth2_device_code_grants
     where device_code_hash = :deviceCodeHash::bytea
       for no key update
  ), recorded as (
    update oauth2_device_code_grants g
       set polled_at = :now::timestamptz,
           interval_seconds = case when seen.is_early
             then least(seen.interval_seconds + :growth::integer, :maximum::integer) else seen.interval_seconds end
      from seen
     where g.id = seen.id and seen.client_id = :clientId::uuid and ${deviceCodeGrantIsPending('g', ':now::timestamptz')}
  )
  select ${approvedGrantColumns('null::jsonb')},
         g.is_early,
         ${ms('g.expires_at')} as expires_at,
         g.fulfilled_at is not null as is_fulfilled,
         g.rejected_at is not null as is_rejected,
         g.exchanged_at is not null as is_exchanged
    from seen g
    left join user_sessions us on us.id = g.user_session_id
    left join users u on u.id = us.user_id`,
);
