import { deleteOldest, type SweepRow } from '#domain/clean-up/sweep.ts';
import { challengeIsOpen } from '#domain/records/liveness/passkeys.ts';
import { newId, toUuid, type Ulid } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, PendingLoginId } from '#vocabulary/ids.ts';

/** `login`: the user is not known yet. `second_factor`: after a password. */
export type ChallengePurpose = 'login' | 'second_factor' | 'reauth' | 'registration';

/** The browser that a challenge is for, identified by its `login` cookie or its session. */
export type ChallengeHolder =
  | { readonly kind: 'login'; readonly id: PendingLoginId }
  | { readonly kind: 'session'; readonly id: BrowserSessionId };

export interface Challenge {
  readonly id: Ulid<'passkey-challenge'>;
  /** 32 random bytes in base64url, known only to the browser. */
  readonly text: string;
}

const LIFETIME_MS = 5 * 60_000;
/** Timeout sent to browsers, which may use a shorter one. */
export const CHALLENGE_TIMEOUT_MS = LIFETIME_MS;

const insertChallenge = statement<
  never,
  {
    readonly id: string;
    readonly challengeHash: Buffer;
    readonly purpose: ChallengePurpose;
    readonly loginId: string | null;
    readonly sessionId: string | null;
    readonly expiresAt: Date;
  }
>(
  'insert-webauthn-challenge',
  `insert into webauthn_challenges (id, challenge_hash, purpose, login_id, user_session_id, expires_at)
   values (:id::uuid, :challengeHash::bytea, :purpose::text, :loginId::uuid, :sessionId::uuid, :expiresAt::timestamptz)`,
);

/** @param now milliseconds since the epoch */
export async function createChallenge(
  queryable: Queryable,
  {
    purpose,
    holder,
    now,
  }: { readonly purpose: ChallengePurpose; readonly holder: ChallengeHolder; readonly now: number },
): Promise<Challenge> {
  const id = newId<'passkey-challenge'>(now);
  const text = randomBase64Url();
  await queryable.execute(insertChallenge, {
    id: toUuid(id),
    challengeHash: sha256(text),
    purpose,
    ...holderParams(holder),
    expiresAt: new Date(now + LIFETIME_MS),
  });
  return { id, text };
}

export type TakeChallengeParams = {
  readonly challengeHash: Buffer;
  readonly purposes: readonly string[];
  readonly loginId: string | null;
  readonly sessionId: string | null;
  readonly now: Date;
};

/**
 * Consumes a challenge, even if the response to it turns out to be invalid. Does not find challenges of other browsers.
 * Returns `id` and `purpose`.
 * @see TakeChallengeParams
 */
export const TAKE_CHALLENGE = `delete from webauthn_challenges c
  where c.challenge_hash = :challengeHash::bytea and c.purpose = any(:purposes::text[])
    and (c.login_id = :loginId::uuid or c.user_session_id = :sessionId::uuid) and ${challengeIsOpen('c')}
  returning c.id, c.purpose`;

export function holderParams(holder: ChallengeHolder): Pick<TakeChallengeParams, 'loginId' | 'sessionId'> {
  return holder.kind === 'login'
    ? { loginId: toUuid(holder.id), sessionId: null }
    : { loginId: null, sessionId: toUuid(holder.id) };
}

export const passkeySweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-webauthn-challenges',
    minute: 44,
    batch: deleteOldest('sweep-webauthn-challenges', {
      table: 'webauthn_challenges',
      orderedBy: 'expires_at',
      isDue: `not ${challengeIsOpen('t')}`,
    }),
    parameters: (now) => ({ now: new Date(now) }),
  },
];
