import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { enrollPendingLogin, keepSetup } from '#domain/second-factors/enroll-pending-login.ts';
import { openSetup, sealSetup } from '#domain/second-factors/factor-setup.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import { storeTotp } from '#domain/second-factors/store-totp.ts';
import { matchingTotpStep } from '#protocol/one-time-codes/totp.ts';
import { parseSixDigits } from '#protocol/one-time-codes/typed-codes.ts';
import type { CompletionOutcome, CompletionRequest } from './complete-login.ts';
import { type CodeDeps, type CodeRefusal, countFactor, withinLimits, wrongCode } from './try-code.ts';

export interface SetupAttempt {
  readonly pending: PendingLogin;
  /** As entered by the user. */
  readonly code: string;
  readonly request: CompletionRequest;
}

export type SetupOutcome =
  | { readonly ok: true }
  | CodeRefusal
  /** The account already has a factor, is locked or deactivated, or the login has ended. */
  | Extract<CompletionOutcome, { readonly reason: 'not-open' }>;

/**
 * Enrolls a user who must have a second factor (browser-flows 4.5). The code proves that the user's app has the secret.
 * Does not sign the user in, because they have to save the recovery codes first. An account that already has a factor
 * keeps it.
 */
export async function setUpFactor(deps: CodeDeps, attempt: SetupAttempt): Promise<SetupOutcome> {
  const { pending, code, request } = attempt;
  const outcome = await withinLimits<SetupOutcome>(deps, attempt, async (isLast) => {
    const { clock, database, keyRing } = deps;
    const { setupSealed, user } = pending;
    if (setupSealed === undefined) return { ok: false, reason: 'not-open' };
    const now = clock.now();
    const { secret } = openSetup(keyRing, pending.id, setupSealed);
    const digits = parseSixDigits(code);
    const step = digits === undefined ? undefined : matchingTotpStep(secret, digits, now);
    if (step === undefined) return wrongCode(isLast);
    const { address, userAgent, language } = request;
    const verified = { user: user.id, secret, step, address, userAgent, language, now };
    return await refusableTransaction<SetupOutcome>(
      database,
      async (transaction, refuse) => {
        // Same lock order as on completion: the login, then the account.
        const isOpen = await enrollPendingLogin(transaction, pending.id, now);
        const stored = isOpen ? await storeTotp(deps, transaction, verified) : undefined;
        if (stored?.ok !== true) return refuse({ ok: false, reason: 'not-open' });
        const setup = { secret, recoveryCodes: stored.recoveryCodes };
        await keepSetup(transaction, pending.id, sealSetup(keyRing, pending.id, setup));
        return { ok: true };
      },
      { isRepeatable: true },
    );
  });
  return countFactor(deps, pending, 'setup', outcome);
}
