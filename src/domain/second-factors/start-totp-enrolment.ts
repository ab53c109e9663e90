import { ENROLMENT_SECONDS } from '#domain/records/liveness/one-time-codes.ts';
import { newTotpSecret, sealTotpSecret } from '#domain/records/totp-secret.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, TotpEnrolmentId, UserId } from '#vocabulary/ids.ts';

export interface StartedTotpEnrolment {
  readonly id: TotpEnrolmentId;
  readonly secret: Buffer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Creates a secret for an authenticator app that a signed-in user sets up. It takes effect once the user has entered a
 * valid code. Only the browser session that started the enrollment can complete it. A session has one enrollment: a new
 * one replaces the previous one.
 * @returns undefined if the account already has an app
 */
export async function startTotpEnrolment(
  { database, clock, keyRing }: { readonly database: Queryable; readonly clock: Clock; readonly keyRing: KeyRing },
  { user, session }: { readonly user: UserId; readonly session: BrowserSessionId },
): Promise<StartedTotpEnrolment | undefined> {
  const now = clock.now();
  const id: TotpEnrolmentId = newId(now);
  const secret = newTotpSecret();
  const row = await database.first(insertEnrolment, {
    id: toUuid(id),
    userId: toUuid(user),
    sessionId: toUuid(session),
    secretSealed: sealTotpSecret(keyRing, 'user_totp_enrolments', id, secret),
    now: new Date(now),
  });
  return row === undefined ? undefined : { id, secret, expiresAt: now + ENROLMENT_SECONDS * 1000 };
}

const insertEnrolment = statement<
  { id: string },
  {
    readonly id: string;
    readonly userId: string;
    readonly sessionId: string;
    readonly secretSealed: Buffer;
    readonly now: Date;
  }
>(
  'start-totp-enrolment',
  `insert into user_totp_enrolments (id, user_id, user_session_id, secret_sealed, created_at)
   select :id::uuid, :userId::uuid, :sessionId::uuid, :secretSealed::bytea, :now::timestamptz
    where not exists (select from user_totp_secrets t where t.user_id = :userId::uuid)
   on conflict (user_session_id) do update set
     id = excluded.id, secret_sealed = excluded.secret_sealed, created_at = excluded.created_at, wrong_codes = 0
   returning id`,
);
