/**
 * How many sessions a person may have (chat-compat 10.5): consent pages ask to end some first, and no grant is redeemed
 * beyond the limit. A sign-in that takes the place of the same device's older session is always let through.
 */
import { compatSessionIsLive } from '#domain/compat-sessions/liveness.ts';
import { personalSessionIsOpen } from '#domain/personal-sessions/liveness.ts';
import { accessTokenIsLive, oauthSessionIsLive } from './liveness.ts';

/** `experimental.session_limit`. */
export interface SessionLimitSettings {
  /** For those that a person can be asked about; undefined: no limit. */
  readonly softLimit: number | undefined;
  /** For chat clients that have nobody to ask; undefined: no limit. */
  readonly hardLimit: number | undefined;
  /** Who has more sessions than this is not limited; undefined: everybody is. */
  readonly maxSessionThreshold: number | undefined;
  /** At the hard limit sessions of chat clients end, in place of a refusal. */
  readonly evictsAtHardLimit: boolean;
}

/** Sessions of a person that applications can still use. */
export interface OpenSessions {
  readonly count: number;
  readonly deviceIds: readonly string[];
}

/** What `openSessionsColumns` selects. */
export interface OpenSessionsRow {
  readonly open_sessions: number | null;
  readonly open_devices: readonly string[] | null;
}

export class SessionLimit {
  readonly #settings: SessionLimitSettings | undefined;
  readonly #maxLifetimeSeconds: number | undefined;

  /** @param maxLifetimeSeconds after which sessions end by themselves */
  constructor(settings: SessionLimitSettings | undefined, maxLifetimeSeconds: number | undefined) {
    this.#settings = settings;
    this.#maxLifetimeSeconds = maxLifetimeSeconds;
  }

  /** Whether sessions are counted before a person is asked. */
  get isCounting(): boolean {
    return this.#settings?.softLimit !== undefined;
  }

  /** Sessions opened after this count; null: nothing is counted, as there is no soft limit. */
  countedSince(now: number): Date | null {
    return this.#countedSince(this.#settings?.softLimit, now);
  }

  /** How many sessions have to end before another one may begin; 0: it may. @param deviceId of that one */
  excess({ count, deviceIds }: OpenSessions, deviceId: string | undefined): number {
    const { softLimit, maxSessionThreshold = Number.POSITIVE_INFINITY } = this.#settings ?? {};
    if (softLimit === undefined || (deviceId !== undefined && deviceIds.includes(deviceId))) return 0;
    return count > maxSessionThreshold ? 0 : Math.max(0, count - softLimit + 1);
  }

  /** For the statement that opens a session; see `sessionRoomCtes`. */
  params(now: number): SessionRoomParams {
    return this.#params(this.#settings?.softLimit, now);
  }

  /** The same for a client that cannot ask the person. */
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
 * A join that counts the sessions of a user, for statements that select `openSessionsColumns`. Indexes
 * `oauth2_sessions_user` and `compat_sessions_user`; nothing is read while there is no limit.
 * @param user expression of the user's id; @param since parameter of `countedSince`, a `timestamptz`
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
 * CTEs `counted` and `room`: one row that says whether the limit lets this user open a session for this device. Counted
 * as of the beginning of the statement, so the user has to be held before it.
 * @param user parameter of the user's id, @param device of the device's
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
 * The devices of sessions that count. A session without refresh tokens is over with its only access token, although
 * nobody ended it. One that began with the token of another is no sign-in of the person, and does not count.
 */
function countedSessions(user: string, since: string, now: string): string {
  return `select s.device_id from oauth2_sessions s
        where ${since} is not null and s.user_id = ${user} and ${oauthSessionIsLive('s')}
          and s.created_at > ${since} and s.parent_session_id is null
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
