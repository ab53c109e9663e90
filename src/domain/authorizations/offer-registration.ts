import { type AuthorizationGrantId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { setRegistrationOffered } from './writes.ts';

/** Notes that the person is led to the registration page, so that someone who is signed in is led there only once. */
export async function offerRegistration(database: Queryable, id: AuthorizationGrantId): Promise<void> {
  await database.execute(setRegistrationOffered, { id: toUuid(id) });
}
