import { type RegistrationId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { setDisplayName } from './writes.ts';

/**
 * Notes the name that the person wants to be shown by; one statement, without effect on a completed registration.
 * @param displayName read by `parseDisplayName`; undefined: the username
 */
export async function chooseDisplayName(
  queryable: Queryable,
  id: RegistrationId,
  displayName: string | undefined,
): Promise<void> {
  await queryable.execute(setDisplayName, { id: toUuid(id), displayName: displayName ?? null });
}
