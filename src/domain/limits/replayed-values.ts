/**
 * Values that work once, such as the `jti` of a JWT: table `replayed_values`. A row means that the value was accepted.
 * It is kept until the JWT has expired, plus a margin for clock differences between instances.
 */
import { deleteOldest, type SweepRow, secondsBefore } from '#domain/clean-up/sweep.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { GuardedDatabase, GuardingDatabase, Queryable } from '#platform/postgres/database.ts';
import { GuardRefused } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';

export interface OneTimeValue {
  readonly kind: 'client-assertion' | 'dpop-proof' | 'totp-code' | 'upstream-logout';
  /**
   * The party that must make the value unique: a client ID, a key thumbprint, an upstream provider or an authenticator
   * app.
   */
  readonly owner: string;
  readonly value: string;
  /** Milliseconds since the epoch. From then on, the value may be reused. */
  readonly expiresAt: number;
}

/**
 * Accepts a value once: returns true for exactly one caller across all instances until it expires. Call it when
 * everything else about the JWT is valid, since anyone can send the `jti` of another party.
 * @param now milliseconds since the epoch
 */
export async function consumeOnce(database: Queryable, oneTime: OneTimeValue, now: number): Promise<boolean> {
  const accepted = await database.execute(acceptValue, {
    valueHash: hashOf(oneTime),
    expiresAt: new Date(Math.ceil(oneTime.expiresAt)),
    now: new Date(now),
  });
  return accepted === 1;
}

/**
 * Does the same for work that the value authorizes. The value is accepted in the transaction of the work, in one round
 * trip with its first statement. Settle the returned database if the work made no statement, and if it failed.
 */
export function onceFor(database: GuardingDatabase, oneTime: OneTimeValue): GuardedDatabase {
  const parameters = { valueHash: hashOf(oneTime), expiresAt: new Date(Math.ceil(oneTime.expiresAt)) };
  return database.guardedBy(storeValue, parameters, 'replayed_values_pkey');
}

/** Returns whether work of `onceFor` failed because the value was already accepted. */
export function isReplay(error: unknown): boolean {
  return error instanceof GuardRefused;
}

// An expired value is rejected until its row is cleaned up, which only affects an owner that repeats a value.
const storeValue = statement<never, { readonly valueHash: Buffer; readonly expiresAt: Date }>(
  'store-one-time-value',
  'insert into replayed_values (value_hash, expires_at) values (:valueHash::bytea, :expiresAt::timestamptz)',
);

function hashOf({ kind, owner, value }: OneTimeValue): Buffer {
  return sha256(JSON.stringify([kind, owner, value]));
}

// The primary key resolves races: the second of two callers waits for the first and then sees an unexpired row.
const acceptValue = statement<never, { readonly valueHash: Buffer; readonly expiresAt: Date; readonly now: Date }>(
  'accept-one-time-value',
  `insert into replayed_values as seen (value_hash, expires_at)
   values (:valueHash::bytea, :expiresAt::timestamptz)
   on conflict (value_hash) do update
      set expires_at = excluded.expires_at
    where seen.expires_at <= :now::timestamptz`,
);

/** Exceeds the possible clock difference between two instances. */
const KEPT_SECONDS = 300;

export const replayedValueSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-replayed-values',
    minute: 55,
    batch: deleteOldest('sweep-replayed-values', {
      table: 'replayed_values',
      key: 'value_hash',
      orderedBy: 'expires_at',
      isDue: 't.expires_at < :expiredBefore::timestamptz',
    }),
    parameters: (now) => ({ expiredBefore: secondsBefore(now, KEPT_SECONDS) }),
  },
];
