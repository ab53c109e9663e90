import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { nonceOf } from '#domain/browser-sessions/known-browsers.ts';
import { refundTokens } from '#domain/limits/rate-limits.ts';
import { consumeTotpCode } from '#domain/second-factors/consume-totp-code.ts';
import { type AttemptDeps, countAttempt } from '#domain/second-factors/count-attempt.ts';
import { endPendingLogin } from '#domain/second-factors/end-pending-login.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import { spendRecoveryCode } from '#domain/second-factors/spend-recovery-code.ts';
import type { StoreTotpDeps } from '#domain/second-factors/store-totp.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import {
  type CompletionDeps,
  type CompletionOutcome,
  type CompletionRequest,
  completePendingLogin,
} from './complete-login.ts';

export type CodeDeps = AttemptDeps & CompletionDeps & StoreTotpDeps;

export type CodeKind = 'totp' | 'recovery_code';

export interface CodeAttempt {
  readonly pending: PendingLogin;
  readonly kind: CodeKind;
  /** As entered by the user. */
  readonly code: string;
  readonly request: CompletionRequest;
}

/** Why a code is rejected. */
export type CodeRefusal =
  /** The field was empty, which does not count as an attempt. */
  | { readonly ok: false; readonly reason: 'required' }
  | { readonly ok: false; readonly reason: 'invalid-code' }
  /** The login has reached its limit of wrong codes and ends. */
  | { readonly ok: false; readonly reason: 'too-many-attempts' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

export type CodeOutcome = CompletionOutcome | CodeRefusal;

/**
 * Completes a pending login with a code (browser-flows 4.2, 4.3). The same transaction consumes the code and opens or
 * renews the session.
 */
export async function tryCode(deps: CodeDeps, attempt: CodeAttempt): Promise<CodeOutcome> {
  const { pending, kind, request } = attempt;
  const outcome = await withinLimits(deps, attempt, (isLast) =>
    refusableTransaction<CodeOutcome>(
      deps.database,
      async (transaction, refuse) => {
        if (!(await isRight(deps, transaction, attempt))) return wrongCode(isLast);
        const completed = await completePendingLogin(deps, transaction, pending, { kind }, request);
        return completed.ok ? completed : refuse(completed);
      },
      { isRepeatable: true },
    ),
  );
  return countFactor(deps, pending, kind, outcome);
}

/**
 * Charges the rate limits for a code, and refunds them if it was correct.
 * @param work receives whether a wrong code is the last one allowed
 */
export async function withinLimits<Outcome extends { readonly ok: boolean; readonly reason?: string }>(
  deps: AttemptDeps,
  { pending, code, request }: Pick<CodeAttempt, 'pending' | 'code' | 'request'>,
  work: (isLast: boolean) => Promise<Outcome>,
): Promise<Outcome | CodeRefusal | Extract<CompletionOutcome, { readonly reason: 'not-open' }>> {
  if (code.trim() === '') return { ok: false, reason: 'required' };
  const { address, knownBrowsers } = request;
  const counted = await countAttempt(deps, pending, { address, nonce: nonceOf(knownBrowsers, pending.user.id) });
  if (!counted.ok) return counted;
  const outcome = await work(counted.isLast);
  if (outcome.ok) await refundTokens(deps.database, counted.charges);
  else if (outcome.reason === 'too-many-attempts') await giveUp(deps, pending, request);
  return outcome;
}

/** Ends the login and records, once per login, that somebody who knows the password is guessing codes. */
async function giveUp(
  { clock, database }: AttemptDeps,
  pending: PendingLogin,
  { address, userAgent }: CompletionRequest,
): Promise<void> {
  const now = clock.now();
  await database.transaction(
    async (transaction) => {
      await endPendingLogin(transaction, pending.id, now);
      const detail = { reason: 'second_factor' };
      const event = { kind: 'login_failed', at: now, userId: pending.user.id, address, userAgent, detail } as const;
      await recordAuditEvent(transaction, event);
    },
    { isRepeatable: true },
  );
}

export function wrongCode(isLast: boolean): CodeRefusal {
  return { ok: false, reason: isLast ? 'too-many-attempts' : 'invalid-code' };
}

async function isRight(
  deps: CodeDeps,
  database: Transaction,
  { pending, kind, code, request }: CodeAttempt,
): Promise<boolean> {
  const { keyRing, secretKeys, sendsNotices, clock } = deps;
  const typed = { user: pending.user.id, code, now: clock.now() };
  const { address, userAgent, language } = request;
  const outcome =
    kind === 'totp'
      ? await consumeTotpCode({ database, keyRing }, typed)
      : await spendRecoveryCode({ database, secretKeys, sendsNotices }, { ...typed, address, userAgent, language });
  return outcome.ok;
}

/** Reports the outcome in the metrics, and wrong codes in the log. */
export function countFactor<Outcome extends { readonly ok: boolean; readonly reason?: string }>(
  { log }: Pick<CodeDeps, 'log'>,
  pending: Pick<PendingLogin, 'user' | 'firstFactor' | 'sessionId'>,
  method: CodeKind | 'passkey' | 'setup',
  outcome: Outcome,
): Outcome {
  const result = resultOf(outcome);
  if (result === undefined) return outcome;
  metrics?.count('latchkey_second_factor_total', { method, result });
  // The password step was not counted yet, because the sign-in ends here.
  const isSignIn = pending.firstFactor.kind === 'password' && pending.sessionId === undefined;
  if (outcome.ok && isSignIn) metrics?.count('latchkey_login_attempts_total', { result: 'success' });
  if (result === 'bad_code' || result === 'too_many_attempts') {
    log.info('auth.refused', 'wrong second-factor code', { code: result, user: pending.user.id });
  }
  return outcome;
}

/** Returns undefined for an empty field, which is not a failed attempt. */
function resultOf({ ok, reason }: { readonly ok: boolean; readonly reason?: string }): string | undefined {
  if (ok) return 'success';
  switch (reason) {
    case 'required':
      return undefined;
    case 'invalid-code':
    case 'failed':
      return 'bad_code';
    case 'too-many-attempts':
      return 'too_many_attempts';
    case 'rate-limited':
      return 'rate_limited';
    case 'locked':
    case 'deactivated':
      return 'locked';
    default:
      return 'ended';
  }
}
