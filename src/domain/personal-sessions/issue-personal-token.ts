/**
 * Creates a session with its first token (operations 4.7). A session with a device starts like the sign-in of a chat
 * client: under the lease of its actor, once the homeserver knows the device (chat-compat 11.6). Other sessions on that
 * device are kept.
 */

import { type AuditActor, INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type RecordAction, recordedChange } from '#domain/audit/record-admin-action.ts';
import {
  type ClaimDeps,
  type ClaimParams,
  type ClaimRow,
  claimDevice,
  claimSql,
  type DeviceClaim,
  type Written,
} from '#domain/homeserver/claim-device.ts';
import { giveBackLeaseCtes } from '#domain/homeserver/user-lease.ts';
import { accountIsDeactivated, accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { ClientId, PersonalSessionId, UserId } from '#vocabulary/ids.ts';

/** The creator of a session, who is responsible for it: a user, or an application for itself. */
export type PersonalOwner =
  | { readonly kind: 'user'; readonly id: UserId }
  | { readonly kind: 'client'; readonly id: ClientId };

export const MAX_PERSONAL_TOKEN_SECONDS = 315_360_000;
export const MAX_PERSONAL_NAME_CHARACTERS = 100;

/** Returns whether a name is readable and a homeserver accepts it as a device name. */
export function isPersonalName(name: string): boolean {
  return name.length <= MAX_PERSONAL_NAME_CHARACTERS && name.trim() !== '' && !/\p{Cc}/u.test(name);
}

export interface OrderedPersonalSession {
  readonly owner: PersonalOwner;
  /** The user that the token acts as. May be locked, so that users cannot sign in to the account. */
  readonly actor: { readonly id: UserId; readonly username: string };
  readonly name: string;
  readonly scope: readonly string[];
  /** The device that the scope contains. */
  readonly deviceId: string | undefined;
  /** Undefined if the token works until it is revoked. */
  readonly lifetimeSeconds: number | undefined;
  readonly by: AuditActor;
  readonly record: RecordAction<PersonalSessionId>;
  /** Whether the client still waits for the token. `RequestContext` implements this. */
  readonly waiting: Pick<DeviceClaim<ClaimRow, unknown>, 'signal' | 'beginWrite'>;
}

export type PersonalSessionOutcome =
  | { readonly ok: true; readonly sessionId: PersonalSessionId; readonly accessToken: string }
  /** `gone`: the account no longer exists. `owner`: the owning account or client is not usable. */
  | { readonly ok: false; readonly reason: 'deactivated' | 'gone' | 'owner' };

/**
 * Stores the session, token and events in one transaction, or nothing. A device at a homeserver takes one more
 * statement. Throws the same errors as `claimDevice`.
 */
export async function issuePersonalToken(
  deps: ClaimDeps,
  ordered: OrderedPersonalSession,
): Promise<PersonalSessionOutcome> {
  const { actor, deviceId, name, waiting } = ordered;
  if (deviceId === undefined) return (await store(deps, ordered, null)).outcome;
  return await claimDevice<ClaimRow, PersonalSessionOutcome>(deps, {
    user: actor,
    device: { id: deviceId, name },
    signal: waiting.signal,
    beginWrite: () => waiting.beginWrite(),
    take: (params) => deps.database.first(claim, params),
    refuse: (row) => (row.is_deactivated ? { ok: false, reason: 'deactivated' } : undefined),
    write: (leaseOwner) => store(deps, ordered, leaseOwner),
  });
}

async function store(
  { clock, database }: ClaimDeps,
  { owner, actor, name, scope, deviceId, lifetimeSeconds, by, record }: OrderedPersonalSession,
  leaseOwner: string | null,
): Promise<Written<PersonalSessionOutcome>> {
  const now = clock.now();
  const sessionId = newId<'personal-session'>(now);
  const accessToken = newToken('mpt');
  const params = {
    sessionId: toUuid(sessionId),
    ownerUserId: owner.kind === 'user' ? toUuid(owner.id) : null,
    ownerClientId: owner.kind === 'client' ? toUuid(owner.id) : null,
    userId: toUuid(actor.id),
    name,
    scope,
    deviceId: deviceId ?? null,
    tokenId: toUuid(newId(now)),
    tokenHash: sha256(accessToken),
    expiresAt: lifetimeSeconds === undefined ? null : new Date(now + lifetimeSeconds * 1000),
    leaseOwner,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    clientId: by.clientId === undefined ? null : toUuid(by.clientId),
    detail: by.detail === undefined ? null : JSON.stringify(by.detail),
  };
  const recordOpened = async (transaction: Queryable, opened: OpenedRow | undefined): Promise<void> => {
    if (opened?.is_opened === true) await record(transaction, sessionId);
  };
  const row = await recordedChange(database, recordOpened, (transaction) => transaction.first(open, params));
  if (row === undefined) return { outcome: { ok: false, reason: 'gone' }, lease: 'kept' };
  if (row.is_opened) return { outcome: { ok: true, sessionId, accessToken }, lease: 'given-back' };
  const reason = row.is_deactivated ? 'deactivated' : 'owner';
  return { outcome: { ok: false, reason }, lease: row.is_lease_lost ? 'lost' : 'kept' };
}

const claim = statement<ClaimRow, ClaimParams>('claim-device-for-personal-session', claimSql({}));

interface OpenedRow {
  readonly is_deactivated: boolean;
  readonly is_opened: boolean;
  /** Everything is valid, except that the lease was lost to another process. */
  readonly is_lease_lost: boolean;
}

/**
 * Returns no row if the account does not exist. The row locks block a concurrent deactivation of account or owner,
 * which would miss the session.
 */
const open = statement<
  OpenedRow,
  {
    readonly sessionId: string;
    readonly ownerUserId: string | null;
    readonly ownerClientId: string | null;
    readonly userId: string;
    readonly name: string;
    readonly scope: readonly string[];
    readonly deviceId: string | null;
    readonly tokenId: string;
    readonly tokenHash: Buffer;
    readonly expiresAt: Date | null;
    readonly leaseOwner: string | null;
    readonly now: Date;
    readonly auditEventId: string;
    readonly clientId: string | null;
    readonly detail: string | null;
  }
>(
  'open-personal-session',
  `with account as materialized (
    select u.id, ${accountIsDeactivated('u')} as is_deactivated from users u where u.id = :userId::uuid for share of u
  ), owning_user as materialized (
    select o.id from users o where o.id = :ownerUserId::uuid and ${accountIsUsable('o')} for share of o
  ), owning_client as materialized (
    select c.id from oauth2_clients c where c.id = :ownerClientId::uuid and ${clientIsEnabled('c')} for share of c
  ), admitted as materialized (
    select account.id from account
     where not account.is_deactivated and (exists (select from owning_user) or exists (select from owning_client))
  ), ${giveBackLeaseCtes(':userId::uuid', 'admitted')}, opened as (
    insert into personal_sessions (
      id, owner_user_id, owner_client_id, actor_user_id, human_name, scope, device_id, created_at, expires_at
    )
    select :sessionId::uuid, :ownerUserId::uuid, :ownerClientId::uuid, admitted.id, :name::text, :scope::text[],
           :deviceId::text, :now::timestamptz, :expiresAt::timestamptz
      from admitted where exists (select from fenced)
    returning id, actor_user_id
  ), issued as (
    insert into personal_access_tokens (id, session_id, token_hash, created_at, expires_at)
    select :tokenId::uuid, id, :tokenHash::bytea, :now::timestamptz, :expiresAt::timestamptz from opened
  ), audited as (
    ${INSERT_AUDIT_EVENT}
    select :auditEventId::uuid, 'session_started', actor_user_id, :clientId::uuid, id, null, null, :detail::jsonb,
           :now::timestamptz
      from opened
  )
  select account.is_deactivated, exists (select from opened) as is_opened,
         exists (select from admitted) and not exists (select from fenced) as is_lease_lost
    from account`,
);
