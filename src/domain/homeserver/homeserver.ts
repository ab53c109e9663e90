/**
 * The Matrix homeserver that the accounts are for (chat-compat 11). It delegates authentication to this server, and the
 * jobs of this module keep it up to date about users. This module owns `homeserver_leases`. Calls return their outcome
 * as a value, and callers decide whether to retry.
 */

/** Who waits for a call, which determines its timeout. */
export type CallContext =
  /**
   * A user waits. `request`: for the outcome. `page`: only for a detail of a page. `account`: for the subject of a
   * page. `admin`: an administrator, for work that takes the homeserver longer.
   */
  | { readonly kind: 'request' | 'page' | 'account' | 'admin' }
  /** `signal` aborts the call together with the job. */
  | { readonly kind: 'job'; readonly signal: AbortSignal };

export interface HomeserverFailure {
  readonly ok: false;
  /**
   * `unavailable`: the call got no response or a temporary failure, so the same call may succeed later. `unknown-user`:
   * the homeserver does not know the user. `refused`: a retry would not help.
   */
  readonly reason: 'unavailable' | 'unknown-user' | 'refused';
  /** Status and error code, or why the call got no response. For the log only, never shown to users. */
  readonly detail: string;
  readonly errcode?: string | undefined;
  /** The call timed out. */
  readonly isTimeout?: boolean;
  /** The homeserver asks clients to wait this long. */
  readonly retryAfterSeconds?: number | undefined;
  /** The secrets differ or the API is off. Retries fail until an operator has fixed that. */
  readonly needsOperator?: boolean;
}

export type HomeserverResult<Value> = { readonly ok: true; readonly value: Value } | HomeserverFailure;

/** A user as the homeserver knows them. */
export interface HomeserverUser {
  readonly displayName: string | undefined;
  /** An `mxc://` URI. */
  readonly avatarUrl: string | undefined;
  readonly isDeactivated: boolean;
}

/** User data that the homeserver receives. */
export interface Profile {
  readonly localpart: string;
  /** `sub` of the account. */
  readonly subject: string;
  /** Undefined to leave it unchanged. */
  readonly displayName: string | undefined;
  /** As `displayName`. */
  readonly avatarUrl?: string | undefined;
  /** All confirmed addresses. */
  readonly emails: readonly string[];
  readonly isLocked: boolean;
}

export interface Provisioned {
  /** The call has created the user. */
  readonly isNew: boolean;
}

/** An installation of a client, as the homeserver receives it. */
export interface Device {
  readonly id: string;
  /** Undefined to leave the name at the homeserver unchanged. */
  readonly name: string | undefined;
}

export interface NamedDevice extends Device {
  /** At most 100 characters. */
  readonly name: string;
}

export interface Homeserver {
  /** False without a homeserver. Every valid name is then available, and updates do nothing. */
  readonly isConnected: boolean;
  /** Whether a user who registers here is created there: false without a homeserver and for dry runs. */
  readonly createsUsers: boolean;
  isLocalpartAvailable(localpart: string, context: CallContext): Promise<HomeserverResult<boolean>>;
  queryUser(localpart: string, context: CallContext): Promise<HomeserverResult<HomeserverUser>>;
  /** Creates or updates the user. */
  provisionUser(profile: Profile, context: CallContext): Promise<HomeserverResult<Provisioned>>;
  /**
   * Deactivates the user.
   * @param isErased whether the user's messages are hidden from others as well
   */
  deleteUser(localpart: string, isErased: boolean, context: CallContext): Promise<HomeserverResult<unknown>>;
  reactivateUser(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** @param displayName at most 256 characters; undefined to remove it */
  setDisplayName(
    localpart: string,
    displayName: string | undefined,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>>;
  /** Allows the user to replace their cross-signing keys for ten minutes. Refused without a homeserver. */
  allowCrossSigningReset(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Renames the device. Returns `unknown-user` if the homeserver does not know the device or the user. */
  renameDevice(localpart: string, device: NamedDevice, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Creates or renames the device. */
  upsertDevice(localpart: string, device: Device, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Deletes these devices together with their keys. Unknown devices are skipped. */
  deleteDevices(localpart: string, ids: readonly string[], context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Makes these the user's only devices. Other devices are deleted together with their keys. */
  syncDevices(localpart: string, ids: readonly string[], context: CallContext): Promise<HomeserverResult<unknown>>;
}
