import { refusableTransaction } from '#domain/accounts/registrations/refusable-transaction.ts';
import type { ChallengePurpose } from '#domain/passkeys/challenges.ts';
import { logCounter, type PasskeyProof, type ProofDeps, provePasskey } from '#domain/passkeys/prove-passkey.ts';
import { usePasskey } from '#domain/passkeys/used-passkey.ts';
import type { PendingLogin } from '#domain/second-factors/pending-login.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import type { PendingLoginId } from '#vocabulary/ids.ts';
import {
  type CompletionDeps,
  type CompletionOutcome,
  type CompletionRequest,
  completePendingLogin,
  openSessionWithFactor,
} from './complete-login.ts';
import { countFactor } from './try-code.ts';

export type PasskeyDeps = CompletionDeps & ProofDeps & { readonly database: Database };

export interface PasskeyAttempt {
  /** The browser's response. */
  readonly credential: string;
  /** ID in the browser's `login` cookie, whether or not that pending login exists. */
  readonly loginId: PendingLoginId;
  /** The pending login of this browser. */
  readonly pending: PendingLogin | undefined;
  readonly request: CompletionRequest;
}

/** `purpose` of the challenge, if known. */
export type PasskeyLoginOutcome = (CompletionOutcome | { readonly ok: false; readonly reason: 'failed' }) & {
  readonly purpose: ChallengePurpose | undefined;
};

/**
 * Signs in the owner of a passkey, who needs no other factor, or completes the pending login of its owner. The same
 * transaction records the use of the passkey and opens or renews the session.
 */
export async function tryPasskey(deps: PasskeyDeps, attempt: PasskeyAttempt): Promise<PasskeyLoginOutcome> {
  const { pending, credential, loginId } = attempt;
  const now = deps.clock.now();
  const expects = { login: 'anybody' as const, ...(pending !== undefined && { second_factor: pending.user.id }) };
  const holder = { kind: 'login', id: loginId } as const;
  const verified = await provePasskey(deps, { credential, expects, holder, now });
  if (!verified.ok) return count(deps, attempt, { ok: false, reason: 'failed', purpose: verified.purpose });
  return count(deps, attempt, await complete(deps, attempt, verified.proof, now));
}

async function complete(
  deps: PasskeyDeps,
  { pending, request }: PasskeyAttempt,
  proof: PasskeyProof,
  now: number,
): Promise<PasskeyLoginOutcome> {
  const factor = { kind: 'passkey', isSynced: proof.isSynced } as const;
  const open = async (transaction: Transaction): Promise<CompletionOutcome> =>
    proof.purpose === 'second_factor' && pending !== undefined
      ? await completePendingLogin(deps, transaction, pending, factor, request)
      : await openSessionWithFactor(deps, transaction, proof.userId, factor, request);
  const outcome = await refusableTransaction<CompletionOutcome | { readonly ok: false; readonly reason: 'failed' }>(
    deps.database,
    async (transaction, refuse) => {
      if (!(await usePasskey(transaction, proof, now))) return refuse({ ok: false, reason: 'failed' });
      const completed = await open(transaction);
      return completed.ok ? completed : refuse(completed);
    },
    { isRepeatable: true },
  );
  if (!outcome.ok && outcome.reason === 'failed') logCounter(deps.log, proof);
  return { ...outcome, purpose: proof.purpose };
}

function count(deps: PasskeyDeps, { pending }: PasskeyAttempt, outcome: PasskeyLoginOutcome): PasskeyLoginOutcome {
  if (outcome.purpose === 'second_factor' && pending !== undefined)
    return countFactor(deps, pending, 'passkey', outcome);
  metrics?.count('latchkey_login_attempts_total', { result: resultOf(outcome) });
  return outcome;
}

function resultOf(outcome: PasskeyLoginOutcome): string {
  if (outcome.ok) return 'success';
  return outcome.reason === 'locked' || outcome.reason === 'deactivated' ? 'locked' : 'error';
}
