import type { Homeserver, HomeserverFailure } from '#domain/homeserver/homeserver.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import { newId } from '#platform/base/ids.ts';
import { findUserByName } from '../find-user.ts';
import { type RegisterUserDeps, type Registration, type RegistrationOutcome, registerUser } from './register-user.ts';

interface Deps extends RegisterUserDeps {
  readonly homeserver: Homeserver;
}

/**
 * Creates an account for an administrator who waits for the result (operations 4.4). The user is first provisioned on
 * the homeserver, with name and picture. If that fails, nothing is stored here.
 * @param avatarUrl `mxc://`; undefined: none
 */
export async function registerKnownUser(
  deps: Deps,
  registration: Omit<Registration, 'id' | 'isNewAtHomeserver'> & Required<Pick<Registration, 'record'>>,
  avatarUrl: string | undefined,
): Promise<
  RegistrationOutcome | { readonly ok: false; readonly reason: 'homeserver'; readonly failure: HomeserverFailure }
> {
  const { database, homeserver } = deps;
  const { username, displayName, emails, now } = registration;
  const id = newId<'user'>(now);
  const profile = {
    ...{ localpart: username, subject: id, displayName, avatarUrl, isLocked: false },
    emails: emails.map(({ address }) => address),
  };
  const told = await homeserver.provisionUser(profile, { kind: 'admin' });
  if (!told.ok) return { ok: false, reason: 'homeserver', failure: told };
  const outcome = await registerUser(deps, { ...registration, id, isNewAtHomeserver: told.value.isNew });
  if (outcome.ok) return outcome;
  // A concurrent request took the name: provision its owner once more.
  const owner = await findUserByName(database, username);
  if (owner !== undefined) await queueProvisioning(database, homeserver, { userId: owner.id, now });
  return outcome;
}
