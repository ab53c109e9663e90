import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type ClientRefusal, type ClientRow, kindOf } from './client.ts';
import { lockRegistration, type RegistrationAccess } from './registration-access.ts';

export interface ClientEnd {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IP address of the request, for the audit log. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/**
 * Implemented by `domain/oauth-sessions`, which imports this module. Called in the transaction that deletes the client.
 */
export interface SessionEnder {
  /** @returns number of live sessions */
  endGrantsAndSessionsOfClient(transaction: Transaction, client: ClientId, end: ClientEnd): Promise<number>;
}

export interface DeleteClientDeps extends SessionEnder {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

export type ClientDeletion =
  | { readonly ok: true; readonly endedSessions: number }
  | { readonly ok: false; readonly reason: 'static' | 'refused' };

/** Deletes a client at its request, including its sessions and other data (RFC 7592 2.3). */
export async function deleteRegistration(
  { database, keyRing, clock, ...ender }: DeleteClientDeps,
  access: RegistrationAccess,
  requester: Omit<ClientEnd, 'now'>,
): Promise<ClientDeletion> {
  return await database.transaction(
    async (transaction) => {
      const found = await lockRegistration(transaction, keyRing, access);
      if (!found.ok) return found;
      const endedSessions = await deleteClient(ender, transaction, access.id, { ...requester, now: clock.now() });
      return { ok: true, endedSessions };
    },
    { isRepeatable: true },
  );
}

/** Deletes a managed or dynamic client on behalf of an operator. */
export async function deleteClientForOperator(
  { database, clock, ...ender }: Omit<DeleteClientDeps, 'keyRing'>,
  id: ClientId,
): Promise<'deleted' | ClientRefusal> {
  return await database.transaction(
    async (transaction) => {
      const client = await transaction.first(lockClient, { id: toUuid(id) });
      if (client === undefined) return 'unknown';
      const kind = kindOf(client);
      if (kind === 'static' || kind === 'builtin') return kind;
      await deleteClient(ender, transaction, id, { now: clock.now() });
      return 'deleted';
    },
    { isRepeatable: true },
  );
}

/** Concurrent statements that need the client either finish first or wait. */
const lockClient = statement<Pick<ClientRow, 'is_static' | 'kind'>, { readonly id: string }>(
  'lock-client-to-delete',
  'select c.is_static, c.kind from oauth2_clients c where c.id = :id::uuid for update',
);

/**
 * Deletes a client. Its tokens stop working at the commit.
 * @returns number of live sessions
 */
export async function deleteClient(
  ender: SessionEnder,
  transaction: Transaction,
  id: ClientId,
  end: ClientEnd,
): Promise<number> {
  const endedSessions = await ender.endGrantsAndSessionsOfClient(transaction, id, end);
  await transaction.execute(deleteRow, { id: toUuid(id) });
  return endedSessions;
}

/** Foreign keys delete the remaining references, such as consents. */
const deleteRow = statement<never, { readonly id: string }>(
  'delete-client',
  'delete from oauth2_clients where id = :id::uuid',
);
