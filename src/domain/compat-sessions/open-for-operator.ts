import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import { type User, userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompatSessionId } from '#vocabulary/ids.ts';
import {
  type ClientDevice,
  claimSpace,
  type OpenCompatSessionDeps,
  type OpenCompatSessionOutcome,
  type OpenedRow,
  openCompatSession,
  openCompatSessionSql,
  type ProofParams,
  type RoomParams,
  type SessionParams,
  type Waiting,
} from './open-compat-session.ts';

/** A session that an operator creates for a user (chat-compat 16). */
export interface IssuedByOperator {
  readonly user: Pick<User, 'id' | 'username'>;
  /** Whether its token can administer the homeserver, which sign-ins never grant. */
  readonly isAdmin: boolean;
  /** Undefined: the token is valid as long as the session. */
  readonly lifetimeSeconds: number | undefined;
  readonly record: RecordAction<CompatSessionId>;
}

/** Opens a session for an operator, without a password. Throws like `claimDevice`. */
export async function openCompatSessionForOperator(
  deps: OpenCompatSessionDeps,
  { user, isAdmin, lifetimeSeconds, record }: IssuedByOperator,
  device: ClientDevice,
  waiting: Waiting,
): Promise<OpenCompatSessionOutcome> {
  const proof = {
    user,
    lifetimeSeconds,
    record,
    take: (params: RoomParams) => deps.database.first(claimSpace, params),
    statement: openForOperator,
    params: (now: number) => ({ userId: toUuid(user.id), now: new Date(now), isAdmin }),
  };
  return await openCompatSession(deps, proof, device, waiting);
}

const openForOperator = statement<OpenedRow, ProofParams & { readonly isAdmin: boolean } & SessionParams>(
  'open-compat-session-for-operator',
  openCompatSessionSql(
    `account as (
    select ${userColumns('u')} from users u where u.id = :userId::uuid for share of u
  ), proven as (
    select account.user_id from account where not account.is_locked and not account.is_deactivated
  )`,
    { isAdmin: ':isAdmin::boolean' },
  ),
);
