/**
 * Redeems a grant that passed its checks (oauth 8.2, 10.4). A grant with a device is redeemed like a chat client's
 * sign-in: under the user's lease, once the homeserver knows the device (chat-compat 10.4).
 */
import type { Client } from '#domain/clients/client.ts';
import {
  type ClaimDeps,
  type ClaimParams,
  type ClaimRow,
  claimDevice,
  claimSql,
  type DeviceClaim,
  type Written,
} from '#domain/homeserver/claim-device.ts';
import { type SessionLimit, type SessionRoomParams, sessionRoomCtes } from '#domain/records/session-limit.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Statement } from '#platform/postgres/statement.ts';
import {
  type RedeemableRow,
  type RedeemedRow,
  type RedeemingDevice,
  type RedeemParams,
  type Redemption,
  redeemParams,
  sendInTurn,
} from './open-session.ts';

export interface RedeemDeps extends ClaimDeps {
  readonly sessionLimit: SessionLimit;
}

/** A grant that passed its checks, and what its redemption will store. */
export interface Redeeming<Row extends RedeemableRow, Prepared> {
  readonly row: Row & { readonly username: string };
  readonly client: Client;
  readonly device: RedeemingDevice;
  /** When the grant was presented, in milliseconds since the epoch. The wait for the homeserver does not count. */
  readonly presentedAt: number;
  /** Signals whether the caller is still waiting for the tokens. `RequestContext` implements it. */
  readonly waiting: Pick<DeviceClaim<ClaimRow, unknown>, 'signal' | 'beginWrite'>;
  /** Generates the tokens right before they are stored. If it throws, nothing is consumed. */
  prepare(now: number): Promise<Prepared & { readonly redemption: Redemption<Row> }>;
}

export type RedeemOutcome<Prepared> =
  | { readonly ok: true; readonly prepared: Prepared }
  /** `lost`: another request was faster, or the user, the browser session or the client is no longer usable. */
  | { readonly ok: false; readonly reason: 'lost' | 'too-many-sessions' };

/** The statements for one kind of grant. */
interface RedeemStatements<Own> {
  /** Built with `grantClaimSql`. */
  readonly claim: Statement<GrantClaimRow, GrantClaimParams & Own>;
  /** Built with `redeemSql`. */
  readonly store: Statement<RedeemedRow, RedeemParams & Own>;
}

export type GrantClaimParams = ClaimParams & SessionRoomParams & { readonly grantId: string };

export interface GrantClaimRow extends ClaimRow {
  readonly is_redeemable: boolean;
  /** Whether the session limit allows another session. */
  readonly is_left: boolean;
}

/**
 * Consumes the grant and stores the session with its tokens, or changes nothing. Runs one statement for a grant without
 * a device, and two for a device at a homeserver. With a session limit, or for a device without a homeserver, runs a
 * transaction of two. Throws like `claimDevice`; nothing is consumed then.
 *
 * @param own additional parameters of both statements
 */
export async function redeem<Row extends RedeemableRow, Prepared, Own extends object>(
  deps: RedeemDeps,
  redeeming: Redeeming<Row, Prepared>,
  statements: RedeemStatements<Own>,
  own: Own,
): Promise<RedeemOutcome<Prepared>> {
  const { database, sessionLimit } = deps;
  const { device, row, waiting } = redeeming;
  const write = (leaseOwner: string | null) => store(deps, redeeming, statements, own, leaseOwner);
  if (device.id === undefined) return (await write(null)).outcome;
  return await claimDevice<GrantClaimRow, RedeemOutcome<Prepared>>(deps, {
    user: { id: fromUuid(row.user_id), username: row.username },
    device: { id: device.id, name: device.name },
    signal: waiting.signal,
    beginWrite: () => waiting.beginWrite(),
    take: (params) =>
      database.first(statements.claim, {
        ...{ ...params, ...sessionLimit.params(params.now.getTime()), grantId: row.grant_id },
        ...own,
      }),
    refuse: (claimed) => {
      if (claimed.is_locked || claimed.is_deactivated || !claimed.is_redeemable) return { ok: false, reason: 'lost' };
      return claimed.is_left ? undefined : { ok: false, reason: 'too-many-sessions' };
    },
    write,
  });
}

async function store<Row extends RedeemableRow, Prepared, Own extends object>(
  { clock, database, sessionLimit }: RedeemDeps,
  { client, device, prepare }: Redeeming<Row, Prepared>,
  statements: RedeemStatements<Own>,
  own: Own,
  leaseOwner: string | null,
): Promise<Written<RedeemOutcome<Prepared>>> {
  const prepared = await prepare(clock.now());
  const params = { ...redeemParams(prepared.redemption, client, device, sessionLimit, leaseOwner), ...own };
  const row = await sendInTurn(database, statements.store, params, device.id !== undefined);
  if (row === undefined) throw new Error('the statement that redeems a grant returned no row');
  if (row.id !== null) return { outcome: { ok: true, prepared }, lease: 'given-back' };
  const reason = row.is_left ? 'lost' : 'too-many-sessions';
  return { outcome: { ok: false, reason }, lease: row.is_lease_lost ? 'lost' : 'kept' };
}

/**
 * Returns SQL that takes the lease for the device of a grant. It also reads the state of the grant, so that losers of a
 * race get an immediate response.
 * @param table of the grants, with the alias `g`
 * @param isRedeemable condition on `g`: the grant `:grantId` may be redeemed
 */
export function grantClaimSql(table: string, isRedeemable: string): string {
  return claimSql({
    ctes: sessionRoomCtes(':userId::uuid', ':deviceId::text', ':now::timestamptz'),
    columns: `room.is_left,
         exists (select from ${table} g where g.id = :grantId::uuid and ${isRedeemable}) as is_redeemable`,
    from: 'room',
  });
}
