/**
 * Registration tokens, table `user_registration_tokens`: invitations issued by an operator. A registration gets its
 * token in a separate step, or from the URL that starts it. The token is consumed when the registration becomes an
 * account, so a failed registration wastes no invitation.
 *
 * The text is stored encrypted. Lookups use its HMAC under a key that never changes during the life of the database.
 */
import { createHmac } from 'node:crypto';
import type { Limiter } from '#config/sections/rate-limiting.ts';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { refundCtes } from '#domain/limits/charge-sql.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { registrationTokenIsValid } from '#domain/records/liveness/accounts.ts';
import { groupExists } from '#domain/records/liveness/groups.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RegistrationId, UserId } from '#vocabulary/ids.ts';
import { setGroups } from '../set-groups.ts';

const MAX_CHARACTERS = 255;
const TOKEN = /^[A-Za-z0-9._~-]{1,64}$/;

/** Returns whether a text can become a registration token: 1 to 64 characters that need no escaping in a URL. */
export function isRegistrationToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Returns whether a token with this text can exist. Imported tokens may contain any characters. Proofs of invitations
 * are HMACs of texts that start with `mail|`.
 */
export function mayBeRegistrationToken(text: string): boolean {
  return text !== '' && text.length <= MAX_CHARACTERS && !text.startsWith('mail|');
}

/** Returns the lookup key of a token. */
export function registrationTokenHmac(
  { registrationTokens }: Pick<SecretKeys, 'registrationTokens'>,
  token: string,
): Buffer {
  return createHmac('sha256', registrationTokens).update(token).digest();
}

/**
 * SQL condition: the token is for any address, or for that of the registration. Without a mail transport, a registration
 * without an address may use it, because the address cannot be verified. Expects `:sendsMail`.
 * @param token alias of `user_registration_tokens`; @param emailKey of the registration's address, or null
 */
export function tokenFitsEmail(token: string, emailKey: string): string {
  return `(${token}.email_key is null or coalesce(${token}.email_key = ${emailKey}, not :sendsMail::boolean))`;
}

const EMAIL_KEY = `(select a.email_key from user_email_authentications a where a.id = r.email_authentication_id)`;

const findAttached = statement<
  { is_valid: boolean },
  { readonly id: string; readonly now: Date; readonly sendsMail: boolean }
>(
  'find-attached-registration-token',
  `select ${registrationTokenIsValid('t', ':now::timestamptz')} and ${tokenFitsEmail('t', EMAIL_KEY)} as is_valid
  from user_registrations r join user_registration_tokens t on t.id = r.registration_token_id
  where r.id = :id::uuid`,
);

/** Returns the state of the registration's token, which may have become invalid in the meantime. */
export async function findAttachedToken(
  { database, clock, sendsMail }: Pick<RegistrationTokenDeps, 'database' | 'clock' | 'sendsMail'>,
  id: RegistrationId,
): Promise<'none' | 'valid' | 'invalid'> {
  const row = await database.first(findAttached, { id: toUuid(id), now: new Date(clock.now()), sendsMail });
  if (row === undefined) return 'none';
  return row.is_valid ? 'valid' : 'invalid';
}

/** Refunds the rate limit if it finds a valid token. */
const attachToken = statement<
  { is_valid: boolean; is_attached: boolean },
  {
    readonly id: string;
    readonly tokenHmac: Buffer;
    readonly now: Date;
    readonly sendsMail: boolean;
    readonly keys: readonly string[];
    readonly seconds: readonly number[];
  }
>(
  'attach-registration-token',
  `with valid as (
    select t.id, t.email_key from user_registration_tokens t
    where t.token_hmac = :tokenHmac::bytea and ${registrationTokenIsValid('t', ':now::timestamptz')}
  ),
  attached as (
    update user_registrations r set registration_token_id = valid.id
    from valid
    where r.id = :id::uuid and r.completed_at is null and ${tokenFitsEmail('valid', EMAIL_KEY)}
    returning r.id
  ),
  ${refundCtes(':keys::text[]', ':seconds::float8[]', 'exists (select from valid)')}
  select exists (select from valid) as is_valid, exists (select from attached) as is_attached`,
);

