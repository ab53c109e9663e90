/**
 * A sign-in on a device. The homeserver must know the device before the session exists, because it rejects tokens of
 * unknown devices (chat-compat 5.5, 10.4). Nothing is written before it has responded, and no transaction is open
 * during the call. The user's lease prevents a sync that read the sessions earlier from deleting the device.
 *
 * The caller writes the session.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { compatSessionIsLive } from '#domain/records/liveness/compat-sessions.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { outside } from '#platform/base/tasks.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { Device, Homeserver, HomeserverFailure } from './homeserver.ts';
import { provisionIfUnknown } from './provision-if-unknown.ts';
import { type HeldLease, TAKE_LEASE_CTES, type TakeLeaseParams, takeUserLease } from './user-lease.ts';

const MAX_WAIT_MS = 5_000;
/** Random pauses, so that two waiting sign-ins rarely retry at the same time. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 120;
const RETRY_AFTER_SECONDS = 5;

const REQUEST = { kind: 'request' } as const;

export interface ClaimDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly homeserver: Homeserver;
}

/** The row that every `claimSql` statement returns. There is none while the lease is taken. */
export interface ClaimRow {
  readonly is_locked: boolean;
  readonly is_deactivated: boolean;
  /** A live session of the user, of any kind, has the device. */
  readonly device_is_known: boolean;
}

export type ClaimParams = TakeLeaseParams & { readonly deviceId: string };

/** The result of the writing statement. */
export interface Written<Outcome> {
  readonly outcome: Outcome;
  /**
   * `given-back`: the session is stored, and the same statement released the lease (`giveBackLeaseCtes`). `lost`:
   * nothing was stored, because another process has the lease. `kept`: nothing was stored, for another reason.
   */
  readonly lease: 'given-back' | 'lost' | 'kept';
}

export interface DeviceClaim<Row extends ClaimRow, Outcome> {
  readonly user: { readonly id: UserId; readonly username: string };
  /** Its name is used only if no live session has the device. Otherwise the device keeps its name. */
  readonly device: Device;
  /** Runs the statement made with `claimSql`. */
  take(params: ClaimParams): Promise<Row | undefined>;
  /**
   * Returns an outcome that needs no call to the homeserver; undefined to continue. The writing statement checks once
   * more.
   */
  refuse(row: Row): Outcome | undefined;
  /** Ends the wait for the lease when the client has disconnected. */
  readonly signal: AbortSignal;
  /** Called right before the write, which is skipped unless it returns true: `RequestContext.beginWrite`. */
  beginWrite(): boolean;
  /** @param leaseOwner parameter `:leaseOwner` of the writing statement; null if no lease is needed */
  write(leaseOwner: string | null): Promise<Written<Outcome>>;
}

/**
 * Registers a device at the homeserver and then writes its session. Without a homeserver, it only writes.
 *
 * Throws `temporarily_unavailable` or `homeserver_unavailable` (503), `reserved_device_id` (403) or `internal`. In that
 * case nothing was written. If the homeserver may already know the device, a sync is queued.
 *
 * Runs two statements if the lease is free: `take` and `write`.
 */
export async function claimDevice<Row extends ClaimRow, Outcome>(
  deps: ClaimDeps,
  claim: DeviceClaim<Row, Outcome>,
): Promise<Outcome> {
  if (!deps.homeserver.isConnected) {
    if (!claim.beginWrite()) throw tooLate();
    return (await claim.write(null)).outcome;
  }
  const { lease, row } = await waitForLease(deps, claim);
  try {
    const refused = claim.refuse(row);
    if (refused !== undefined) return refused;
    const device = row.device_is_known ? { ...claim.device, name: undefined } : claim.device;
    const { id, username } = claim.user;
    const result = await provisionIfUnknown(deps, id, REQUEST, () =>
      deps.homeserver.upsertDevice(username, device, REQUEST),
    );
    if (!result.ok) throw await failureOf(deps, claim.user.id, lease, result);
    return await write(claim, lease);
  } finally {
    await lease.release();
  }
}

async function waitForLease<Row extends ClaimRow, Outcome>(deps: ClaimDeps, claim: DeviceClaim<Row, Outcome>) {
  const { user, device, signal } = claim;
  const giveUpAt = deps.clock.now() + MAX_WAIT_MS;
  for (;;) {
    const taken = await takeUserLease(deps, toUuid(user.id), (params) =>
      claim.take({ ...params, deviceId: device.id }),
    );
    if (taken !== undefined) return taken;
    if (deps.clock.now() >= giveUpAt || signal.aborted) {
      deps.log.warn('homeserver.busy', 'timed out waiting for another update of this user at the homeserver', {
        user: user.id,
      });
      throw tooLate();
    }
    await outside(sleep(randomInt(MIN_PAUSE_MS, MAX_PAUSE_MS)));
  }
}

async function failureOf(
  { log }: ClaimDeps,
  user: UserId,
  lease: HeldLease,
  failure: HomeserverFailure,
): Promise<LatchkeyError> {
  const { reason, errcode, needsOperator, retryAfterSeconds = 0, detail } = failure;
  // Synapse stores public cross-signing keys under device IDs.
  if (reason === 'refused' && errcode === 'M_FORBIDDEN') return new LatchkeyError('reserved_device_id');
  if (reason === 'unavailable' && needsOperator !== true) {
    await lease.releaseOwing();
    const afterSeconds = Math.max(RETRY_AFTER_SECONDS, retryAfterSeconds);
    return new LatchkeyError('homeserver_unavailable', { retryAfterSeconds: afterSeconds });
  }
  log.error('homeserver.refused', 'homeserver rejected a device', { user, reason: detail });
  return new LatchkeyError('homeserver_refused');
}

async function write<Row extends ClaimRow, Outcome>(
  claim: DeviceClaim<Row, Outcome>,
  lease: HeldLease,
): Promise<Outcome> {
  let written: Written<Outcome> | undefined;
  try {
    if (lease.signal.aborted || !claim.beginWrite()) throw tooLate();
    written = await claim.write(lease.owner);
  } finally {
    if (written?.lease === 'given-back') lease.end();
    // If this fails too, the lease expires, and the next process to find it queues the sync.
    else await lease.releaseOwing();
  }
  if (written.lease === 'lost') throw tooLate();
  return written.outcome;
}

function tooLate(): LatchkeyError {
  return new LatchkeyError('temporarily_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/**
 * Returns SQL that takes the user's lease and reads what decides about the sign-in.
 * @param further additional CTEs, which may use `leased(user_id)`, columns and tables
 */
export function claimSql(further: {
  readonly ctes?: string;
  readonly columns?: string;
  readonly from?: string;
}): string {
  const { ctes, columns, from } = further;
  const deviceOf = 's.user_id = leased.user_id and s.device_id = :deviceId::text';
  const deviceOfActor = 's.actor_user_id = leased.user_id and s.device_id = :deviceId::text';
  return `with recursive ${TAKE_LEASE_CTES}${ctes === undefined ? '' : `, ${ctes}`}
  select u.locked_at is not null as is_locked,
         u.deactivated_at is not null as is_deactivated,
         exists (select from compat_sessions s where ${deviceOf} and ${compatSessionIsLive('s')})
           or exists (select from oauth2_sessions s where ${deviceOf} and ${oauthSessionIsLive('s')})
           or exists (select from personal_sessions s where ${deviceOfActor} and ${personalSessionIsLive('s')}) as device_is_known
         ${columns === undefined ? '' : `, ${columns}`}
    from leased join users u on u.id = leased.user_id${from === undefined ? '' : `, ${from}`}`;
}
