import { MAX_CODE_TRIES } from '#domain/records/liveness/email-authentications.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId } from '#vocabulary/ids.ts';
import {
  type EmailAuthentication,
  type EmailAuthenticationId,
  type EmailAuthenticationRow,
  toEmailAuthentication,
} from './email-authentication.ts';

/** An authentication as shown to the user who started it. Times are milliseconds since the epoch. */
export interface OwnEmailAuthentication extends EmailAuthentication {
  readonly createdAt: number;
  readonly completedAt: number | undefined;
  /** All attempts are used up, even if it has not expired. */
  readonly isExhausted: boolean;
}

const byIds = statement<
  EmailAuthenticationRow & { readonly completed_at: number | null },
  { readonly ids: readonly string[]; readonly sessionId: string }
>(
  'find-email-authentications-of-session',
  `select a.id, a.email, a.email_key, ${ms('a.created_at')} as created_at, a.tries,
    ${ms('a.completed_at')} as completed_at, a.completed_at is not null as is_completed
  from user_email_authentications a
  where a.id = any(:ids::uuid[]) and a.user_session_id = :sessionId::uuid`,
);

/**
 * Returns the authentications with these IDs, in the same order. Includes only those that this browser session started.
 */
export async function findForSession(
  queryable: Queryable,
  ids: readonly EmailAuthenticationId[],
  session: BrowserSessionId,
  now: number,
): Promise<(OwnEmailAuthentication | undefined)[]> {
  const rows = await queryable.rows(byIds, { ids: ids.map(toUuid), sessionId: toUuid(session) });
  const found = new Map(
    rows.map((row) => [
      fromUuid(row.id),
      {
        ...toEmailAuthentication(row, now),
        createdAt: row.created_at,
        completedAt: row.completed_at ?? undefined,
        isExhausted: row.tries >= MAX_CODE_TRIES,
      },
    ]),
  );
  return ids.map((id) => found.get(id));
}
