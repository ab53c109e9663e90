import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UpstreamAuthorizationId } from '#vocabulary/ids.ts';

const bind = statement<never, { readonly id: string; readonly sessionId: string }>(
  'bind-upstream-authorization',
  'update upstream_authorizations set user_session_id = :sessionId::uuid where id = :id::uuid',
);

/** Records the session that resulted from an already consumed sign-in, so that the provider can end it. */
export async function bindAuthorization(
  transaction: Queryable,
  id: UpstreamAuthorizationId,
  session: BrowserSessionId,
): Promise<void> {
  await transaction.execute(bind, { id: toUuid(id), sessionId: toUuid(session) });
}
