import { type RegistrationId, toUuid } from '#platform/base/ids.ts';
import { chargeAddress } from './charge-address.ts';
import { findNameProblems, type NameProblem } from './name-policy.ts';
import type { RegistrationDeps } from './start-registration.ts';
import { replaceUsername } from './writes.ts';

export type RenameOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'rejected'; readonly problems: readonly ('required' | NameProblem)[] }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/** Gives an open registration another username, for one that was lost to somebody else meanwhile. */
export async function renameRegistration(
  deps: Pick<RegistrationDeps, 'database' | 'clock' | 'log' | 'limits' | 'namePolicy'>,
  id: RegistrationId,
  username: string,
  address: string | undefined,
): Promise<RenameOutcome> {
  const limiter = deps.limits.registrationCheck;
  const checked = await chargeAddress(deps, { name: 'registration-check', limiter, address });
  if (!checked.ok) return { ...checked, reason: 'rate-limited' };
  const problems =
    username === '' ? ['required' as const] : await findNameProblems(deps.database, username, deps.namePolicy);
  if (problems.length > 0) return { ok: false, reason: 'rejected', problems };
  await deps.database.execute(replaceUsername, { id: toUuid(id), username });
  return { ok: true };
}
