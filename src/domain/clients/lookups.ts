import { statement } from '#platform/postgres/statement.ts';
import type { ClientRow } from './client-row.ts';

/** Primary key; a disabled client is unknown everywhere. */
export const findClient = statement<ClientRow, { readonly id: string }>(
  'client-by-id',
  `select id, is_static, version, client_secret_sealed, metadata
     from oauth2_clients
    where id = :id::uuid and disabled_at is null`,
);

/** The clients of the configuration, and those that it is about to take over; partial index and primary key. */
export const findStaticClients = statement<ClientRow, { readonly configuredIds: readonly string[] }>(
  'static-clients',
  `select id, is_static, version, client_secret_sealed, metadata
     from oauth2_clients
    where is_static or id = any(:configuredIds::uuid[])`,
);
