/**
 * Values that work once, such as the `jti` of a JWT that proves something: table `replayed_values`. A row says that the
 * value was accepted; it stays until the JWT itself is too old, and then for clocks that differ between instances.
 */
import { deleteOldestSql, type Sweep, secondsBefore, sweepAll } from '#domain/clean-up/sweep.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { GuardedDatabase, GuardingDatabase, Queryable } from '#platform/postgres/database.ts';
import { GuardRefused } from '#platform/postgres/failures.ts';
import { statement } from '#platform/postgres/statement.ts';

export interface OneTimeValue {
  readonly kind: 'client-assertion' | 'dpop-proof' | 'totp-code' | 'upstream-logout';
  /** Who has to make the value unique: a client id, a thumbprint of a key, a sign-in provider, an authenticator app. */
  readonly owner: string;
  readonly value: string;
  /** Milliseconds since the epoch; from then on the value may be used again. */
  readonly expiresAt: number;
}

/**
 * Accepts a value: true for exactly one caller on all instances until it expires. To be called when everything else
 * about the JWT is right, since anybody can send the `jti` of somebody else.
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
 * The same for work that the value proves: accepted in one round trip with the first statement of the work, and in its
 * transaction. To be settled when the work sent none, and when it failed.
 */
export function onceFor(database: GuardingDatabase, oneTime: OneTimeValue): GuardedDatabase {
  const parameters = { valueHash: hashOf(oneTime), expiresAt: new Date(Math.ceil(oneTime.expiresAt)) };
  return database.guardedBy(storeValue, parameters, 'replayed_values_pkey');
}

/** Whether work of `onceFor` failed because the value was accepted before. */
export function isReplay(error: unknown): boolean {
  return error instanceof GuardRefused;
}

// A value that expired is refused until its row is cleaned up: nobody but its owner made it twice.
const storeValue = statement<never, { readonly valueHash: Buffer; readonly expiresAt: Date }>(
  'store-one-time-value',
  'insert into replayed_values (value_hash, expires_at) values (:valueHash::bytea, :expiresAt::timestamptz)',
);

function hashOf({ kind, owner, value }: OneTimeValue): Buffer {
  return sha256(JSON.stringify([kind, owner, value]));
}

// The primary key settles races: the second of two waits for the first, and then sees a row that has not expired.
const acceptValue = statement<never, { readonly valueHash: Buffer; readonly expiresAt: Date; readonly now: Date }>(
  'accept-one-time-value',
  `insert into replayed_values as seen (value_hash, expires_at)
   values (:valueHash::bytea, :expiresAt::timestamptz)
   on conflict (value_hash) do update
      set expires_at = excluded.expires_at
    where seen.expires_at <= :now::timestamptz`,
);

/** Longer than the clocks of two instances may differ. */
const KEPT_SECONDS = 300;

const sweepExpired = statement<never, { readonly expiredBefore: Date }>(
  'sweep-replayed-values',
  deleteOldestSql('replayed_values', 'value_hash', 'expires_at', 't.expires_at < :expiredBefore::timestamptz'),
);

export const replayedValueSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-replayed-values',
    minute: 55,
    sweep: (database, now) => sweepAll(database, sweepExpired, { expiredBefore: secondsBefore(now, KEPT_SECONDS) }),
  },
];
