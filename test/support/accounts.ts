import { newId, toUuid, type UserId } from '#base/ids.ts';
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';
import { addEmail } from '#domain/emails/add-email.ts';
import { parseEmailAddress } from '#domain/emails/email-address.ts';
import { PasswordHasher, type PasswordScheme } from '#gateways/password-hash/password-hasher.ts';
import { silentLog } from './silent-log.ts';

/** As cheap as argon2id gets: a test has no secrets to protect. */
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
  /** The lower-cased name unless told otherwise. */
  readonly usernameKey?: string;
  readonly password?: string;
  readonly email?: string;
  readonly isLocked?: boolean;
  readonly isDeactivated?: boolean;
}

const insertAccount = statement<
  never,
  [id: string, username: string, usernameKey: string, now: Date, lockedAt: Date | null, deactivatedAt: Date | null]
>(
  'test-insert-account',
  `insert into users (id, username, username_key, created_at, locked_at, deactivated_at)
  values ($1::uuid, $2::text, $3::text, $4::timestamptz, $5::timestamptz, $6::timestamptz)`,
);

const insertPassword = statement<
  never,
  [userId: string, id: string, hash: string, schemeVersion: number, createdAt: Date]
>(
  'test-insert-password',
  `insert into user_passwords (user_id, id, hash, scheme_version, created_at)
  values ($1::uuid, $2::uuid, $3::text, $4::integer, $5::timestamptz)`,
);

/** Puts an account into the database in whatever state a test needs, past all rules. */
export async function insertTestAccount(
  database: Queryable,
  account: TestAccount,
  options: { readonly hasher?: PasswordHasher; readonly now?: number } = {},
): Promise<UserId> {
  const now = options.now ?? Date.UTC(2026, 0, 1);
  const id = newId<'user'>(now);
  const at = new Date(now);
  await database.execute(insertAccount, [
    toUuid(id),
    account.username,
    account.usernameKey ?? account.username.toLowerCase(),
    at,
    account.isLocked === true ? at : null,
    account.isDeactivated === true ? at : null,
  ]);
  if (account.email !== undefined) {
    const email = parseEmailAddress(account.email);
    if (email === undefined) throw new Error(`${account.email} is no e-mail address`);
    await addEmail(database, id, email, now);
  }
  if (account.password !== undefined) {
    const stored = await (options.hasher ?? cheapHasher()).hash(account.password, { address: 'test' });
    if (stored === undefined) throw new Error('the password is too long for the scheme');
    await database.execute(insertPassword, [toUuid(id), toUuid(newId(now)), stored.hash, stored.schemeVersion, at]);
  }
  return id;
}