export interface RegistrationTokenDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
  readonly limits: { readonly registrationToken: Limiter };
  /** Whether codes can be sent by email. */
  readonly sendsMail: boolean;
}

export type TokenOutcome =
  | { readonly ok: true }
  /** Does not distinguish unknown, revoked, expired and used-up tokens. */
  | { readonly ok: false; readonly reason: 'invalid-token' }
  /** The token is valid for another email address. */
  | { readonly ok: false; readonly reason: 'other-email' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/**
 * Attaches a token to an open registration. Only wrong tokens count against the IP address (security S-92). The limit
 * is charged before the lookup, so parallel guesses gain nothing over sequential ones.
 */
export async function attachRegistrationToken(
  deps: RegistrationTokenDeps,
  id: RegistrationId,
  token: string,
  address: string | undefined,
): Promise<TokenOutcome> {
  const { database, clock, limits, secretKeys, sendsMail } = deps;
  const limiter = limits.registrationToken;
  const taken = await chargeAddress(deps, { name: 'registration-token', limiter, address });
  if (!taken.ok) return { ...taken, reason: 'rate-limited' };
  if (!mayBeRegistrationToken(token)) return { ok: false, reason: 'invalid-token' };
  const row = await database.first(attachToken, {
    id: toUuid(id),
    tokenHmac: registrationTokenHmac(secretKeys, token),
    now: new Date(clock.now()),
    sendsMail,
    ...taken.charges,
  });
  if (row?.is_attached === true) return { ok: true };
  return { ok: false, reason: row?.is_valid === true ? 'other-email' : 'invalid-token' };
}

const consumeToken = statement<never, { readonly registrationId: string; readonly now: Date }>(
  'consume-registration-token',
  `update user_registration_tokens t set times_used = t.times_used + 1, last_used_at = :now::timestamptz
  where t.id = (select r.registration_token_id from user_registrations r where r.id = :registrationId::uuid)
    and ${registrationTokenIsValid('t', ':now::timestamptz')}`,
);

/**
 * Counts a use of the registration's token, with one statement of the transaction that creates the account. If several
 * registrations want the last use, the first to commit gets it.
 * @param registrationId as returned by `toUuid`
 * @returns false if the token is no longer valid
 */
export async function consumeRegistrationToken(
  transaction: Queryable,
  registrationId: string,
  now: Date,
): Promise<boolean> {
  return (await transaction.execute(consumeToken, { registrationId, now })) > 0;
}

/** Also returns the names of the token's groups. */
const insertUse = statement<
  { created_by: string | null; groups: readonly string[] },
  { readonly registrationId: string; readonly userId: string; readonly now: Date }
>(
  'insert-registration-token-use',
  `with used as (
    insert into user_registration_token_uses (token_id, user_id, used_at)
    select r.registration_token_id, :userId::uuid, :now::timestamptz
    from user_registrations r where r.id = :registrationId::uuid
    returning token_id
  )
  select t.created_by, array(
    select g.name from user_groups g where g.id = any(t.group_ids) and ${groupExists('g')}
  ) as groups
  from used join user_registration_tokens t on t.id = used.token_id`,
);

/**
 * Records which account a consumed token created, and adds the account to the token's groups on behalf of the
 * administrator who created the token.
 * @param registrationId as returned by `toUuid`; @param now milliseconds since the epoch
 */
export async function recordTokenUse(
  transaction: Queryable,
  { registrationId, userId, now }: { readonly registrationId: string; readonly userId: UserId; readonly now: number },
): Promise<void> {
  const row = await transaction.first(insertUse, { registrationId, userId: toUuid(userId), now: new Date(now) });
  if (row === undefined || row.groups.length === 0) return;
  const admin = row.created_by === null ? {} : { admin: fromUuid(row.created_by) };
  await setGroups(transaction, { user: userId, groups: row.groups, by: { detail: { actor: 'admin', ...admin } }, now });
}
