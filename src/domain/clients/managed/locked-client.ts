import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type LimitRow, limitColumnsSql } from '../allowed-groups.ts';
import { type ClientKind, type ClientRefusal, type ClientRow, clientColumns, kindOf } from '../client.ts';

export interface LockedClient {
  readonly kind: Extract<ClientKind, 'managed' | 'dynamic'>;
  readonly row: ClientRow & LimitRow & { readonly is_disabled: boolean };
}

/** Locks a client that administrators may change. Concurrent changes wait for each other. */
export async function lockClient(transaction: Queryable, id: ClientId): Promise<LockedClient | ClientRefusal> {
  const row = await transaction.first(lockById, { id: toUuid(id) });
  if (row === undefined) return 'unknown';
  const kind = kindOf(row);
  return kind === 'static' || kind === 'builtin' ? kind : { kind, row };
}

// Weaker than the lock of a deletion, so that rows which refer to the client can still be inserted.
const lockById = statement<LockedClient['row'], { readonly id: string }>(
  'lock-client-to-change',
  `select ${clientColumns('c')}, c.disabled_at is not null as is_disabled, ${limitColumnsSql('c')}
     from oauth2_clients c where c.id = :id::uuid for no key update`,
);
