import { type AuthorizationGrantId, type BrowserSessionId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { Decision } from './authorization-grant.ts';
import { storeDecision } from './writes.ts';

/**
 * Notes what the person chose, for the page that carries it out for the same browser session.
 * @param now milliseconds since the epoch
 * @returns false when the grant is not pending any more, or the same session has chosen before
 */
export async function decideAuthorizationGrant(
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
