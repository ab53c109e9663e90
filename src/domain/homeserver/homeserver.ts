/**
 * The chat server that the accounts are for (chat-compat 11). It delegates authentication to this service, and is told
 * whom there is: by the jobs of this module, which owns `homeserver_leases`. What a call comes to is a value; whether
 * it is tried again is decided by who calls.
 */

/** For whom a call is made, which decides how long it may take. */
export type CallContext =
  /**
   * Somebody waits. `request`: for the outcome. `page`: only for a detail of a page. `account`: for what a page is about.
   * `admin`: an administrator, for work that takes the homeserver longer.
   */
  | { readonly kind: 'request' | 'page' | 'account' | 'admin' }
  /** `signal` ends the call with the job. */
  | { readonly kind: 'job'; readonly signal: AbortSignal };

export interface HomeserverFailure {
  readonly ok: false;
  /**
   * `unavailable`: no answer, or one that says that it cannot now; the same call may succeed later.
   * `unknown-user`: it does not know that person. `refused`: repeating the call would not help.
   */
  readonly reason: 'unavailable' | 'unknown-user' | 'refused';
  /** Status and error code, or why there is no answer. For the log, never for a person. */
  readonly detail: string;
  readonly errcode?: string | undefined;
  /** It took longer than it may. */
  readonly isTimeout?: boolean;
  /** It asks not to be asked sooner. */
  readonly retryAfterSeconds?: number | undefined;
  /** Another secret is set there, or the interface is off: waiting does not help until an operator has mended that. */
  readonly needsOperator?: boolean;
}

export type HomeserverResult<Value> = { readonly ok: true; readonly value: Value } | HomeserverFailure;

/** What the homeserver knows of a person. */
export interface HomeserverUser {
  readonly displayName: string | undefined;
  /** As the chat protocol names files: `mxc://`. */
  readonly avatarUrl: string | undefined;
  readonly isDeactivated: boolean;
}

/** What the homeserver is told of a person. */
export interface Profile {
  readonly localpart: string;
  /** `sub` of the account. */
  readonly subject: string;
  /** Undefined: it stays as it is. */
  readonly displayName: string | undefined;
  /** As `displayName`. */
  readonly avatarUrl?: string | undefined;
  /** All confirmed addresses. */
  readonly emails: readonly string[];
  readonly isLocked: boolean;
}

/** What the homeserver is told of the installation of a client. */
export interface Device {
  readonly id: string;
  /** Undefined: it keeps the name that it has there. */
  readonly name: string | undefined;
}

export interface NamedDevice extends Device {
  /** At most 100 characters. */
  readonly name: string;
}

export interface Homeserver {
  /** False: there is none. Every valid name is free, and nothing is to be told. */
  readonly isConnected: boolean;
  isLocalpartAvailable(localpart: string, context: CallContext): Promise<HomeserverResult<boolean>>;
  queryUser(localpart: string, context: CallContext): Promise<HomeserverResult<HomeserverUser>>;
  /** Creates the person there, or brings what is known of them up to date. */
  provisionUser(profile: Profile, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Deactivates the person. @param isErased what they wrote is hidden from others as well */
  deleteUser(localpart: string, isErased: boolean, context: CallContext): Promise<HomeserverResult<unknown>>;
  reactivateUser(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** @param displayName at most 256 characters; undefined: the person has none any more */
  setDisplayName(
    localpart: string,
    displayName: string | undefined,
    context: CallContext,
  ): Promise<HomeserverResult<unknown>>;
  /**
   * For ten minutes it takes other cross-signing keys of the person than those that it has. Refused where there is no
   * homeserver.
   */
  allowCrossSigningReset(localpart: string, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Renames the device there; `unknown-user` where it knows the device as little as a person that it does not know. */
  renameDevice(localpart: string, device: NamedDevice, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Creates the device there, or renames it. */
  upsertDevice(localpart: string, device: Device, context: CallContext): Promise<HomeserverResult<unknown>>;
  /** Has the person have exactly these devices: others are deleted, with their keys. */
  syncDevices(localpart: string, ids: readonly string[], context: CallContext): Promise<HomeserverResult<unknown>>;
}
