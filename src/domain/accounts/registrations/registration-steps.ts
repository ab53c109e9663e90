/** Later steps of an open registration: the display name, and choosing a different username. */
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';
import { checkHomeserverName } from './homeserver-name.ts';
import { findNameProblems, type NameProblem } from './registration-policy.ts';
import type { RegistrationDeps } from './start-registration.ts';

/** Null: use the username. */
const setDisplayName = statement<never, { readonly id: string; readonly displayName: string | null }>(
  'set-registration-display-name',
  `update user_registrations set display_name = coalesce(:displayName::text, username)
  where id = :id::uuid and completed_at is null`,
);

/** A display name that equals the former username changes with it. */
const replaceUsername = statement<never, { readonly id: string; readonly username: string }>(
  'replace-registration-username',
  `update user_registrations set
    username = :username::text,
    display_name = case when display_name = username then :username::text else display_name end
  where id = :id::uuid and completed_at is null and not has_fixed_username`,
);

export type RenameOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'homeserver-unavailable' }
  | { readonly ok: false; readonly reason: 'rejected'; readonly problems: readonly ('required' | NameProblem)[] }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/** Changes the username of an open registration after the first choice was taken. */
export async function renameRegistration(
  deps: Pick<RegistrationDeps, 'database' | 'clock' | 'log' | 'limits' | 'namePolicy' | 'homeserver'>,
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
  const requested = await checkHomeserverName(deps, username);
  if (requested === 'exists') return { ok: false, reason: 'rejected', problems: [requested] };
  if (requested !== 'available') return { ok: false, reason: requested };
  await deps.database.execute(replaceUsername, { id: toUuid(id), username });
  return { ok: true };
}

/**
 * Stores the display name that the user chose, with one statement. Has no effect on a completed registration.
 * @param displayName parsed by `parseDisplayName`; undefined: the username
 */
export async function chooseDisplayName(
  queryable: Queryable,
  id: RegistrationId,
  displayName: string | undefined,
): Promise<void> {
  await queryable.execute(setDisplayName, { id: toUuid(id), displayName: displayName ?? null });
}
