/**
 * Client registration management (RFC 7592): the holder of the registration access token may read, replace and delete
 * the registration. Only clients with a secret get this token. Clients without one share a record with every client
 * that registered the same metadata (oauth 4.5).
 */

import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { type Secret, sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type ClientMetadata, type ClientRow, clientColumns, openSecret } from './client.ts';

/** Credentials for managing a client. */
export interface RegistrationAccess {
  readonly id: ClientId;
  /** The registration access token as sent. */
  readonly token: string;
}

export interface RegisteredClientRecord {
  readonly id: ClientId;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly metadata: ClientMetadata;
  readonly secret: Secret | undefined;
}

export type RegistrationSearch =
  | { readonly ok: true; readonly client: RegisteredClientRecord }
  /** `static`: the client is managed in the configuration only. `refused`: unknown client or wrong token. */
  | { readonly ok: false; readonly reason: 'static' | 'refused' };

/** Finds the client of a registration access token, by primary key. Runs no query if the token is malformed. */
export async function findRegistration(
  database: Queryable,
  keys: KeyRing,
  access: RegistrationAccess,
): Promise<RegistrationSearch> {
  return await find(database, keys, access, findClient);
}

/** Like `findRegistration`, for a transaction that changes the client. Concurrent changes wait for each other. */
export async function lockRegistration(
  transaction: Queryable,
  keys: KeyRing,
  access: RegistrationAccess,
): Promise<RegistrationSearch> {
  return await find(transaction, keys, access, lockClient);
}

async function find(
  queryable: Queryable,
  keys: KeyRing,
  { id, token }: RegistrationAccess,
  query: typeof findClient,
): Promise<RegistrationSearch> {
  if (parseToken(token)?.prefix !== 'mgt') return { ok: false, reason: 'refused' };
  const row = await queryable.first(query, { id: toUuid(id), tokenHash: sha256(token) });
  if (row?.is_static === true) return { ok: false, reason: 'static' };
  if (row?.is_token_of_client !== true) return { ok: false, reason: 'refused' };
  const { client_secret_sealed: sealed, metadata } = row;
  const secret = sealed === null ? undefined : openSecret(row.id, sealed, keys);
  return { ok: true, client: { id: fromUuid(row.id), createdAt: row.created_ms, metadata, secret } };
}

const byIdAndToken = `select ${clientColumns('oauth2_clients')}, ${ms('created_at')} as created_ms,
       registration_token_hash is not distinct from :tokenHash::bytea as is_token_of_client
  from oauth2_clients
 where id = :id::uuid and ${clientIsEnabled('oauth2_clients')}`;

const findClient = statement<
  ClientRow & { readonly created_ms: number; readonly is_token_of_client: boolean },
  { readonly id: string; readonly tokenHash: Buffer }
>('client-registration', byIdAndToken);

// A weaker lock than a deletion takes, so that rows which refer to the client can still be inserted.
const lockClient: typeof findClient = statement('lock-client-registration', `${byIdAndToken} for no key update`);
