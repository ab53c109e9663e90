import { grantIsPending } from '#domain/records/liveness/authorizations.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AuthorizationGrantId, BrowserSessionId } from '#vocabulary/ids.ts';
import type { Decision } from './authorization-grant.ts';

/**
 * Stores the user's choice, for the page that executes it in the same browser session.
 * @param now milliseconds since the epoch
 * @returns false if the grant is no longer pending, or the same session has already chosen
 */
export async function recordDecision(
  database: Queryable,
  id: AuthorizationGrantId,
  decision: Decision,
  browserSessionId: BrowserSessionId,
  now: number,
): Promise<boolean> {
  return (
    (await database.execute(storeDecision, {
      id: toUuid(id),
      decision,
      browserSessionId: toUuid(browserSessionId),
      now: new Date(now),
    })) === 1
  );
}

/** Changes only pending grants and keeps the first choice of a browser session. */
const storeDecision = statement<
  never,
  { readonly id: string; readonly decision: string; readonly browserSessionId: string; readonly now: Date }
>(
  'store-authorization-decision',
  `update oauth2_authorization_grants
      set decision = :decision::text, user_session_id = :browserSessionId::uuid
    where id = :id::uuid and (decision is null or user_session_id is distinct from :browserSessionId::uuid)
      and ${grantIsPending('oauth2_authorization_grants', ':now::timestamptz')}`,
);

/** Records the redirect to the registration page. A signed-in user is redirected there only once. */
export async function recordRegistrationOffer(database: Queryable, id: AuthorizationGrantId): Promise<void> {
  await database.execute(setRegistrationOffered, { id: toUuid(id) });
}

const setRegistrationOffered = statement<never, { readonly id: string }>(
  'set-registration-offered',
  'update oauth2_authorization_grants set registration_offered = true where id = :id::uuid and not registration_offered',
);
