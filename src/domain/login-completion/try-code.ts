import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { nonceOf } from '#domain/browser-sessions/known-browsers.ts';
import { consumeTotpCode } from '#domain/one-time-codes/consume-totp-code.ts';
import { spendRecoveryCode } from '#domain/one-time-codes/spend-recovery-code.ts';
import type { StoreTotpDeps } from '#domain/one-time-codes/store-totp.ts';
import { type AttemptDeps, countAttempt } from '#domain/pending-logins/count-attempt.ts';
import { endPendingLogin } from '#domain/pending-logins/end-pending-login.ts';
import type { PendingLogin } from '#domain/pending-logins/pending-login.ts';
import { refundTokens } from '#domain/rate-limits/rate-limits.ts';
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
  /** As typed. */
  readonly code: string;
  readonly request: CompletionRequest;
}

/** Why a code is not accepted. */
export type CodeRefusal =
  /** Nothing was typed, which counts for nothing. */
  | { readonly ok: false; readonly reason: 'required' }
  | { readonly ok: false; readonly reason: 'invalid-code' }
  /** The last wrong one that the login takes: it is over. */
  | { readonly ok: false; readonly reason: 'too-many-attempts' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

export type CodeOutcome = CompletionOutcome | CodeRefusal;

/**
 * Completes a pending login with a code (browser-flows 4.2, 4.3). The code is used up by the transaction that gives the
 * session: neither happens without the other.
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
 * Counts a code against the limits, and gives the tokens back when it was right. @param work gets whether a wrong one
 * is the last
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

/** Who knows the password and guesses codes is shown to the owner, once for each login. */
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

/** Reports how it ended, in the metrics and, where somebody was kept out, in the log. */
export function countFactor<Outcome extends { readonly ok: boolean; readonly reason?: string }>(
  { log }: Pick<CodeDeps, 'log'>,
  pending: Pick<PendingLogin, 'user' | 'firstFactor' | 'sessionId'>,
  method: CodeKind | 'passkey' | 'setup',
  outcome: Outcome,
): Outcome {
  const result = resultOf(outcome);
  if (result === undefined) return outcome;
  metrics?.count('latchkey_second_factor_total', { method, result });
  // The password was not counted yet: the sign-in that began with it ends here.
  const isSignIn = pending.firstFactor.kind === 'password' && pending.sessionId === undefined;
  if (outcome.ok && isSignIn) metrics?.count('latchkey_login_attempts_total', { result: 'success' });
  if (result === 'bad_code' || result === 'too_many_attempts') {
    log.info('auth.refused', 'wrong code', { code: result, user: pending.user.id });
  }
  return outcome;
}

/** Undefined: an empty field is a slip, which nobody is refused for. */
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
