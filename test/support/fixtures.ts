/** Rows that tests begin with, written by SQL past all rules, and a few ways to look at what remains. */
import {
  type AuthorizationGrantId,
  type BrowserSessionId,
  type ClientId,
  newId,
  toUuid,
  type UserId,
} from '#base/ids.ts';
import { randomBase64Url, randomBytes } from '#base/random.ts';
import type { KeyRing } from '#base/sealing.ts';
import { sha256 } from '#base/secret.ts';
import type { Queryable } from '#db/database.ts';
import { statement } from '#db/statement.ts';
import { type ClientMetadata, sealSecret } from '#domain/clients/client-row.ts';

const insertUserRow = statement<
  never,
  [id: string, username: string, displayName: string | null, canRequestAdmin: boolean, now: Date]
>(
  'fixture-user',
  `insert into users (id, username, username_key, display_name, can_request_admin, created_at)
   values ($1::uuid, $2::text, lower($2::text), $3::text, $4::boolean, $5::timestamptz)`,
);

export async function insertUser(
  database: Queryable,
  now: number,
  user: { username?: string; displayName?: string; canRequestAdmin?: boolean } = {},
): Promise<UserId> {
  const id = newId<'user'>(now);
  const username = user.username ?? `user-${id.toLowerCase()}`;
  await database.execute(insertUserRow, [
    toUuid(id),
    username,
    user.displayName ?? null,
    user.canRequestAdmin ?? false,
    new Date(now),
  ]);
  return id;
}

const insertBrowserSessionRow = statement<never, [id: string, userId: string, keyHash: Buffer, now: Date]>(
  'fixture-browser-session',
  `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, amr, created_at)
   values ($1::uuid, $2::uuid, $3::bytea, $4::timestamptz, 'urn:latchkey:acr:1', '{pwd}', $4::timestamptz)`,
);

export async function insertBrowserSession(
  database: Queryable,
  userId: UserId,
  now: number,
): Promise<BrowserSessionId> {
  const id = newId<'browser-session'>(now);
  await database.execute(insertBrowserSessionRow, [toUuid(id), toUuid(userId), sha256(id), new Date(now)]);
  return id;
}

const insertClientRow = statement<
  never,
  [id: string, isStatic: boolean, secret: Buffer | null, metadata: string, now: Date]
>(
  'fixture-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at)
   values ($1::uuid, $2::boolean, $3::bytea, $4::jsonb, $5::timestamptz)`,
);

export interface ClientFixture {
  /** Undefined: a public client. */
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
  await database.execute(insertClientRow, [
    toUuid(id),
    client.isStatic ?? true,
    client.secret === undefined ? null : sealSecret(toUuid(id), client.secret, keys),
    JSON.stringify(metadata),
    new Date(now),
  ]);
  return id;
}

const insertGrantRow = statement<
  never,
  [
    id: string,
    clientId: string,
    redirectUri: string,
    redirectUriSent: boolean,
    scope: readonly string[],
    nonce: string | null,
    codeChallenge: string | null,
    now: Date,
    expiresAt: Date,
    userSessionId: string,
    codeHash: Buffer,
    claims: string | null,
  ]
>(
  'fixture-grant',
  `insert into oauth2_authorization_grants (
     id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, nonce, code_challenge,
     created_at, expires_at, user_session_id, auth_time, acr, amr, code_hash, fulfilled_at,
     claims
   ) values (
     $1::uuid, $2::uuid, $3::text, $4::boolean, $5::text[], 'query', $6::text, $7::text,
     $8::timestamptz, $9::timestamptz, $10::uuid, $8::timestamptz, 'urn:latchkey:acr:1', '{pwd}', $11::bytea,
     $8::timestamptz, $12::jsonb
   )`,
);

export interface GrantFixture {
  readonly clientId: ClientId;
  readonly browserSessionId: BrowserSessionId;
  readonly scope?: readonly string[];
  readonly redirectUri?: string;
  readonly redirectUriSent?: boolean;
  readonly nonce?: string;
  /** Asked for one by one, as they are stored. */
  readonly claims?: Readonly<Record<'id_token' | 'userinfo', readonly string[]>>;
  /** The verifier whose S256 challenge the request carried. */
  readonly codeVerifier?: string;
}

/** A grant whose code was just handed out. */
export async function insertFulfilledGrant(
  database: Queryable,
  now: number,
  grant: GrantFixture,
): Promise<{ id: AuthorizationGrantId; code: string }> {
  const id = newId<'authorization-grant'>(now);
  const code = randomBase64Url();
  await database.execute(insertGrantRow, [
    toUuid(id),
    toUuid(grant.clientId),
    grant.redirectUri ?? 'https://app.example.org/callback',
    grant.redirectUriSent ?? true,
    grant.scope ?? ['openid'],
    grant.nonce ?? null,
    grant.codeVerifier === undefined ? null : sha256(grant.codeVerifier).toString('base64url'),
    new Date(now),
    new Date(now + 3_600_000),
    toUuid(grant.browserSessionId),
    sha256(code),
    grant.claims === undefined ? null : JSON.stringify(grant.claims),
  ]);
  return { id, code };
}

/** A 32-byte root key. */
export function randomRoot(): Buffer {
  return randomBytes(32);
}

/** Any statement, for a test that changes or reads rows behind the service's back. */
export async function sql<Row extends object>(
  database: Queryable,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  // A short label, since names of statements are cut and must stay unlike.
  const label = `fixture-${sha256(text).toString('hex').slice(0, 24)}`;
  return await database.rows(statement<Row, readonly unknown[]>(label, text), params);
}
