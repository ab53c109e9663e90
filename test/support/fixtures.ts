/** Rows that tests start with, inserted by SQL without validation, and a few queries to inspect the result. */

import { type ClientMetadata, sealSecret } from '#domain/clients/client.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { randomBase64Url, randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { AuthorizationGrantId, BrowserSessionId, ClientId, UserId } from '#vocabulary/ids.ts';

const insertUserRow = statement<
  never,
  {
    readonly id: string;
    readonly username: string;
    readonly displayName: string | null;
    readonly canRequestAdmin: boolean;
    readonly now: Date;
  }
>(
  'fixture-user',
  `insert into users (id, username, username_key, display_name, can_request_admin, created_at)
   values (:id::uuid, :username::text, lower(:username::text), :displayName::text, :canRequestAdmin::boolean, :now::timestamptz)`,
);

export async function insertUser(
  database: Queryable,
  now: number,
  user: { username?: string; displayName?: string; canRequestAdmin?: boolean } = {},
): Promise<UserId> {
  const id = newId<'user'>(now);
  const username = user.username ?? `user-${id.toLowerCase()}`;
  await database.execute(insertUserRow, {
    id: toUuid(id),
    username,
    displayName: user.displayName ?? null,
    canRequestAdmin: user.canRequestAdmin ?? false,
    now: new Date(now),
  });
  return id;
}

const insertBrowserSessionRow = statement<
  never,
  { readonly id: string; readonly userId: string; readonly keyHash: Buffer; readonly now: Date }
>(
  'fixture-browser-session',
  `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, created_at)
   values (:id::uuid, :userId::uuid, :keyHash::bytea, :now::timestamptz, 'urn:latchkey:acr:1', '{pwd}', :now::timestamptz)`,
);

export async function insertBrowserSession(
  database: Queryable,
  userId: UserId,
  now: number,
): Promise<BrowserSessionId> {
  const id = newId<'browser-session'>(now);
  await database.execute(insertBrowserSessionRow, {
    id: toUuid(id),
    userId: toUuid(userId),
    keyHash: sha256(id),
    now: new Date(now),
  });
  return id;
}

const insertClientRow = statement<
  never,
  {
    readonly id: string;
    readonly isStatic: boolean;
    readonly secret: Buffer | null;
    readonly metadata: string;
    readonly now: Date;
  }
>(
  'fixture-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at)
   values (:id::uuid, :isStatic::boolean, :secret::bytea, :metadata::jsonb, :now::timestamptz)`,
);

export interface ClientFixture {
  /** Undefined for a public client. */
  readonly secret?: string;
  readonly isStatic?: boolean;
  readonly metadata?: Partial<ClientMetadata>;
}

export async function insertClient(
  database: Queryable,
  keys: KeyRing,
  now: number,
  client: ClientFixture = {},
): Promise<ClientId> {
  const id = newId<'client'>(now);
  const metadata: ClientMetadata = {
    token_endpoint_auth_method: client.secret === undefined ? 'none' : 'client_secret_basic',
    redirect_uris: ['https://app.example.org/callback'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
    id_token_signed_response_alg: 'RS256',
    ...client.metadata,
  };
  await database.execute(insertClientRow, {
    id: toUuid(id),
    isStatic: client.isStatic ?? true,
    secret: client.secret === undefined ? null : sealSecret(toUuid(id), client.secret, keys),
    metadata: JSON.stringify(metadata),
    now: new Date(now),
  });
  return id;
}

const insertGrantRow = statement<
  never,
  {
    readonly id: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly redirectUriSent: boolean;
    readonly scope: readonly string[];
    readonly nonce: string | null;
    readonly codeChallenge: string | null;
    readonly now: Date;
    readonly expiresAt: Date;
    readonly userSessionId: string;
    readonly codeHash: Buffer;
    readonly claims: string | null;
  }
>(
  'fixture-grant',
  `insert into oauth2_authorization_grants (
     id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, nonce, code_challenge,
     created_at, expires_at, user_session_id, auth_time, acr, amr, code_hash, fulfilled_at,
     claims
   ) values (
     :id::uuid, :clientId::uuid, :redirectUri::text, :redirectUriSent::boolean, :scope::text[], 'query', :nonce::text, :codeChallenge::text,
     :now::timestamptz, :expiresAt::timestamptz, :userSessionId::uuid, :now::timestamptz, 'urn:latchkey:acr:1', '{pwd}', :codeHash::bytea,
     :now::timestamptz, :claims::jsonb
   )`,
);

export interface GrantFixture {
  readonly clientId: ClientId;
  readonly browserSessionId: BrowserSessionId;
  readonly scope?: readonly string[];
  readonly redirectUri?: string;
  readonly redirectUriSent?: boolean;
  readonly nonce?: string;
  /** Individually requested claims, as stored. */
  readonly claims?: Readonly<Record<'id_token' | 'userinfo', readonly string[]>>;
  /** The verifier for the S256 challenge of the request. */
  readonly codeVerifier?: string;
}

/** Inserts a grant whose code was just issued. */
export async function insertFulfilledGrant(
  database: Queryable,
  now: number,
  grant: GrantFixture,
): Promise<{ id: AuthorizationGrantId; code: string }> {
  const id = newId<'authorization-grant'>(now);
  const code = randomBase64Url();
  await database.execute(insertGrantRow, {
    id: toUuid(id),
    clientId: toUuid(grant.clientId),
    redirectUri: grant.redirectUri ?? 'https://app.example.org/callback',
    redirectUriSent: grant.redirectUriSent ?? true,
    scope: grant.scope ?? ['openid'],
    nonce: grant.nonce ?? null,
    codeChallenge: grant.codeVerifier === undefined ? null : sha256(grant.codeVerifier).toString('base64url'),
    now: new Date(now),
    expiresAt: new Date(now + 3_600_000),
    userSessionId: toUuid(grant.browserSessionId),
    codeHash: sha256(code),
    claims: grant.claims === undefined ? null : JSON.stringify(grant.claims),
  });
  return { id, code };
}

/** A 32-byte root key. */
export function randomRoot(): Buffer {
  return randomBytes(32);
}

/**
 * Runs any statement, for tests that change or read rows directly.
 * @param params values of `$1`, `$2` and so on
 */
export async function sql<Row extends object>(
  database: Queryable,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  // A short hash, since PostgreSQL truncates statement names, which must stay distinct.
  const label = `fixture-${sha256(text).toString('hex').slice(0, 24)}`;
  const named = text.replace(/\$(\d+)/g, ':p$1');
  const values = Object.fromEntries(params.map((value, index) => [`p${index + 1}`, value]));
  return await database.rows(statement<Row, Readonly<Record<string, unknown>>>(label, named), values);
}
