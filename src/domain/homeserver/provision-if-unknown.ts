import { toUuid } from '#platform/base/ids.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { CallContext, HomeserverResult } from './homeserver.ts';
import { readNotifiedUser } from './notify-homeserver.ts';
import { type ProvisionDeps, provisionUser } from './unknown-devices.ts';

/**
 * Makes a call about a user. The job of their registration may not have run yet: if the homeserver does not know the
 * user, this provisions them and repeats the call.
 */
export async function provisionIfUnknown(
  { database, homeserver }: ProvisionDeps,
  user: UserId,
  context: CallContext,
  call: () => Promise<HomeserverResult<unknown>>,
): Promise<HomeserverResult<unknown>> {
  const result = await call();
  if (result.ok || result.reason !== 'unknown-user') return result;
  const facts = await readNotifiedUser(database, toUuid(user));
  if (facts === undefined || facts.isDeactivated) return result;
  const provisioned = await provisionUser({ database, homeserver }, facts, undefined, context);
  return provisioned.ok ? await call() : provisioned;
}
