/**
 * Limits the number of sessions per user (chat-compat 10.5). Consent pages ask the user to end some sessions first, and
 * no grant is redeemed beyond the limit. A sign-in that replaces the same device's older session is always allowed.
 */
import { clientIsApplication } from './liveness/clients.ts';
import { compatSessionIsLive } from './liveness/compat-sessions.ts';
import { accessTokenIsLive, oauthSessionIsLive } from './liveness/oauth-sessions.ts';
import { personalSessionIsOpen } from './liveness/personal-sessions.ts';

/** `experimental.session_limit`. */
export interface SessionLimitSettings {
  /** Limit for sign-ins with a consent page; undefined: none. */
  readonly softLimit: number | undefined;
  /** Limit for chat clients that cannot ask the user; undefined: none. */
  readonly hardLimit: number | undefined;
  /** Users with more sessions than this are exempt; undefined: no exemption. */
  readonly maxSessionThreshold: number | undefined;
  /** Whether chat client sessions are ended at the hard limit instead of rejecting the sign-in. */
  readonly evictsAtHardLimit: boolean;
}

/** Sessions of a user that applications can still use. */
export interface OpenSessions {
  readonly count: number;
  readonly deviceIds: readonly string[];
}

/** The columns that `openSessionsColumns` selects. */
export interface OpenSessionsRow {
  readonly open_sessions: number | null;
  readonly open_devices: readonly string[] | null;
}

export class SessionLimit {
  readonly #settings: SessionLimitSettings | undefined;
  readonly #maxLifetimeSeconds: number | undefined;

  /** @param maxLifetimeSeconds maximum lifetime of sessions */
  constructor(settings: SessionLimitSettings | undefined, maxLifetimeSeconds: number | undefined) {
    this.#settings = settings;
    this.#maxLifetimeSeconds = maxLifetimeSeconds;
  }

  /** Whether sessions are counted before the consent page is shown. */
  get isCounting(): boolean {
    return this.#settings?.softLimit !== undefined;
  }

  /** Returns the earliest start of counted sessions; null: no soft limit, nothing is counted. */
  countedSince(now: number): Date | null {
    return this.#countedSince(this.#settings?.softLimit, now);
  }

  /**
   * Returns how many sessions must end before another one may start; 0 if it may. @param deviceId device of the new
   * session
   */
  excess({ count, deviceIds }: OpenSessions, deviceId: string | undefined): number {
    const { softLimit, maxSessionThreshold = Number.POSITIVE_INFINITY } = this.#settings ?? {};
    if (softLimit === undefined || (deviceId !== undefined && deviceIds.includes(deviceId))) return 0;
    return count > maxSessionThreshold ? 0 : Math.max(0, count - softLimit + 1);
  }

  /** Returns parameters for the statement that opens a session; see `sessionRoomCtes`. */
  params(now: number): SessionRoomParams {
    return this.#params(this.#settings?.softLimit, now);
  }

  /** Like `params`, for a client that cannot ask the user. */
  hardParams(now: number): HardSessionRoomParams {
    return {
      ...this.#params(this.#settings?.hardLimit, now),
      isEvicting: this.#settings?.evictsAtHardLimit ?? false,
    };
  }

  #params(limit: number | undefined, now: number): SessionRoomParams {
    return {
      countedSince: this.#countedSince(limit, now),
      sessionLimit: limit ?? null,
      maxSessionThreshold: this.#settings?.maxSessionThreshold ?? null,
    };
  }

  #countedSince(limit: number | undefined, now: number): Date | null {
    if (limit === undefined) return null;
    return new Date(this.#maxLifetimeSeconds === undefined ? 0 : now - this.#maxLifetimeSeconds * 1000);
  }
}

export function toOpenSessions(row: Partial<OpenSessionsRow> | undefined): OpenSessions {
  return { count: row?.open_sessions ?? 0, deviceIds: row?.open_devices ?? [] };
}

export const openSessionsColumns = 'counted.open_sessions, counted.open_devices';

/**
 * Returns a join that counts the sessions of a user, for statements that select `openSessionsColumns`. Uses the indexes
 * `oauth2_sessions_user` and `compat_sessions_user`. Reads nothing if there is no limit.
 * @param user expression of the user ID; @param since parameter of `countedSince`, a `timestamptz`
 * @param now parameter with the time, a `timestamptz`
 */
export function openSessionsJoin(user: string, since: string, now: string): string {
  return `left join lateral (
       select count(*)::integer as open_sessions,
              array_agg(open.device_id) filter (where open.device_id is not null) as open_devices
         from (${countedSessions(user, since, now)}) open
     ) counted on true`;
}

export type SessionRoomParams = {
  readonly countedSince: Date | null;
  /** Null: no limit. */
  readonly sessionLimit: number | null;
  readonly maxSessionThreshold: number | null;
};

export type HardSessionRoomParams = SessionRoomParams & { readonly isEvicting: boolean };

/**
 * Returns the CTEs `counted` and `room`: one row with the decision whether the limit allows this user a session for
 * this device. Sessions are counted at the start of the statement, so the user must be locked before.
 * @param user parameter of the user ID, @param device parameter of the device ID
 */
export function sessionRoomCtes(user: string, device: string, now: string): string {
  return `counted as materialized (
    select count(*) as open, coalesce(bool_or(open.device_id = ${device}), false) as replaces
      from (${countedSessions(user, ':countedSince::timestamptz', now)}) open
  ), room as materialized (
    select :sessionLimit::integer is null or replaces or open < :sessionLimit::integer
           or coalesce(open > :maxSessionThreshold::integer, false) as is_left
      from counted
  )`;
}

/**
 * Returns a query for the devices of counted sessions. A session without refresh tokens is over when its only access
 * token expires, even though it was not ended. Sessions started by token exchange and sessions of the admin area are not
 * sign-ins and do not count.
 */
function countedSessions(user: string, since: string, now: string): string {
  return `select s.device_id from oauth2_sessions s
        where ${since} is not null and s.user_id = ${user} and ${oauthSessionIsLive('s')}
          and s.created_at > ${since} and s.parent_session_id is null and ${clientIsApplication('s.client_id')}
          and (s.refresh_family is not null or exists (
            select from oauth2_access_tokens a where a.session_id = s.id and ${accessTokenIsLive('a', now)}
          ))
        union all
        select c.device_id from compat_sessions c
        where ${since} is not null and c.user_id = ${user} and ${compatSessionIsLive('c')}
        union all
        select p.device_id from personal_sessions p
        where ${since} is not null and p.actor_user_id = ${user} and p.owner_user_id = ${user}
          and ${personalSessionIsOpen('p', now)}`;
}
