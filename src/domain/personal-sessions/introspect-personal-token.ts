import type { Client } from '#domain/clients/client.ts';
import type { AdminRights } from '#domain/records/admin-rights.ts';
import { accountIsDeactivated, accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { CALLER_IS_CURRENT } from '#domain/records/liveness/clients.ts';
import {
  ownerIsUsable,
  personalSessionIsLive,
  personalTokenIsLive,
} from '#domain/records/liveness/personal-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { PersonalSessionId, UserId } from '#vocabulary/ids.ts';
import type { PersonalOwner } from './issue-personal-token.ts';

/** A live token with the properties of its session. Times in milliseconds since the epoch. */
export interface LivePersonalToken {
  readonly sessionId: PersonalSessionId;
  readonly owner: PersonalOwner;
  /** The user that the token acts as. */
  readonly user: { readonly id: UserId; readonly username: string };
  /** Excludes admin scopes that the owner or the account may no longer have. */
  readonly scope: readonly string[];
  readonly createdAt: number;
  /** Undefined if the token works until it is revoked. */
  readonly expiresAt: number | undefined;
}

/** A token to introspect, and for whom. */
export interface PresentedPersonalToken {
  /** SHA-256. */
  readonly tokenHash: Buffer;
  /** The calling client; undefined for the homeserver and this server itself. */
  readonly client: Pick<Client, 'id' | 'version'> | undefined;
  /** Accepts a locked actor: service accounts can be locked so that users cannot sign in to them (operations 4.1). */
  readonly mayBeLocked: boolean;
  readonly rights: AdminRights;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Introspects a personal token in one statement.
 * @returns undefined unless the token is live
 */
export async function introspectPersonalToken(
  database: Queryable,
  { tokenHash, client, mayBeLocked, rights, now }: PresentedPersonalToken,
): Promise<LivePersonalToken | 'client-changed' | undefined> {
  const row = await database.first(introspect, {
    tokenHash,
    callerId: client === undefined ? null : toUuid(client.id),
    callerVersion: client?.version ?? null,
    mayBeLocked,
    now: new Date(now),
  });
  if (row === undefined) return undefined;
  if (!row.caller_is_current) return 'client-changed';
  const owner = ownerOf(row);
  if (!row.is_live || owner === undefined) return undefined;
  const { username, can_request_admin } = row;
  const owning = { username: row.owner_username ?? '', can_request_admin: row.owner_can_request_admin ?? false };
  return {
    sessionId: fromUuid(row.session_id),
    owner,
    user: { id: fromUuid(row.actor_user_id), username },
    scope: rights.remainingPersonalScope(row.scope, {
      actor: { username, can_request_admin },
      owner: owner.kind === 'user' ? owning : owner.id,
    }),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  };
}

function ownerOf(row: IntrospectionRow): PersonalOwner | undefined {
  if (row.owner_user_id !== null) return { kind: 'user', id: fromUuid(row.owner_user_id) };
  return row.owner_client_id === null ? undefined : { kind: 'client', id: fromUuid(row.owner_client_id) };
}

interface IntrospectionRow {
  readonly session_id: string;
  readonly actor_user_id: string;
  readonly username: string;
  readonly can_request_admin: boolean;
  readonly owner_user_id: string | null;
  readonly owner_username: string | null;
  readonly owner_can_request_admin: boolean | null;
  readonly owner_client_id: string | null;
  readonly scope: readonly string[];
  readonly created_at: number;
  readonly expires_at: number | null;
  /** Token, session, account and owner are all usable. */
  readonly is_live: boolean;
  /** False: the cached record of the calling client is out of date. */
  readonly caller_is_current: boolean;
}

/** Uses the unique index on `token_hash`, then primary keys. */
const introspect = lookup<
  IntrospectionRow,
  {
    readonly tokenHash: Buffer;
    readonly callerId: string | null;
    readonly callerVersion: number | null;
    readonly mayBeLocked: boolean;
    readonly now: Date;
  }
>(
  'introspect-personal-token',
  `select s.id as session_id,
          s.actor_user_id,
          u.username,
          u.can_request_admin,
          s.owner_user_id,
          o.username as owner_username,
          o.can_request_admin as owner_can_request_admin,
          s.owner_client_id,
          s.scope,
          ${ms('t.created_at')} as created_at,
          ${ms('t.expires_at')} as expires_at,
          ${personalTokenIsLive('t', ':now::timestamptz')} and ${personalSessionIsLive('s')}
            and (${accountIsUsable('u')} or (:mayBeLocked::boolean and not (${accountIsDeactivated('u')})))
            and ${ownerIsUsable('s', 'o', 'c')} as is_live,
          ${CALLER_IS_CURRENT} as caller_is_current
     from personal_access_tokens t
     join personal_sessions s on s.id = t.session_id
     join users u on u.id = s.actor_user_id
     left join users o on o.id = s.owner_user_id
     left join oauth2_clients c on c.id = s.owner_client_id
    where t.token_hash = :tokenHash::bytea`,
);
