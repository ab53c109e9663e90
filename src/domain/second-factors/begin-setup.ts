import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PendingLoginId, UserId } from '#vocabulary/ids.ts';
import { insertPendingLogin, newPendingLogin, type PendingLoginParams } from './begin-pending-login.ts';
import { newSealedSetup } from './factor-setup.ts';

const insertForPassword = statement<
  never,
  PendingLoginParams & {
    readonly userId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly setupSealed: Buffer;
    readonly now: Date;
  }
>(
  'begin-factor-setup',
  `${insertPendingLogin({
    userId: 'chosen.user_id',
    firstFactor: 'password',
    passwordId: 'chosen.id',
    setup: ':setupSealed::bytea',
  })}
   from user_passwords chosen where chosen.user_id = :userId::uuid`,
);

/**
 * Starts the enrollment of a user who has just chosen a password and must have a second factor, instead of opening the
 * session. Expects the transaction that stored the password.
 */
export async function beginSetup(
  transaction: Transaction,
  keyRing: KeyRing,
  begin: {
    readonly userId: UserId;
    readonly action: PostAuthAction | undefined;
    readonly address: string | undefined;
    readonly userAgent: string | undefined;
    /** Milliseconds since the epoch. */
    readonly now: number;
  },
): Promise<PendingLoginId> {
  const { userId, action, address, userAgent, now } = begin;
  const { id, params } = newPendingLogin(action, now);
  await transaction.execute(insertForPassword, {
    ...params,
    userId: toUuid(userId),
    ip: address ?? null,
    userAgent: userAgent ?? null,
    setupSealed: newSealedSetup(keyRing, id),
    now: new Date(now),
  });
  return id;
}
