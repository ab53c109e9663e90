import { parseEmailAddress } from '#domain/accounts/email-address.ts';
import { addEmail } from '#domain/accounts/user-emails.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { PasswordScheme } from '#platform/password-hash/schemes.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { silentLog } from './silent-log.ts';

/** The cheapest argon2id parameters: tests have no secrets to protect. */
export const CHEAP_SCHEME = {
  version: 1,
  algorithm: 'argon2id',
  memoryKib: 8,
  iterations: 1,
  parallelism: 1,
  unicodeNormalization: false,
  secret: undefined,
} as const satisfies PasswordScheme;

export function cheapHasher(): PasswordHasher {
  return new PasswordHasher({ schemes: [CHEAP_SCHEME], concurrency: 2, queueLength: 1000, log: silentLog });
}

export interface TestAccount {
  readonly username: string;
  /** Defaults to the lowercased username. */
  readonly usernameKey?: string;
  readonly password?: string;
  readonly email?: string;
  readonly isLocked?: boolean;
  readonly isDeactivated?: boolean;
}

const insertAccount = statement<
  never,
  {
    readonly id: string;
    readonly username: string;
    readonly usernameKey: string;
    readonly now: Date;
    readonly lockedAt: Date | null;
    readonly deactivatedAt: Date | null;
  }
>(
  'test-insert-account',
  `insert into users (id, username, username_key, created_at, locked_at, deactivated_at)
  values (:id::uuid, :username::text, :usernameKey::text, :now::timestamptz, :lockedAt::timestamptz, :deactivatedAt::timestamptz)`,
);

const insertPassword = statement<
  never,
  {
    readonly userId: string;
    readonly id: string;
    readonly hash: string;
    readonly schemeVersion: number;
    readonly createdAt: Date;
  }
>(
  'test-insert-password',
  `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  values (:userId::uuid, :id::uuid, :hash::text, :schemeVersion::integer, :createdAt::timestamptz)`,
);

/** Inserts an account in any state that a test needs, without validation. */
export async function insertTestAccount(
  database: Queryable,
  account: TestAccount,
  options: { readonly hasher?: PasswordHasher; readonly now?: number } = {},
): Promise<UserId> {
  const now = options.now ?? Date.UTC(2026, 0, 1);
  const id = newId<'user'>(now);
  const at = new Date(now);
  await database.execute(insertAccount, {
    id: toUuid(id),
    username: account.username,
    usernameKey: account.usernameKey ?? account.username.toLowerCase(),
    now: at,
    lockedAt: account.isLocked === true ? at : null,
    deactivatedAt: account.isDeactivated === true ? at : null,
  });
  if (account.email !== undefined) {
    const email = parseEmailAddress(account.email);
    if (email === undefined) throw new Error(`${account.email} is not an e-mail address`);
    await addEmail(database, id, email, now);
  }
  if (account.password !== undefined) {
    const stored = await (options.hasher ?? cheapHasher()).hash(account.password, { address: 'test' });
    if (stored === undefined) throw new Error('the password is too long for the scheme');
    await database.execute(insertPassword, {
      userId: toUuid(id),
      id: toUuid(newId(now)),
      hash: stored.hash,
      schemeVersion: stored.schemeVersion,
      createdAt: at,
    });
  }
  return id;
}
