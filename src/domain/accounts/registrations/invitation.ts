/**
 * Invitations: registration tokens that a link brings, possibly for one email address (administration A-16). The link
 * in an email also contains a proof that it was sent to that address. The proof is not stored, and administrators never
 * see it: with the plain link, the address must be verified with a code.
 */
import { createHmac } from 'node:crypto';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { refundCtes } from '#domain/limits/charge-sql.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { registrationTokenIsValid } from '#domain/records/liveness/accounts.ts';
import { equalSecrets } from '#platform/base/secret.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { EmailAddress } from '../email-address.ts';
import { mayBeRegistrationToken, type RegistrationTokenDeps, registrationTokenHmac } from './registration-token.ts';

/** What a registration link contains. */
export interface PresentedInvitation {
  readonly token: string;
  /** Only in links sent by email. */
  readonly proof: string | undefined;
}

/** A valid token. */
export interface Invitation {
  /** Of the token, as stored. */
  readonly tokenId: string;
  /** The only address that can register; undefined: any, or none. */
  readonly email: { readonly email: EmailAddress; readonly isProven: boolean } | undefined;
}

/**
 * Returns the proof in an emailed link.
 * @param tokenId as stored; @param queuedAt when the email was queued, in milliseconds since the epoch
 */
export function invitationProof(
  { registrationTokens }: Pick<SecretKeys, 'registrationTokens'>,
  tokenId: string,
  queuedAt: number,
): string {
  // No token starts like this, so that no proof is the HMAC of a token.
  return createHmac('sha256', registrationTokens).update(`mail|${tokenId}|${queuedAt}`).digest('base64url');
}

/** Refunds the rate limit if it finds a valid token. */
const findValid = statement<
  { id: string; email: string | null; email_key: string | null; mail_queued_at: number | null },
  {
    readonly tokenHmac: Buffer;
    readonly now: Date;
    readonly keys: readonly string[];
    readonly seconds: readonly number[];
  }
>(
  'find-invitation',
  `with found as (
    select t.id, t.email, t.email_key, ${ms('t.mail_queued_at')} as mail_queued_at
    from user_registration_tokens t
    where t.token_hmac = :tokenHmac::bytea and ${registrationTokenIsValid('t', ':now::timestamptz')}
  ),
  ${refundCtes(':keys::text[]', ':seconds::float8[]', 'exists (select from found)')}
  select found.id, found.email, found.email_key, found.mail_queued_at from found`,
);

/**
 * Finds the invitation of a link. Wrong tokens and wrong proofs count against the IP address, like tokens typed in
 * (security S-92). Returns undefined if the token is not valid, or the limit is reached.
 */
export async function findInvitation(
  deps: RegistrationTokenDeps,
  { token, proof }: PresentedInvitation,
  address: string | undefined,
): Promise<Invitation | undefined> {
  const { database, clock, limits, secretKeys } = deps;
  if (!mayBeRegistrationToken(token)) return undefined;
  const charge = { name: 'registration-token', limiter: limits.registrationToken, address } as const;
  const taken = await chargeAddress(deps, charge);
  if (!taken.ok) return undefined;
  const tokenHmac = registrationTokenHmac(secretKeys, token);
  const row = await database.first(findValid, { tokenHmac, now: new Date(clock.now()), ...taken.charges });
  if (row === undefined) return undefined;
  const { id: tokenId, email, email_key: key, mail_queued_at: queuedAt } = row;
  const isVerified =
    proof !== undefined && queuedAt !== null && equalSecrets(proof, invitationProof(secretKeys, tokenId, queuedAt));
  if (proof !== undefined && !isVerified) await chargeAddress(deps, charge);
  // Without a mail transport, accounts have no address.
  if (email === null || key === null || !(isVerified || deps.sendsMail)) return { tokenId, email: undefined };
  return { tokenId, email: { email: { address: email, key }, isProven: isVerified } };
}
