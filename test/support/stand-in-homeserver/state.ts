/** State and error responses of the stand-in homeserver. */
import type { Clock } from '#platform/base/clock.ts';

export interface StandInUser {
  readonly localpart: string;
  /** `sub`, as passed to the legacy API. */
  subject: string | undefined;
  displayName: string | undefined;
  avatarUrl: string | undefined;
  emails: readonly string[];
  isLocked: boolean;
  isDeactivated: boolean;
  isErased: boolean;
  /** Names by device ID. */
  readonly devices: Map<string, string | undefined>;
  /** A device without a session. A device sync keeps it. */
  dehydratedDevice: string | undefined;
  /** The most recently uploaded cross-signing key. */
  masterKey: unknown;
  /** Key IDs of all uploads, which are not device IDs. */
  readonly keyIds: Set<string>;
  /** Another key is accepted until this time, in milliseconds since the epoch. */
  resetAllowedUntil: number;
}

export class ChatError extends Error {
  readonly status: number;
  readonly errcode: string;
  /** Additional response members. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, errcode: string, message: string, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.errcode = errcode;
    this.members = members;
  }
}

export interface StandInState {
  readonly serverName: string;
  secret: string;
  /** Protocol name in the identifiers of the client API. */
  protocolName: string;
  /** Base URL of the authentication service. Without it, no token can be checked. */
  service: string | undefined;
  clock: Clock;
  readonly users: Map<string, StandInUser>;
  /** Names reserved by an application service. */
  exclusive: RegExp | undefined;
  /** A device ID that is not available to users. */
  hiddenDevice: string | undefined;
}

export interface StandInRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
}

export interface StandInResponse {
  readonly status: number;
  readonly body: unknown;
}

export function knownUser({ users }: StandInState, localpart: string): StandInUser {
  const user = users.get(localpart);
  if (user === undefined) throw new ChatError(404, 'M_NOT_FOUND', 'User not found');
  return user;
}

export function addUser({ users }: StandInState, localpart: string): StandInUser {
  const user: StandInUser = {
    localpart,
    subject: undefined,
    displayName: undefined,
    avatarUrl: undefined,
    emails: [],
    isLocked: false,
    isDeactivated: false,
    isErased: false,
    devices: new Map(),
    dehydratedDevice: undefined,
    masterKey: undefined,
    keyIds: new Set(),
    resetAllowedUntil: 0,
  };
  users.set(localpart, user);
  return user;
}

/** Applies Synapse's rules for new usernames. Throws unless the name is available. */
export function checkLocalpart(state: StandInState, localpart: string): void {
  const isWellFormed = /^[a-z0-9._=/+-]+$/.test(localpart) && !localpart.startsWith('_') && !/^\d+$/.test(localpart);
  if (!isWellFormed || `@${localpart}:${state.serverName}`.length > 255) {
    throw new ChatError(400, 'M_INVALID_USERNAME', 'User ID can not be had');
  }
  const names = [...state.users.keys()].map((name) => name.toLowerCase());
  if (names.includes(localpart.toLowerCase())) throw new ChatError(400, 'M_USER_IN_USE', 'User ID already taken.');
  if (state.exclusive?.test(localpart) === true) {
    throw new ChatError(400, 'M_EXCLUSIVE', 'This user ID is reserved by an application service.');
  }
}

const MAX_DEVICE_NAME = 100;
const MAX_DISPLAY_NAME = 256;

export function checkDeviceName(name: string | undefined): void {
  if (name !== undefined && [...name].length > MAX_DEVICE_NAME)
    throw new ChatError(400, 'M_TOO_LARGE', 'Device display name is too long (max 100)');
}

export function checkDisplayName(name: string): void {
  if ([...name].length > MAX_DISPLAY_NAME)
    throw new ChatError(400, 'M_INVALID_PARAM', 'Displayname is too long (max 256)');
}
