/**
 * A session that an administrator creates for a user (account-graphql 5.5). A session with a device starts like a chat
 * client's sign-in: under the user's lease, once the homeserver knows the device (chat-compat 10.4).
 */

import type { AuditEvent } from '#domain/audit/audit-event.ts';
import { type RecordAction, recordedChange } from '#domain/audit/record-admin-action.ts';
import {
  type ClaimParams,
  type ClaimRow,
  claimDevice,
  claimSql,
  type Written,
} from '#domain/homeserver/claim-device.ts';
import { giveBackLeaseCtes } from '#domain/homeserver/user-lease.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { clientAdmits, clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { type SessionRoomParams, sessionRoomCtes } from '#domain/records/session-limit.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { ClientId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { type OpeningParams, openingCtes, openingParams, sendInTurn } from './open-session.ts';
import type { RedeemDeps, Redeeming } from './redeem.ts';
import { sessionExpiry, type TokenSettings } from './token-settings.ts';

const ACCESS_TOKEN_MS = 300_000;

export interface OrderedSession {
  readonly user: { readonly id: UserId; readonly username: string };
  readonly clientId: ClientId;
  readonly scope: readonly string[];
  /** The device in the scope, and its name at the homeserver if it is new there. */
  readonly device: { readonly id: string; readonly name: string | undefined } | undefined;
  /** Whether the access token is valid as long as the session, without refresh. */
  readonly isPermanent: boolean;
  /** `AuditActor.detail`. */
  readonly detail: AuditEvent['detail'];
  readonly record: RecordAction<OAuth2SessionId>;
  /** Signals whether the caller is still waiting for the tokens. `RequestContext` implements it. */
  readonly waiting: Redeeming<never, never>['waiting'];
}

export type OrderedSessionOutcome =
  | {
      readonly ok: true;
      readonly sessionId: OAuth2SessionId;
      readonly accessToken: string;
      readonly refreshToken: string | undefined;
    }
  /** `gone`: the account or the client no longer exists, or the client does not admit the account. */
  | { readonly ok: false; readonly reason: 'deactivated' | 'gone' | 'locked' | 'too-many-sessions' };

/**
 * Stores session, tokens and event, or nothing. Applies the session limit of clients that cannot ask the user. Runs one
 * transaction, and one statement before it for a device at a homeserver. Throws like `claimDevice`.
 */
export async function openSessionForAdministrator(
  deps: RedeemDeps,
  settings: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  ordered: OrderedSession,
): Promise<OrderedSessionOutcome> {
  const { database, sessionLimit } = deps;
  const { device, user, waiting } = ordered;
  const write = (leaseOwner: string | null) => store(deps, settings, ordered, leaseOwner);
  if (device === undefined) return (await write(null)).outcome;
  return await claimDevice<LimitedClaimRow, OrderedSessionOutcome>(deps, {
    user,
    device,
    signal: waiting.signal,
    beginWrite: () => waiting.beginWrite(),
    take: (params) =>
      database.first(claimForAdministrator, { ...params, ...sessionLimit.hardParams(params.now.getTime()) }),
    refuse: (row) => {
      const reason = refusalOf(row);
      return reason === undefined ? undefined : { ok: false, reason };
    },
    write,
  });
}

async function store(
  { clock, database, sessionLimit }: RedeemDeps,
  settings: Pick<TokenSettings, 'sessionMaxLifetimeSeconds'>,
  { user, clientId, scope, device, isPermanent, detail, record }: OrderedSession,
  leaseOwner: string | null,
): Promise<Written<OrderedSessionOutcome>> {
  const now = clock.now();
  const sessionId = newId<'oauth2-session'>(now);
  const accessToken = newToken('mat');
  const refreshToken = isPermanent ? undefined : newToken('mar');
  const lifetime = isPermanent ? Number.POSITIVE_INFINITY : ACCESS_TOKEN_MS;
  const opening = {
    sessionId,
    userId: toUuid(user.id),
    accessToken,
    accessTokenExpiresAt: Math.min(now + lifetime, sessionExpiry(settings, now)),
    refreshToken,
    target: { resources: [], scope, key: undefined },
    sessionKey: undefined,
    detail,
    now,
  };
  // Where the user will use the session is unknown.
  const where = { id: device?.id, userAgent: undefined, address: undefined };
  const params = {
    ...openingParams(opening, where, sessionLimit.hardParams(now), leaseOwner),
    clientId: toUuid(clientId),
  };
  const recordOpened = async (transaction: Queryable, opened: OpenedRow | undefined): Promise<void> => {
    if (opened?.is_opened === true) await record(transaction, sessionId);
  };
  const row = await recordedChange(database, recordOpened, (_, joined) =>
    sendInTurn(joined, openForAdministrator, params, device !== undefined),
  );
  if (row?.is_opened === true) {
    return { outcome: { ok: true, sessionId, accessToken, refreshToken }, lease: 'given-back' };
  }
  const reason = (row === undefined ? undefined : refusalOf(row)) ?? 'gone';
  return { outcome: { ok: false, reason }, lease: row?.is_lease_lost === true ? 'lost' : 'kept' };
}

interface LimitedRow {
  readonly is_locked: boolean;
  readonly is_deactivated: boolean;
  /** Whether the session limit allows another session. */
  readonly is_left: boolean;
}

function refusalOf(row: LimitedRow): 'deactivated' | 'locked' | 'too-many-sessions' | undefined {
  if (row.is_deactivated) return 'deactivated';
  if (row.is_locked) return 'locked';
  return row.is_left ? undefined : 'too-many-sessions';
}

type LimitedClaimRow = ClaimRow & LimitedRow;

const claimForAdministrator = statement<LimitedClaimRow, ClaimParams & SessionRoomParams>(
  'claim-device-for-administrator',
  claimSql({
    ctes: sessionRoomCtes(':userId::uuid', ':deviceId::text', ':now::timestamptz'),
    columns: 'room.is_left',
    from: 'room',
  }),
);

interface OpenedRow extends LimitedRow {
  readonly is_opened: boolean;
  /** Whether another process now holds the lease, which alone prevented the session. */
  readonly is_lease_lost: boolean;
}

/** Returns no row if the account does not exist. Locks like `redeemSql`. */
const openForAdministrator = statement<OpenedRow, OpeningParams & { readonly clientId: string }>(
  'open-session-for-administrator',
  `with recursive account as materialized (
    select u.id, u.groups, u.locked_at is not null as is_locked, u.deactivated_at is not null as is_deactivated,
           ${accountIsUsable('u')} as is_usable
      from users u where u.id = :userId::uuid
       for share of u
  ), ${sessionRoomCtes(':userId::uuid', ':deviceId::text', ':now::timestamptz')}, admitted as materialized (
    select c.id as client_id from oauth2_clients c, account
     where c.id = :clientId::uuid and ${clientIsEnabled('c')} and ${clientAdmits('c', 'account')}
       and account.is_usable and exists (select from room where is_left)
  ), ${giveBackLeaseCtes(':userId::uuid', 'admitted')}, consumed as (
    select client_id, :tokenScope::text[] as scope, null::jsonb as claims, :resources::text[] as resources,
           null::text as locale, null::timestamptz as auth_time, null::text as acr, '{}'::text[] as amr
      from admitted where exists (select from fenced)
  ), ${openingCtes('null::uuid')}
  select account.is_locked, account.is_deactivated, room.is_left,
         exists (select from opened) as is_opened,
         exists (select from admitted) and not exists (select from fenced) as is_lease_lost
    from account, room`,
);
