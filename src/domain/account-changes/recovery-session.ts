/**
 * Account recovery by email for users who lost their password (browser-flows 7): tables `user_recovery_sessions` and
 * `user_recovery_tickets`. A session is one request for one entered address, known or not. It belongs to the browser
 * that created it, which the feature checks. Each email for it has a ticket, stored as a digest. One that an
 * administrator requests is for an account (`issue-recovery-link.ts`).
 *
 * A session is open, consumed (`consumed_at`: the account was recovered, or newer sessions replaced it), or expired.
 */

import { recoverySessionIsOpen } from '#domain/records/liveness/recoveries.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { RecoverySessionId } from '#vocabulary/ids.ts';

export interface RecoverySession {
  readonly id: RecoverySessionId;
  /** The address as entered. */
  readonly email: string;
  readonly emailKey: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly isConsumed: boolean;
}

export type RecoverySessionState = 'open' | 'consumed' | 'expired';

/** @param now milliseconds since the epoch */
export function recoverySessionState(
  session: Pick<RecoverySession, 'createdAt' | 'isConsumed'>,
  ttlSeconds: number,
  now: number,
): RecoverySessionState {
  if (session.isConsumed) return 'consumed';
  return now - session.createdAt < ttlSeconds * 1000 ? 'open' : 'expired';
}

const findById = statement<
  {
    readonly id: string;
    readonly email: string;
    readonly email_key: string;
    readonly created_at: number;
    readonly is_consumed: boolean;
  },
  { readonly id: string }
>(
  'find-recovery-session',
  `select s.id, s.email, s.email_key, ${ms('s.created_at')} as created_at,
          not (${recoverySessionIsOpen('s')}) as is_consumed
     from user_recovery_sessions s where s.id = :id::uuid`,
);

export async function findRecoverySession(
  queryable: Queryable,
  id: RecoverySessionId,
): Promise<RecoverySession | undefined> {
  const row = await queryable.first(findById, { id: toUuid(id) });
  if (row === undefined) return undefined;
  return {
    id: fromUuid(row.id),
    email: row.email,
    emailKey: row.email_key,
    createdAt: row.created_at,
    isConsumed: row.is_consumed,
  };
}
