/**
 * Device code grants (RFC 8628), table `oauth2_device_code_grants`; each state change of a row has its own file.
 *
 * pending -> fulfilled (the user confirmed) -> exchanged (the device has its tokens); pending -> rejected; pending or
 * fulfilled -> expired by time.
 *
 * `features/device` contains the pages; `domain/oauth-sessions` opens the session of a grant.
 */
import { fromUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, ClientId, DeviceCodeGrantId } from '#vocabulary/ids.ts';

/** A request of a device, as its page shows it. Times are milliseconds since the epoch. */
export interface DeviceCodeGrant {
  readonly id: DeviceCodeGrantId;
  readonly clientId: ClientId;
  readonly scope: readonly string[];
  /** Requested resource servers. */
  readonly resources: readonly string[];
  /** Without the hyphen. */
  readonly userCode: string;
  /** IP address of the device. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The browser session that confirmed or rejected it. */
  readonly browserSessionId: BrowserSessionId | undefined;
  readonly isFulfilled: boolean;
  readonly isRejected: boolean;
  readonly isExchanged: boolean;
}

export type DeviceCodeGrantState = 'pending' | 'fulfilled' | 'rejected' | 'exchanged' | 'expired';

/** Determines the state. A grant expires only before its exchange; rejected and exchanged are final. */
export function deviceCodeGrantState(
  grant: Pick<DeviceCodeGrant, 'isExchanged' | 'isRejected' | 'isFulfilled' | 'expiresAt'>,
  now: number,
): DeviceCodeGrantState {
  if (grant.isExchanged) return 'exchanged';
  if (grant.isRejected) return 'rejected';
  if (grant.expiresAt <= now) return 'expired';
  return grant.isFulfilled ? 'fulfilled' : 'pending';
}

/** The columns that `deviceCodeGrantColumns` selects. */
export interface DeviceCodeGrantRow {
  readonly grant_id: string;
  readonly grant_client_id: string;
  readonly grant_scope: readonly string[];
  readonly grant_resources: readonly string[];
  readonly grant_user_code_sealed: Buffer;
  readonly grant_ip: string | null;
  readonly grant_user_agent: string | null;
  readonly grant_created_at: number;
  readonly grant_expires_at: number;
  readonly grant_user_session_id: string | null;
  readonly grant_is_fulfilled: boolean;
  readonly grant_is_rejected: boolean;
  readonly grant_is_exchanged: boolean;
}

/**
 * Returns the columns that `toDeviceCodeGrant` reads, for this alias of `oauth2_device_code_grants`; for joined reads.
 */
export function deviceCodeGrantColumns(alias: string): string {
  return `${alias}.id as grant_id,
    ${alias}.client_id as grant_client_id,
    ${alias}.scope as grant_scope,
    ${alias}.resources as grant_resources,
    ${alias}.user_code_sealed as grant_user_code_sealed,
    host(${alias}.ip) as grant_ip,
    ${alias}.user_agent as grant_user_agent,
    ${ms(`${alias}.created_at`)} as grant_created_at,
    ${ms(`${alias}.expires_at`)} as grant_expires_at,
    ${alias}.user_session_id as grant_user_session_id,
    ${alias}.fulfilled_at is not null as grant_is_fulfilled,
    ${alias}.rejected_at is not null as grant_is_rejected,
    ${alias}.exchanged_at is not null as grant_is_exchanged`;
}

/** @throws Error if the user code cannot be decrypted because the operator lost or changed the encryption key */
export function toDeviceCodeGrant(row: DeviceCodeGrantRow, keys: KeyRing): DeviceCodeGrant {
  const id = fromUuid<'device-code-grant'>(row.grant_id);
  return {
    id,
    clientId: fromUuid(row.grant_client_id),
    scope: row.grant_scope,
    resources: row.grant_resources,
    userCode: openUserCode(row.grant_user_code_sealed, id, keys),
    address: row.grant_ip ?? undefined,
    userAgent: row.grant_user_agent ?? undefined,
    createdAt: row.grant_created_at,
    expiresAt: row.grant_expires_at,
    browserSessionId: row.grant_user_session_id === null ? undefined : fromUuid(row.grant_user_session_id),
    isFulfilled: row.grant_is_fulfilled,
    isRejected: row.grant_is_rejected,
    isExchanged: row.grant_is_exchanged,
  };
}

export function sealUserCode(code: string, id: DeviceCodeGrantId, keys: KeyRing): Buffer {
  return keys.seal('column', code, associatedData(id));
}

function openUserCode(sealed: Buffer, id: DeviceCodeGrantId, keys: KeyRing): string {
  const opened = keys.open('column', sealed, associatedData(id));
  if (opened === undefined) throw new Error(`the user code of device grant ${id} cannot be decrypted`);
  return opened.toString();
}

function associatedData(id: DeviceCodeGrantId): string {
  return `oauth2_device_code_grants|user_code|${id}`;
}
