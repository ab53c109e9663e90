import { enrolmentIsExhausted, enrolmentIsExpired } from '#domain/records/liveness/one-time-codes.ts';
import { openTotpSecret } from '#domain/records/totp-secret.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { matchingTotpStep } from '#protocol/one-time-codes/totp.ts';
import { parseSixDigits } from '#protocol/one-time-codes/typed-codes.ts';
import type { BrowserSessionId, TotpEnrolmentId } from '#vocabulary/ids.ts';
import { lockAccount } from './lock-account.ts';
import type { FactorChange } from './record-factor-change.ts';
import { type StoreTotpDeps, storeTotp } from './store-totp.ts';

export interface CompleteTotpDeps extends StoreTotpDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TotpCompletion extends Omit<FactorChange, 'now'> {
  readonly enrolment: TotpEnrolmentId;
  /** Only the session that started the enrollment can complete it. */
  readonly session: BrowserSessionId;
  /** As entered by the user. */
  readonly code: string;
}

export type CompleteTotpOutcome =
  /** The recovery codes in display format, shown once. */
  | { readonly ok: true; readonly recoveryCodes: readonly string[] }
  /** `expired`: also if the enrollment is unknown, belongs to another session, or the account already has an app. */
  | { readonly ok: false; readonly reason: 'expired' | 'too-many-codes' | 'wrong' };

/**
 * Stores the secret of an enrollment after the user has entered a valid code, and creates a set of recovery codes. The
 * attempt is counted before the code is checked, so that parallel guesses have no advantage.
 */
export async function completeTotpEnrolment(
  deps: CompleteTotpDeps,
  completion: TotpCompletion,
): Promise<CompleteTotpOutcome> {
  const { database, clock, keyRing, log } = deps;
  const { user, enrolment } = completion;
  const code = parseSixDigits(completion.code);
  if (code === undefined) return { ok: false, reason: 'wrong' };
  const now = clock.now();
  const own = { id: toUuid(enrolment), userId: toUuid(user), sessionId: toUuid(completion.session) };
  const tried = await database.first(countTry, { ...own, now: new Date(now) });
  if (tried === undefined) return { ok: false, reason: 'expired' };
  if (tried.secret_sealed === null) return { ok: false, reason: 'too-many-codes' };
  const secret = openTotpSecret(keyRing, 'user_totp_enrolments', enrolment, tried.secret_sealed);
  const step = matchingTotpStep(secret, code, now);
  if (step === undefined) return { ok: false, reason: 'wrong' };
  const stored = await database.transaction(
    async (transaction) => {
      if (!(await lockAccount(transaction, user))) return undefined;
      if ((await transaction.execute(consumeEnrolment, own)) === 0) return undefined;
      return await storeTotp(deps, transaction, { ...completion, secret, step, now });
    },
    { isRepeatable: true },
  );
  if (stored?.ok !== true) return { ok: false, reason: 'expired' };
  log.info('totp.added', 'authenticator app set up', { user });
  return stored;
}

/** No row: the enrollment does not exist or has ended. No secret: too many codes were wrong. */
const countTry = statement<
  { secret_sealed: Buffer | null },
  { readonly id: string; readonly userId: string; readonly sessionId: string; readonly now: Date }
>(
  'count-totp-enrolment-try',
  `with own as materialized (
    -- Waits for the end of another try: one that is over by then is not found.
    select e.id from user_totp_enrolments e
     where e.id = :id::uuid and e.user_id = :userId::uuid and e.user_session_id = :sessionId::uuid
       and not (${enrolmentIsExpired('e', ':now::timestamptz')})
       for update of e
  ), tried as (
    update user_totp_enrolments e set wrong_codes = e.wrong_codes + 1
      from own where e.id = own.id and not (${enrolmentIsExhausted('e')})
    returning e.secret_sealed
  )
  select tried.secret_sealed from own left join tried on true`,
);

/** Deletes no row if another browser of the account was faster, or the app was removed since. */
const consumeEnrolment = statement<never, { readonly id: string; readonly userId: string; readonly sessionId: string }>(
  'consume-totp-enrolment',
  `delete from user_totp_enrolments e
    where e.id = :id::uuid and e.user_id = :userId::uuid and e.user_session_id = :sessionId::uuid`,
);
