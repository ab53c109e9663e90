import { createHmac } from 'node:crypto';
import type { Limiter } from '#config/sections/rate-limiting.ts';
import type { Client } from '#domain/clients/client.ts';
import { chargeCtes } from '#domain/limits/charge-sql.ts';
import { awaitLimitCheck, secondsPerToken } from '#domain/limits/rate-limits.ts';
import { deviceCodeGrantIsUnused } from '#domain/records/liveness/authorizations.ts';
import { clientWithIdIsCurrent } from '#domain/records/liveness/clients.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { addressKey, addressKeyAsInet } from '#platform/base/ip-address.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newUserCode } from '#protocol/oauth/user-code.ts';
import { sealUserCode } from './device-code-grant.ts';

/** Seconds between two polls of a device; increases if the device polls too often (RFC 8628 3.5). */
export const FIRST_INTERVAL_SECONDS = 5;
/** Limit of unused grants per client address, over all clients (security 3.10, S-179). */
const MAX_WAITING = 100;
/** With a thousand waiting grants, one in ten billion codes is taken. More collisions in a row than this are a bug. */
const MAX_DRAWS = 5;

export interface DeviceCodeGrantDeps {
  readonly database: Queryable;
  readonly keyRing: KeyRing;
  /** `rate_limiting.device_authorization.per_client`. */
  readonly limiter: Limiter;
}

export interface NewDeviceCodeGrant {
  readonly client: Client;
  readonly scope: readonly string[];
  /** Requested resource servers. */
  readonly resources: readonly string[];
  /** IP address of the device. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeSeconds: number;
}

export type DeviceCodes =
  | { readonly ok: true; readonly deviceCode: string; readonly userCode: string }
  | { readonly ok: false; readonly reason: 'client-changed' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/**
 * Stores a pending grant with two new codes: the user code, and the device code of 43 base64url characters, stored only
 * as SHA-256. Uses one statement, which also charges the rate limit, and repeats it if the user code is taken.
 */
export async function createDeviceCodeGrant(
  deps: DeviceCodeGrantDeps,
  grant: NewDeviceCodeGrant,
): Promise<DeviceCodes> {
  const { client, now } = grant;
  for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
    const id = newId<'device-code-grant'>(now);
    const deviceCode = randomBase64Url();
    const userCode = newUserCode();
    const row = await awaitLimitCheck(
      deps.database.first(insertGrant, {
        id: toUuid(id),
        clientId: toUuid(client.id),
        clientVersion: client.version,
        scope: grant.scope,
        resources: grant.resources,
        deviceCodeHash: sha256(deviceCode),
        userCodeHmac: userCodeHmac(deps.keyRing.derive(USER_CODE_KEY), userCode),
        userCodeSealed: sealUserCode(userCode, id, deps.keyRing),
        ip: grant.address ?? null,
        userAgent: grant.userAgent ?? null,
        addressKey: addressKeyAsInet(grant.address),
        intervalSeconds: FIRST_INTERVAL_SECONDS,
        now: new Date(now),
        expiresAt: new Date(now + grant.lifetimeSeconds * 1000),
        limit: MAX_WAITING,
        limitKey: `device_authorization:${client.id}:${addressKey(grant.address)}`,
        burst: deps.limiter.burst,
        seconds: secondsPerToken(deps.limiter),
      }),
    );
    if (row === undefined) throw new Error('the statement that creates a device grant returned no row');
    if (row.is_made) return { ok: true, deviceCode, userCode };
    if (!row.client_is_current) return { ok: false, reason: 'client-changed' };
    if (!row.is_charged) {
      const seconds = row.blocked_seconds ?? row.full_seconds ?? secondsPerToken(deps.limiter);
      return { ok: false, reason: 'rate-limited', retryAfterSeconds: Math.max(1, Math.ceil(seconds)) };
    }
  }
  throw new Error(`no unused user code found in ${MAX_DRAWS} attempts`);
}

const USER_CODE_KEY = 'user-codes';

/**
 * Returns the lookup keys of a code under every root key, current key first, so that codes stay valid after a key
 * rotation.
 */
export function userCodeHmacs(keys: KeyRing, userCode: string): Buffer[] {
  return keys.deriveAll(USER_CODE_KEY).map((key) => userCodeHmac(key, userCode));
}

function userCodeHmac(key: Buffer, userCode: string): Buffer {
  return createHmac('sha256', key).update(userCode).digest();
}

/**
 * Charges the bucket of this client and IP address and stores the grant. Does neither if the bucket is empty, the
 * client has changed, or the address has too many unused grants. Concurrent requests can exceed that last limit
 * slightly, which is harmless. Reads at most `limit` entries of the partial index `oauth2_device_code_grants_unused`.
 * If the user code is taken, its unique index prevents the insert.
 */
const insertGrant = statement<
  {
    readonly client_is_current: boolean;
    readonly is_charged: boolean;
    readonly blocked_seconds: number | null;
    /** Seconds until the oldest unused grant of the address expires. */
    readonly full_seconds: number | null;
    readonly is_made: boolean;
  },
  {
    readonly id: string;
    readonly clientId: string;
    readonly clientVersion: number;
    readonly scope: readonly string[];
    readonly resources: readonly string[];
    readonly deviceCodeHash: Buffer;
    readonly userCodeHmac: Buffer;
    readonly userCodeSealed: Buffer;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly addressKey: string;
    readonly intervalSeconds: number;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly limit: number;
    readonly limitKey: string;
    readonly burst: number;
    readonly seconds: number;
  }
>(
  'insert-device-code-grant',
  `with wanted as materialized (
    select :limitKey::text as key, :burst::float8 as burst, :seconds::float8 as seconds
     where ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')}
       and (
         select count(*) from (
           select from oauth2_device_code_grants unused
            where unused.requester_ip = :addressKey::inet and ${deviceCodeGrantIsUnused('unused', ':now::timestamptz')}
            limit :limit::integer
         ) as of_address
       ) < :limit::integer
  ), ${chargeCtes(':now::timestamptz')}, made as (
    insert into oauth2_device_code_grants (
      id, client_id, scope, resources, device_code_hash, user_code_hmac, user_code_sealed, ip, user_agent,
      requester_ip, interval_seconds, created_at, expires_at
    )
    select :id::uuid, :clientId::uuid, :scope::text[], :resources::text[], :deviceCodeHash::bytea, :userCodeHmac::bytea,
           :userCodeSealed::bytea, :ip::inet, :userAgent::text, :addressKey::inet, :intervalSeconds::integer,
           :now::timestamptz, :expiresAt::timestamptz
      from charged
    on conflict do nothing
    returning id
  )
  select ${clientWithIdIsCurrent(':clientId::uuid', ':clientVersion::integer')} as client_is_current,
         exists (select from charged) as is_charged,
         (select blocked.seconds from blocked) as blocked_seconds,
         case when not exists (select from charged) then (
           select extract(epoch from min(unused.expires_at) - :now::timestamptz)::float8
             from oauth2_device_code_grants unused
            where unused.requester_ip = :addressKey::inet and ${deviceCodeGrantIsUnused('unused', ':now::timestamptz')}
         ) end as full_seconds,
         exists (select from made) as is_made`,
);
