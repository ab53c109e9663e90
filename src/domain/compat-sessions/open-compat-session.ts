import { ACCEPTED_ACCOUNT_COLUMNS } from '#domain/accounts/passwords/accepted-password.ts';
import { auditEventIdSql, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type RecordAction, recordedChange } from '#domain/audit/record-admin-action.ts';
import {
  type ClaimDeps,
  type ClaimParams,
  type ClaimRow,
  claimDevice,
  claimSql,
  type Written,
} from '#domain/homeserver/claim-device.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { giveBackLeaseCtes } from '#domain/homeserver/user-lease.ts';
import { endingCtes } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { sendInTurn } from '#domain/oauth-sessions/open-session.ts';
import { familyOfToken } from '#domain/oauth-sessions/refresh-successor.ts';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { type HardSessionRoomParams, type SessionLimit, sessionRoomCtes } from '#domain/records/session-limit.ts';
import { toUser, type User, type UserRow } from '#domain/records/user.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Database, Queryable } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { CompatSessionId } from '#vocabulary/ids.ts';

export interface OpenCompatSessionDeps extends ClaimDeps {
  readonly sessionLimit: SessionLimit;
  /** For clients that can refresh. */
  readonly accessTokenTtlSeconds: number;
}

/** The client installation that signs in. */
export interface ClientDevice {
  /** Undefined: generate one. */
  readonly id: string | undefined;
  /** Name of the new session, unless the session that it replaces has a name. */
  readonly name: string | undefined;
  /** Whether it supports refreshing access tokens. */
  readonly canRefresh: boolean;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

/** Signals whether the caller is still waiting for the session. `RequestContext` implements it. */
export interface Waiting {
  readonly signal: AbortSignal;
  beginWrite(): boolean;
}

export interface OpenedCompatSession {
  readonly id: CompatSessionId;
  readonly user: User;
  readonly deviceId: string;
  readonly accessToken: string;
  /** Undefined: the client cannot refresh. */
  readonly refresh: { readonly token: string; readonly expiresInMs: number } | undefined;
}

export type OpenCompatSessionOutcome =
  | { readonly ok: true; readonly session: OpenedCompatSession }
  /** `lost`: the proof of identity has changed in the meantime. `factor-due`: a further factor is required. */
  | { readonly ok: false; readonly reason: 'deactivated' | 'locked' | 'lost' | 'factor-due' | 'too-many-sessions' };

const GENERATED_DEVICE_ID_LENGTH = 10;

/** The user who signs in, and the statements that open the session if the proof is still valid. */
export interface Proof<Params extends ProofParams> {
  readonly user: Pick<User, 'id' | 'username'>;
  /** Runs before the homeserver is notified. */
  take(params: RoomParams): Promise<RoomRow | undefined>;
  /** Outcome if `take` finds the proof insufficient; default: `lost`. */
  readonly unproven?: 'factor-due';
  readonly statement: Statement<OpenedRow, Params & SessionParams>;
  /** Lifetime of an access token that cannot be refreshed; undefined: the lifetime of its session. */
  readonly lifetimeSeconds?: number | undefined;
  /** Undefined if the user signs in. */
  readonly record?: RecordAction<CompatSessionId>;
  /** @param now milliseconds since the epoch */
  params(now: number): Params;
}

export async function openCompatSession<Params extends ProofParams>(
  deps: OpenCompatSessionDeps,
  proof: Proof<Params>,
  device: ClientDevice,
  waiting: Waiting,
): Promise<OpenCompatSessionOutcome> {
  const id = device.id ?? randomAlphanumeric(GENERATED_DEVICE_ID_LENGTH);
  const { log, sessionLimit } = deps;
  return await claimDevice<RoomRow, OpenCompatSessionOutcome>(deps, {
    user: proof.user,
    device: { id, name: device.name },
    signal: waiting.signal,
    beginWrite: () => waiting.beginWrite(),
    take: (params) => proof.take({ ...params, ...sessionLimit.hardParams(params.now.getTime()) }),
    refuse: (row) => {
      if (row.is_deactivated) return refuse(log, proof.user, 'deactivated');
      if (row.is_locked) return refuse(log, proof.user, 'locked');
      if (!row.is_proven && proof.unproven !== undefined) return refuse(log, proof.user, proof.unproven);
      if (!row.is_proven) return { ok: false, reason: 'lost' };
      return row.is_given ? undefined : refuse(log, proof.user, 'too-many-sessions');
    },
    write: (leaseOwner) => store(deps, proof, { ...device, id, isGiven: device.id !== undefined }, leaseOwner),
  });
}

async function store<Params extends ProofParams>(
  deps: OpenCompatSessionDeps,
  proof: Proof<Params>,
  device: ClientDevice & { readonly id: string; readonly isGiven: boolean },
  leaseOwner: string | null,
): Promise<Written<OpenCompatSessionOutcome>> {
  const now = deps.clock.now();
  const id = newId<'compat-session'>(now);
  const accessToken = newToken('mct');
  const refreshToken = device.canRefresh ? newToken('mcr') : undefined;
  const expiresInMs = deps.accessTokenTtlSeconds * 1000;
  const { lifetimeSeconds = Number.POSITIVE_INFINITY } = proof;
  const lifetimeMs = device.canRefresh ? expiresInMs : lifetimeSeconds * 1000;
  const params = {
    ...proof.params(now),
    leaseOwner,
    sessionId: toUuid(id),
    deviceId: device.id,
    deviceName: device.name ?? null,
    userAgent: device.userAgent ?? null,
    ip: device.address ?? null,
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(accessToken),
    accessTokenExpiresAt: lifetimeMs === Number.POSITIVE_INFINITY ? null : new Date(now + lifetimeMs),
    refreshFamily: refreshToken === undefined ? null : familyOfToken(refreshToken),
    refreshTokenId: toUuid(newId(now)),
    refreshTokenHash: refreshToken === undefined ? null : sha256(refreshToken),
    startedEventId: newAuditEventId(now),
    ...sessionEndParams(deps.homeserver.isConnected),
    ...deps.sessionLimit.hardParams(now),
  };
  const { record } = proof;
  const send = (database: Database) => sendInTurn(database, proof.statement, params, device.isGiven);
  const recordOpened = async (transaction: Queryable, opened: OpenedRow | undefined): Promise<void> => {
    if (opened?.is_opened === true) await record?.(transaction, id);
  };
  const row =
    record === undefined
      ? await send(deps.database)
      : await recordedChange(deps.database, recordOpened, (_, joined) => send(joined));
  if (row === undefined) return { outcome: { ok: false, reason: 'lost' }, lease: 'kept' };
  const user = toUser(row);
  if (row.is_opened) {
    if (row.evicted > 0) {
      const fields = { user: user.id, sessions: row.evicted };
      deps.log.info('session.evicted', 'oldest sessions ended because the session limit was reached', fields);
    }
    const refresh = refreshToken === undefined ? undefined : { token: refreshToken, expiresInMs };
    const session = { id, user, deviceId: device.id, accessToken, refresh };
    return { outcome: { ok: true, session }, lease: 'given-back' };
  }
  if (user.isDeactivated) return { outcome: refuse(deps.log, user, 'deactivated'), lease: 'kept' };
  if (user.isLocked) return { outcome: refuse(deps.log, user, 'locked'), lease: 'kept' };
  if (!row.is_enough) return { outcome: refuse(deps.log, user, 'factor-due'), lease: 'kept' };
  if (!row.is_given) return { outcome: refuse(deps.log, user, 'too-many-sessions'), lease: 'kept' };
  return { outcome: { ok: false, reason: 'lost' }, lease: row.is_fenced ? 'kept' : 'lost' };
}

function refuse(
  log: Log,
  user: Pick<User, 'id'>,
  reason: 'deactivated' | 'locked' | 'factor-due' | 'too-many-sessions',
): OpenCompatSessionOutcome {
  log.info('auth.refused', 'sign-in of a chat client refused', { code: reason.replaceAll('-', '_'), user: user.id });
  return { ok: false, reason };
}

/** The current account, and whether the session was opened. */
export type OpenedRow = UserRow & {
  readonly is_opened: boolean;
  /** Whether the session limit allows the session. */
  readonly is_given: boolean;
  /** Whether no further proof is required. */
  readonly is_enough: boolean;
  /** Whether the lease is still held, or not needed. */
  readonly is_fenced: boolean;
  /** Number of sessions ended to make room. */
  readonly evicted: number;
};

export type RoomRow = ClaimRow & {
  /** Whether the proof is valid, as far as it is checked before the session is written. */
  readonly is_proven: boolean;
  /** Whether the session limit allows another session. */
  readonly is_given: boolean;
};

export type RoomParams = ClaimParams & HardSessionRoomParams;

/** Parameters of every proof. */
export interface ProofParams {
  readonly userId: string;
  readonly now: Date;
}

export type SessionParams = HardSessionRoomParams &
  SessionEndParams & {
    /** Null: no lease needed. */
    readonly leaseOwner: string | null;
    readonly sessionId: string;
    readonly deviceId: string;
    readonly deviceName: string | null;
    readonly userAgent: string | null;
    readonly ip: string | null;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly accessTokenExpiresAt: Date | null;
    readonly refreshFamily: Buffer | null;
    readonly refreshTokenId: string;
    /** Null: issue no refresh token. */
    readonly refreshTokenHash: Buffer | null;
    readonly startedEventId: string;
  };

/**
 * `evictable`: the sessions to end to make room. `space`: whether there is room then. Both are counted at the start of
 * the statement.
 */
const SPACE_CTES = `${sessionRoomCtes(':userId::uuid', ':deviceId::text', ':now::timestamptz')},
  evictable as materialized (
    select least_used.id
      from counted, room, lateral (
        select c.id from compat_sessions c
         where c.user_id = :userId::uuid and ${compatSessionIsLive('c')}
         order by c.last_active_at nulls first, c.created_at, c.id
         limit counted.open - :sessionLimit::integer + 1
      ) least_used
     where :isEvicting::boolean and not room.is_left
  ), space as materialized (
    select room.is_left
           or (:isEvicting::boolean and (select count(*) from evictable) = counted.open - :sessionLimit::integer + 1)
             as is_given
      from counted, room
  )`;

/**
 * Returns the statement that takes the lease. @param isProven expression for the part of the proof checked before the
 * session is written
 */
export function claimSpaceSql(isVerified: string): string {
  return claimSql({ ctes: SPACE_CTES, columns: `space.is_given, ${isVerified} as is_proven`, from: 'space' });
}

/** For users who have already proven that they may sign in. */
export const claimSpace = statement<RoomRow, RoomParams>('claim-device-for-chat-client', claimSpaceSql('true'));

export interface SessionSql {
  /** Expression of the browser session of the sign-in. */
  readonly browserSession?: string;
  /** Parameter; without it, the session cannot administer the homeserver. */
  readonly isAdmin?: string;
  /** Additional CTE that uses `opened`. */
  readonly more?: string;
  /** Condition: no further proof is required. */
  readonly isEnough?: string;
}

const DEVICE_OF_USER = 'user_id = :userId::uuid and device_id = :deviceId::text';

/**
 * Ends all other sessions of the same device (of either kind), makes room if the operator enabled that, and stores
 * session and tokens. If a condition fails, it changes nothing. Locks in the order users, leases, OAuth sessions,
 * compat sessions, tokens.
 *
 * @param proof CTEs `account` (columns of `userColumns`; empty if the proof is no longer valid) and `proven(user_id)`,
 * the account unless it is locked or deactivated
 */
export function openCompatSessionSql(proof: string, session: SessionSql = {}): string {
  const { browserSession = 'null::uuid', isAdmin = 'false', more = '', isEnough = 'true' } = session;
  return `with recursive ${proof},
  ${SPACE_CTES}, spacious as materialized (
    select proven.user_id from proven, space where space.is_given and ${isEnough}
  ), ${giveBackLeaseCtes(':userId::uuid', 'spacious')}, admitted as materialized (
    select spacious.user_id from spacious where exists (select from fenced)
  ), ${endingCtes(
    `select id from oauth2_sessions
      where ${DEVICE_OF_USER} and ${oauthSessionIsLive('oauth2_sessions')} and exists (select from admitted)`,
    ':now::timestamptz',
    `'device_replaced'`,
    {
      compat: {
        roots: `select id from compat_sessions
         where ${DEVICE_OF_USER} and ${compatSessionIsLive('compat_sessions')} and exists (select from admitted)
        union all
        select id from evictable where exists (select from admitted)`,
        reason: `case when device_id = :deviceId::text then 'device_replaced' else 'evicted' end`,
      },
    },
  )}, replaced as materialized (
    select id, human_name, client_id from ended join oauth2_sessions using (id, client_id)
     where oauth2_sessions.device_id = :deviceId::text
    union all
    select id, human_name, null from compat_ended where finish_reason = 'device_replaced'
  ), opened as (
    insert into compat_sessions (
      id, user_id, user_session_id, is_homeserver_admin, device_id, human_name, user_agent, refresh_family, created_at,
      last_active_at, last_active_ip
    )
    select :sessionId::uuid, user_id, ${browserSession}, ${isAdmin}, :deviceId::text,
           coalesce((select human_name from replaced order by id desc limit 1), :deviceName::text),
           :userAgent::text, :refreshFamily::bytea, :now::timestamptz, :now::timestamptz, :ip::inet
      from admitted
     -- the count makes the older session of the device end before the unique index is asked
     where (select count(*) from compat_ended) >= 0
    returning id, user_id
  ), ${more}issued_access as (
    insert into compat_access_tokens (id, session_id, token_hash, created_at, expires_at)
    select :accessTokenId::uuid, id, :accessTokenHash::bytea, :now::timestamptz, :accessTokenExpiresAt::timestamptz
      from opened
    returning id, session_id
  ), issued_refresh as (
    insert into compat_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
    select :refreshTokenId::uuid, session_id, :refreshTokenHash::bytea, id, :now::timestamptz
      from issued_access
     where :refreshTokenHash::bytea is not null
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :startedEventId::uuid, 'session_started', user_id, null::uuid, id, :ip::inet, :userAgent::text, null::jsonb,
           :now::timestamptz
      from opened
    union all
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', :userId::uuid, client_id, id, :ip::inet,
           :userAgent::text, '{"reason": "device_replaced"}'::jsonb, :now::timestamptz
      from replaced
    union all
    select ${auditEventIdSql(':now::timestamptz')}, 'session_ended', user_id, null::uuid, id, :ip::inet,
           :userAgent::text, '{"reason": "evicted"}'::jsonb, :now::timestamptz
      from compat_ended where finish_reason = 'evicted'
  )
  select ${ACCEPTED_ACCOUNT_COLUMNS},
    exists (select from opened) as is_opened,
    space.is_given,
    ${isEnough} as is_enough,
    exists (select from fenced) as is_fenced,
    (select count(*) from compat_ended where finish_reason = 'evicted')::integer as evicted
  from account, space`;
}
