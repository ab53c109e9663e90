import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid, type Ulid } from '#platform/base/ids.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import { groupsNamed } from '../groups/group.ts';
import { registrationTokenHmac } from './registration-token.ts';

/** 71 bits. */
const TOKEN_CHARACTERS = 12;

/** Returns no row if the token already exists. */
const insertToken = statement<
  { id: string },
  {
    readonly id: string;
    readonly tokenHmac: Buffer;
    readonly tokenSealed: Buffer;
    readonly usageLimit: number | null;
    readonly createdAt: Date;
    readonly expiresAt: Date | null;
    readonly email: string | null;
    readonly emailKey: string | null;
    readonly groupIds: readonly string[] | null;
    readonly note: string | null;
    readonly createdBy: string | null;
    readonly createdByClient: string | null;
  }
>(
  'insert-registration-token',
  `insert into user_registration_tokens (id, token_hmac, token_sealed, usage_limit, created_at, expires_at, email,
    email_key, group_ids, note, created_by, created_by_client)
  values (:id::uuid, :tokenHmac::bytea, :tokenSealed::bytea, :usageLimit::integer, :createdAt::timestamptz,
    :expiresAt::timestamptz, :email::text, :emailKey::text, :groupIds::uuid[], :note::text, :createdBy::uuid,
    :createdByClient::uuid)
  on conflict (token_hmac) do nothing
  returning id`,
);

export interface IssuedToken {
  readonly id: Ulid<'registration-token'>;
  readonly token: string;
  readonly expiresAt: Date | undefined;
}

/** Returns the context that binds a token's sealed text to its row. */
function sealedFor(id: string): string {
  return `user_registration_tokens|token_sealed|${id}`;
}

/** Encrypts the text of a token for its row. */
export function sealRegistrationToken(keyRing: KeyRing, id: Ulid<'registration-token'>, token: string): Buffer {
  return keyRing.seal('column', token, sealedFor(id));
}

/** Decrypts the text of a token, for administrators. @throws Error if none of the keys can decrypt it */
export function openRegistrationToken(keyRing: KeyRing, id: string, sealed: Buffer): string {
  const text = keyRing.open('column', sealed, sealedFor(id));
  if (text === undefined) throw new Error(`registration token ${id} cannot be decrypted with any configured key`);
  return text.toString();
}

export interface WantedToken {
  /** Valid according to `isRegistrationToken`; undefined: generate one. */
  readonly token: string | undefined;
  /** Number of accounts that it can create; undefined: unlimited. 1 with `email`. */
  readonly usageLimit: number | undefined;
  readonly expiresAt: Date | undefined;
  /** The only address that can register with it; undefined: any. */
  readonly email?: EmailAddress | undefined;
  /** Names of groups that accounts created with it join. */
  readonly groups?: readonly string[] | undefined;
  /** For administrators. */
  readonly note?: string | undefined;
  /** Undefined: an operator at the command line. */
  readonly createdBy?: { readonly user: UserId | undefined; readonly client: ClientId | undefined };
}

/**
 * Creates a registration token. Expects the caller's transaction if it has groups.
 * @returns undefined if a token with this text already exists
 * @throws LatchkeyError `group_exists` if one of the groups is being deleted
 */
export async function issueRegistrationToken(
  deps: {
    readonly database: Queryable;
    readonly clock: Clock;
    readonly keyRing: KeyRing;
    readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
  },
  wanted: WantedToken,
): Promise<IssuedToken | undefined> {
  const now = deps.clock.now();
  const id = newId<'registration-token'>(now);
  const token = wanted.token ?? randomAlphanumeric(TOKEN_CHARACTERS);
  const { expiresAt, email, groups = [], createdBy } = wanted;
  const joined = await groupsNamed(deps.database, sortedGroups(groups), now);
  const row = await deps.database.first(insertToken, {
    id: toUuid(id),
    tokenHmac: registrationTokenHmac(deps.secretKeys, token),
    tokenSealed: sealRegistrationToken(deps.keyRing, id, token),
    usageLimit: wanted.usageLimit ?? null,
    createdAt: new Date(now),
    expiresAt: expiresAt ?? null,
    email: email?.address ?? null,
    emailKey: email?.key ?? null,
    groupIds: joined.length === 0 ? null : joined.map((group) => toUuid(group.id)),
    note: wanted.note ?? null,
    createdBy: createdBy?.user === undefined ? null : toUuid(createdBy.user),
    createdByClient: createdBy?.client === undefined ? null : toUuid(createdBy.client),
  });
  return row === undefined ? undefined : { id, token, expiresAt };
}
