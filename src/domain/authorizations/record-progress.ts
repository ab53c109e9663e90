import { type AuthorizationGrantId, type BrowserSessionId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { Decision } from './authorization-grant.ts';
import { grantIsPending } from './liveness.ts';

/**
 * Notes what the person chose, for the page that carries it out for the same browser session.
 * @param now milliseconds since the epoch
 * @returns false when the grant is not pending any more, or the same session has chosen before
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

/** Changes a pending grant only; what the same browser session chose first is kept. */
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

/** Notes that the person is redirected to the registration page: someone who is signed in is sent there only once. */
export async function recordRegistrationOffer(database: Queryable, id: AuthorizationGrantId): Promise<void> {
  await database.execute(setRegistrationOffered, { id: toUuid(id) });
}

const setRegistrationOffered = statement<never, { readonly id: string }>(
  'set-registration-offered',
  'update oauth2_authorization_grants set registration_offered = true where id = :id::uuid and not registration_offered',
);
