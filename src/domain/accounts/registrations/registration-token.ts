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
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';

const TOKEN = /^[A-Za-z0-9._~-]{1,64}$/;

/** Returns whether a text can be a registration token: 1 to 64 characters that need no escaping in a URL. */
export function isRegistrationToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the lookup key of a token. */
export function registrationTokenHmac(
  { registrationTokens }: Pick<SecretKeys, 'registrationTokens'>,
  token: string,
): Buffer {
  return createHmac('sha256', registrationTokens).update(token).digest();
}

const findAttached = statement<{ is_valid: boolean }, { readonly id: string; readonly now: Date }>(
  'find-attached-registration-token',
  `select ${registrationTokenIsValid('t', ':now::timestamptz')} as is_valid
  from user_registrations r join user_registration_tokens t on t.id = r.registration_token_id
  where r.id = :id::uuid`,
);

/** Returns the state of the registration's token, which may have become invalid in the meantime. */
export async function findAttachedToken(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  id: RegistrationId,
): Promise<'none' | 'valid' | 'invalid'> {
  const row = await database.first(findAttached, { id: toUuid(id), now: new Date(clock.now()) });
  if (row === undefined) return 'none';
  return row.is_valid ? 'valid' : 'invalid';
}

/** Refunds the rate limit if it finds a valid token. */
const attachToken = statement<
  { is_attached: boolean },
  {
    readonly id: string;
    readonly tokenHmac: Buffer;
    readonly now: Date;
    readonly keys: readonly string[];
    readonly seconds: readonly number[];
  }
>(
  'attach-registration-token',
  `with attached as (
    update user_registrations r set registration_token_id = t.id
    from user_registration_tokens t
    where r.id = :id::uuid and r.completed_at is null
      and t.token_hmac = :tokenHmac::bytea and ${registrationTokenIsValid('t', ':now::timestamptz')}
    returning r.id
  ),
  ${refundCtes(':keys::text[]', ':seconds::float8[]', 'exists (select from attached)')}
  select exists (select from attached) as is_attached`,
);

export interface RegistrationTokenDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
  readonly limits: { readonly registrationToken: Limiter };
}

export type TokenOutcome =
  | { readonly ok: true }
  /** Does not distinguish unknown, revoked, expired and used-up tokens. */
  | { readonly ok: false; readonly reason: 'invalid-token' }
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
  const { database, clock, limits, secretKeys } = deps;
  const limiter = limits.registrationToken;
  const taken = await chargeAddress(deps, { name: 'registration-token', limiter, address });
  if (!taken.ok) return { ...taken, reason: 'rate-limited' };
  if (!isRegistrationToken(token)) return { ok: false, reason: 'invalid-token' };
  const row = await database.first(attachToken, {
    id: toUuid(id),
    tokenHmac: registrationTokenHmac(secretKeys, token),
    now: new Date(clock.now()),
    ...taken.charges,
  });
  return row?.is_attached === true ? { ok: true } : { ok: false, reason: 'invalid-token' };
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
