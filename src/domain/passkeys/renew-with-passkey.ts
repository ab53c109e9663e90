import {
  newRenewal,
  RENEWAL_COLUMNS,
  type RenewalParams,
  type RenewalRow,
  renewalCtes,
} from '#domain/browser-sessions/renew-session.ts';
import type { SessionCookie, SessionCredentials } from '#domain/records/browser-session.ts';
import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { metrics } from '#platform/base/metrics.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { type PasskeyResponse, type ProofDeps, provePasskey } from './prove-passkey.ts';
import { USED_PASSKEY, type UsedPasskeyParams, usedPasskeyParams } from './used-passkey.ts';

export interface PasskeyRenewal extends Pick<PasskeyResponse, 'credential'> {
  /** Cookie of the session whose user reauthenticates. */
  readonly cookie: SessionCookie;
  readonly user: UserId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type PasskeyRenewalOutcome =
  /** `session`: new contents of the cookie; undefined if another request has just issued a key to the browser. */
  { readonly ok: true; readonly session: SessionCredentials | undefined } | { readonly ok: false };

interface RenewDeps extends ProofDeps {
  readonly clock: Clock;
  readonly secondFactors: Pick<SecondFactorRules, 'isRequiredOnReauth'>;
}

/**
 * Reauthenticates the user of a session with one of their passkeys. Failures do not count against the session, since
 * there is nothing to guess.
 */
export async function renewWithPasskey(deps: RenewDeps, renewal: PasskeyRenewal): Promise<PasskeyRenewalOutcome> {
  const outcome = await renew(deps, renewal);
  metrics?.count('latchkey_reauths_total', { method: 'passkey', result: outcome.ok ? 'success' : 'error' });
  return outcome;
}

async function renew(
  deps: RenewDeps,
  { credential, cookie, user, address, userAgent }: PasskeyRenewal,
): Promise<PasskeyRenewalOutcome> {
  const now = deps.clock.now();
  const holder = { kind: 'session', id: cookie.id } as const;
  const response = { credential, expects: { reauth: user }, holder, now };
  const verified = await provePasskey(deps, response);
  if (!verified.ok) return { ok: false };
  const factors = [{ kind: 'passkey', isSynced: verified.proof.isSynced } as const];
  const renewal = newRenewal(deps.secondFactors, { cookie, factors, step: undefined, address, userAgent, now });
  const row = await deps.database.first(renewByPasskey, {
    ...usedPasskeyParams(verified.proof, now),
    ...renewal.params,
    userId: toUuid(user),
  });
  return row?.is_renewed === true ? { ok: true, session: renewal.rotated(row) } : { ok: false };
}

// As with a password, a concurrent lock of the account either commits first or waits.
const renewByPasskey = statement<RenewalRow, UsedPasskeyParams & RenewalParams & { readonly userId: string }>(
  'renew-authentication-by-passkey',
  `with account as (
    select u.id as user_id from users u where u.id = :userId::uuid and ${accountIsUsable('u')} for share of u
  ), used as (
    ${USED_PASSKEY}
    returning k.user_id
  ), ${renewalCtes('used')}
  select ${RENEWAL_COLUMNS}`,
);
