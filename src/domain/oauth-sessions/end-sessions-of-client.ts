import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { deleteGrantsOfClient } from '#domain/authorizations/delete-grants-of-client.ts';
import type { ClientEnd, SessionEnder } from '#domain/clients/delete-client.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { personalSessionIsLive } from '#domain/records/liveness/personal-sessions.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable, Transaction } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { endingCtes } from './end-oauth2-session.ts';

/** Ending or deleting this many sessions stays far below the statement timeout. */
const BATCH = 5_000;

/**
 * Ends and deletes all sessions of a client that is about to be deleted. Deletes its grants first, because all
 * statements lock grants before sessions.
 * @returns number of live sessions
 */
export function clientSessionEnder(homeserver: Pick<Homeserver, 'isConnected'>): SessionEnder {
  return {
    endGrantsAndSessionsOfClient: (transaction, client, end) =>
      endGrantsAndSessionsOfClient(transaction, client, end, homeserver.isConnected),
  };
}

async function endGrantsAndSessionsOfClient(
  transaction: Transaction,
  client: ClientId,
  { now, address, userAgent }: ClientEnd,
  syncsDevices: boolean,
): Promise<number> {
  const clientId = toUuid(client);
  await deleteGrantsOfClient(transaction, client);
  const sessions = await repeat(transaction, endSessions, {
    clientId,
    batch: BATCH,
    now: new Date(now),
    ...sessionEndParams(syncsDevices),
  });
  await repeat(transaction, deleteSessions, { clientId, batch: BATCH });
  if (sessions > 0) {
    const detail = { reason: 'client_deleted', sessions };
    await recordAuditEvent(transaction, {
      kind: 'session_ended',
      at: now,
      clientId: client,
      address,
      userAgent,
      detail,
    });
  }
  return sessions;
}

/** Repeats a statement until a batch is not full. @returns the sum */
async function repeat<Parameters extends object>(
  transaction: Queryable,
  batchStatement: Statement<{ count: number }, Parameters>,
  parameters: Parameters,
): Promise<number> {
  let sum = 0;
  for (;;) {
    const row = await transaction.first(batchStatement, parameters);
    const count = row?.count ?? 0;
    sum += count;
    if (count < BATCH) return sum;
  }
}

const endSessions = statement<
  { count: number },
  SessionEndParams & { readonly clientId: string; readonly batch: number; readonly now: Date }
>(
  'end-oauth2-sessions-of-client',
  `with recursive ${endingCtes(
    `(select id from oauth2_sessions
       where client_id = :clientId::uuid and ${oauthSessionIsLive('oauth2_sessions')}
       limit :batch::integer)`,
    ':now::timestamptz',
    `'client_deleted'`,
    {
      personal: {
        roots: `select s.id from personal_sessions s
         where s.owner_client_id = :clientId::uuid and ${personalSessionIsLive('s')}`,
      },
    },
  )}
  select count(*)::integer as count from ended where client_id = :clientId::uuid`,
);

const deleteSessions = statement<{ count: number }, { readonly clientId: string; readonly batch: number }>(
  'delete-oauth2-sessions-of-client',
  `with deleted as (
    delete from oauth2_sessions
     where id in (select id from oauth2_sessions where client_id = :clientId::uuid limit :batch::integer)
    returning id
  )
  select count(*)::integer as count from deleted`,
);
