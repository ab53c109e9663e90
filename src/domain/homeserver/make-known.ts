import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { CallContext, Homeserver, HomeserverResult } from './homeserver.ts';
import { readTold } from './tell-homeserver.ts';

export interface MakeKnownDeps {
  readonly database: Queryable;
  readonly homeserver: Homeserver;
}

/**
 * Makes a call about a user. The job of their registration may not have run yet: if the homeserver does not know the
 * user, this provisions them and repeats the call.
 */
export async function makingKnown(
  { database, homeserver }: MakeKnownDeps,
  user: UserId,
  context: CallContext,
  call: () => Promise<HomeserverResult<unknown>>,
): Promise<HomeserverResult<unknown>> {
  const told = await call();
  if (told.ok || told.reason !== 'unknown-user') return told;
  const facts = await readTold(database, toUuid(user));
  if (facts === undefined || facts.isDeactivated) return told;
  const provisioned = await homeserver.provisionUser({ ...facts, displayName: undefined }, context);
  return provisioned.ok ? await call() : provisioned;
}
