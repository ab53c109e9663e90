import type { Client } from '#domain/clients/client.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import { clientIsCurrent } from '#domain/records/liveness/clients.ts';
import {
  accessTokenIsUnrevoked,
  oauthSessionIsLive,
  refreshTokenIsLive,
} from '#domain/records/liveness/oauth-sessions.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { joinableWrite, singleWrite } from '#platform/postgres/joinable-write.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { RefreshTokenRow, RefreshVerdict } from './judge-refresh-token.ts';
import type { PresentedToken, SuccessorPair } from './refresh-successor.ts';
import {
  importedTables,
  type RenewalParams,
  ROTATION_TYPES,
  type RotationParams,
  renewalSql,
  rotationSql,
  SESSION_LOCK,
  storeSuccessor,
  type TokenTables,
} from './store-successor.ts';

/** The access token to issue. Times are milliseconds since the epoch. */
export interface WantedToken {
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  /** Thumbprint of the key that it is bound to. */
  readonly key: string | undefined;
  readonly expiresAt: number;
  readonly now: number;
}

export interface IssuedSuccessor {
  readonly pair: SuccessorPair;
  /** The scope of the access token. */
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  /** Milliseconds since the epoch, like the next one. */
  readonly issuedAt: number;
  readonly accessTokenExpiresAt: number;
}

/** Why a successor is stored or repeated. */
export interface SuccessorDue {
  readonly verdict: Extract<RefreshVerdict, { kind: 'rotate' | 'repeat' | 'renew' }>;
  /** The session was imported, and none of its refresh tokens has been used since. */
  readonly isImported: boolean;
}

/**
 * Stores the successor of a refresh token or finds the stored one, depending on the verdict. At most one conditional
 * write.
 * @returns undefined if another request was faster; `no-key` if the key of the stored pair no longer exists
 */
export async function issueSuccessor(
  database: Queryable,
  client: Client,
  row: RefreshTokenRow,
  { verdict, isImported }: SuccessorDue,
  keys: readonly Buffer[],
  presented: PresentedToken,
  wanted: WantedToken,
): Promise<IssuedSuccessor | 'no-key' | undefined> {
  const { scope, resources, key, expiresAt, now } = wanted;
  const grant = { clientVersion: client.version, scope, resources, tokenKey: key ?? null };
  const access = { sessionId: row.session_id, expiresAt, now, grant };
  const pair = await storeSuccessor(database, isImported ? IMPORTED : STATEMENTS, verdict, keys, presented, access);
  if (pair === undefined || pair === 'no-key') return pair;
  if (verdict.kind !== 'repeat') return { pair, scope, resources, issuedAt: now, accessTokenExpiresAt: expiresAt };
  return {
    pair,
    scope: verdict.successor.scope,
    resources: row.access_token_resources ?? row.resources,
    issuedAt: row.access_token_created_at ?? now,
    accessTokenExpiresAt: verdict.accessTokenExpiresAt,
  };
}

/**
 * Stores another access token for a refresh token that stays valid. Earlier access tokens remain valid until they
 * expire, so that each process of a client can refresh. Uses one statement.
 * @returns undefined if the session, its client or its user has changed
 */
export async function issueAnother(
  database: Queryable,
  client: Client,
  row: RefreshTokenRow,
  presented: PresentedToken,
  { scope, resources, key, expiresAt, now }: WantedToken,
): Promise<IssuedSuccessor | undefined> {
  const accessToken = newToken('mat');
  const stored = await database.first(issueAnotherAccessToken, {
    clientVersion: client.version,
    sessionId: row.session_id,
    tokenId: row.token_id,
    accessTokenId: toUuid(newId(now)),
    accessTokenHash: sha256(accessToken),
    scope,
    resources,
    tokenKey: key ?? null,
    now: new Date(now),
    expiresAt: new Date(expiresAt),
  });
  if (stored === undefined) return undefined;
  const pair = { refreshToken: presented.text, accessToken };
  return { pair, scope, resources, issuedAt: now, accessTokenExpiresAt: expiresAt };
}

interface GrantParams {
  readonly clientVersion: number;
  readonly scope: readonly string[];
  readonly resources: readonly string[];
  readonly tokenKey: string | null;
}

const GRANT_TYPES = { clientVersion: 'integer', scope: 'text[]', resources: 'text[]', tokenKey: 'text' } as const;

const TABLES: TokenTables = {
  refreshTokens: 'oauth2_refresh_tokens',
  accessTokens: 'oauth2_access_tokens',
  sessions: 'oauth2_sessions',
  // Reads the current client and user.
  sessionIsLive: (clientVersion) => `${oauthSessionIsLive('s')}
     and exists (select from oauth2_clients c where c.id = s.client_id and ${clientIsCurrent('c', clientVersion)})
     and not exists (select from users u where u.id = s.user_id and not ${accountIsUsable('u')})`,
  refreshTokenIsLive,
  accessTokenIsUnrevoked,
  grantColumns: [
    { column: 'scope', parameter: 'scope', type: GRANT_TYPES.scope },
    { column: 'resources', parameter: 'resources', type: GRANT_TYPES.resources },
    { column: 'dpop_jkt', parameter: 'tokenKey', type: GRANT_TYPES.tokenKey },
  ],
};

const STATEMENTS = {
  rotate: joinableWrite<{ id: string }, RotationParams & GrantParams>(
    'rotate-refresh-token',
    { ...ROTATION_TYPES, ...GRANT_TYPES },
    rotationSql(TABLES),
  ),
  renew: statement<{ id: string }, RenewalParams & GrantParams>('renew-access-token', renewalSql(TABLES)),
  prefixes: { refreshToken: 'mar', accessToken: 'mat' },
} as const;

/** Not joinable: two tokens of one session would both be rotated. */
const IMPORTED = {
  ...STATEMENTS,
  rotate: singleWrite<{ id: string }, RotationParams & GrantParams>(
    'rotate-imported-refresh-token',
    { ...ROTATION_TYPES, ...GRANT_TYPES },
    rotationSql(importedTables(TABLES)),
  ),
  startsFamily: true,
} as const;

/**
 * Marks the first use of the refresh token. After that, presenting its consumed predecessor counts as reuse. Uses
 * primary keys.
 */
const issueAnotherAccessToken = statement<
  { id: string },
  GrantParams & {
    readonly sessionId: string;
    readonly tokenId: string | null;
    readonly accessTokenId: string;
    readonly accessTokenHash: Buffer;
    readonly now: Date;
    readonly expiresAt: Date;
  }
>(
  'issue-another-access-token',
  `with live as materialized (
    select s.id from oauth2_sessions s
     where s.id = :sessionId::uuid and ${TABLES.sessionIsLive(':clientVersion::integer')}
       ${SESSION_LOCK}
  ), kept as (
    update oauth2_refresh_tokens t
       set access_token_id = :accessTokenId::uuid, first_used_at = coalesce(t.first_used_at, :now::timestamptz)
     where t.id = :tokenId::uuid and ${refreshTokenIsLive('t')} and exists (select from live)
    returning t.session_id
  )
  insert into oauth2_access_tokens (id, session_id, token_hash, created_at, expires_at, scope, resources, dpop_jkt)
  select :accessTokenId::uuid, session_id, :accessTokenHash::bytea, :now::timestamptz, :expiresAt::timestamptz,
         :scope::text[], :resources::text[], :tokenKey::text
    from kept
  returning id`,
);
