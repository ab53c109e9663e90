/**
 * The offer to add a passkey after a sign-in with a password (browser-flows 4.6): at most once in 30 days, only to users
 * without a passkey, and never again once they asked not to be.
 */
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';

const REPEAT_MS = 30 * 86_400_000;

interface OfferParams {
  readonly userId: string;
  readonly now: Date;
  readonly since: Date;
}

// The row decides, so of concurrent sign-ins only one gets the offer.
const take = statement<{ user_id: string }, OfferParams>(
  'take-passkey-offer',
  `insert into user_passkey_offers as offer (user_id, offered_at)
   select :userId::uuid, :now::timestamptz
    where not exists (select from user_passkeys k where k.user_id = :userId::uuid)
   on conflict (user_id) do update set offered_at = excluded.offered_at
    where offer.declined_at is null and offer.offered_at <= :since::timestamptz
   returning user_id`,
);

const find = statement<{ user_id: string }, Omit<OfferParams, 'now'>>(
  'find-passkey-offer',
  `select offer.user_id from user_passkey_offers offer
    where offer.user_id = :userId::uuid and offer.declined_at is null and offer.offered_at > :since::timestamptz
      and not exists (select from user_passkeys k where k.user_id = offer.user_id)`,
);

const decline = statement<never, { readonly userId: string; readonly now: Date }>(
  'decline-passkey-offer',
  `update user_passkey_offers set declined_at = :now::timestamptz
    where user_id = :userId::uuid and declined_at is null`,
);

/** Records the offer if one is due. @returns whether it is */
export async function takePasskeyOffer(queryable: Queryable, userId: UserId, now: number): Promise<boolean> {
  const since = new Date(now - REPEAT_MS);
  return (await queryable.first(take, { userId: toUuid(userId), now: new Date(now), since })) !== undefined;
}

/** Returns whether the user was offered a passkey since then, has neither declined for good nor added one. */
export async function isPasskeyOffered(queryable: Queryable, userId: UserId, since: number): Promise<boolean> {
  return (await queryable.first(find, { userId: toUuid(userId), since: new Date(since) })) !== undefined;
}

/** The user is never asked again. */
export async function declinePasskeyOffer(queryable: Queryable, userId: UserId, now: number): Promise<void> {
  await queryable.execute(decline, { userId: toUuid(userId), now: new Date(now) });
}
