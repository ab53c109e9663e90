import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { type SessionEndParams, sessionEndParams } from '#domain/homeserver/device-sync-jobs.ts';
import { compatEndingCtes } from '#domain/oauth-sessions/end-compat-session.ts';
import {
  hasLostRace,
  judgeRefreshToken,
  type LostAttempt,
  type RefreshVerdict,
  STORED_TOKEN_COLUMNS,
  type StoredTokenRow,
} from '#domain/oauth-sessions/judge-refresh-token.ts';
import { type PresentedToken, refreshFamily } from '#domain/oauth-sessions/refresh-successor.ts';
import {
  importedTables,
  type RenewalParams,
  ROTATION_TYPES,
  type RotationParams,
  renewalSql,
  rotationSql,
  type SuccessorStatements,
  storeSuccessor,
  type TokenTables,
} from '#domain/oauth-sessions/store-successor.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import {
  compatAccessTokenIsUnrevoked,
  compatRefreshTokenIsLive,
  compatSessionIsLive,
} from '#domain/records/liveness/compat-sessions.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { joinableWrite, singleWrite } from '#platform/postgres/joinable-write.ts';
import { lookup } from '#platform/postgres/lookup.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseChatClientToken } from '#protocol/oauth/chat-client-token.ts';
import type { CompatSessionId, UserId } from '#vocabulary/ids.ts';

export interface CompatRefreshRules {
  readonly accessTokenTtlSeconds: number;
  /** How long a consumed token returns its successor without further conditions. */
  readonly graceSeconds: number;
  /** `KeyRing.deriveAll('refresh-rotation')`, current key first. */
  readonly keys: readonly Buffer[];
  /** Whether a homeserver is connected, which must be notified of the device of a reused token. */
  readonly syncsDevices: boolean;
}

export interface CompatRefreshRequest {
  readonly refreshToken: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type CompatRefreshOutcome =
  | {
      readonly ok: true;
      readonly sessionId: CompatSessionId;
      readonly userId: UserId;
      readonly accessToken: string;
      readonly refreshToken: string;
      readonly expiresInMs: number;
    }
  | { readonly ok: false; readonly reason: 'locked' | 'reuse' | 'unknown'; readonly userId: UserId | undefined };

const MAX_ATTEMPTS = 4;

/**
 * Refreshes a chat client's tokens by the rules of OAuth sessions (chat-compat 7, oauth 9.4): one read, a pure
 * decision, one conditional write. The loser of a race reads once more and returns what the winner stored. Reuse ends
 * the session. An imported token works once; its successor is a native token.
 */
export async function refreshCompatSession(
  database: Queryable,
  request: CompatRefreshRequest,
  rules: CompatRefreshRules,
  now: number,
): Promise<CompatRefreshOutcome> {
  const text = parseChatClientToken(request.refreshToken);
  if (text?.kind !== 'refresh-token') return { ok: false, reason: 'unknown', userId: undefined };
  const presented = { text: request.refreshToken, random: text.random };

  let lost: LostAttempt | undefined;
  let userId: UserId | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { row, isImported } = await findToken(database, presented);
    if (row === undefined) return { ok: false, reason: 'unknown', userId };
    userId = fromUuid<'user'>(row.user_id);
    const isUsable = !row.is_finished && !row.is_deactivated;
    if (isUsable && row.is_locked) return { ok: false, reason: 'locked', userId };
    const verdict = judgeRefreshToken(
      { ...row, ...UNCLAIMED, user_is_usable: isUsable },
      { graceSeconds: rules.graceSeconds, sessionExpiry: () => Number.POSITIVE_INFINITY },
      now,
      hasLostRace(lost, row.replay_counter),
    );
    if (verdict.kind === 'refuse') return { ok: false, reason: 'unknown', userId };
    if (verdict.kind === 'reuse') {
      await database.execute(endReused, {
        sessionId: row.session_id,
        now: new Date(now),
        auditEventId: newAuditEventId(now),
        ip: request.address ?? null,
        userAgent: request.userAgent ?? null,
        ...sessionEndParams(rules.syncsDevices),
      });
      return { ok: false, reason: 'reuse', userId };
    }
    const issued = await issue(database, row, isImported ? IMPORTED : OWN, verdict, presented, rules, now);
    if (issued === 'no-key') return { ok: false, reason: 'unknown', userId };
    if (issued !== undefined) {
      const ttlMs = rules.accessTokenTtlSeconds * 1000;
      const expiresInMs = verdict.kind === 'repeat' ? verdict.accessTokenExpiresAt - now : ttlMs;
      return { ok: true, sessionId: fromUuid(row.session_id), userId, ...issued, expiresInMs };
    }
    lost = { verdict, replayCounter: row.replay_counter };
  }
  return { ok: false, reason: 'unknown', userId };
}

/** Values for columns that only OAuth sessions have. */
const UNCLAIMED = { is_own_client: true, session_created_at: 0, scope: [], access_token_scope: [] };

async function issue(
  database: Queryable,
  row: CompatRefreshRow,
  statements: SuccessorStatements<object>,
  verdict: Extract<RefreshVerdict, { kind: 'rotate' | 'repeat' | 'renew' }>,
  presented: PresentedToken,
  { accessTokenTtlSeconds, keys }: CompatRefreshRules,
  now: number,
) {
  const wanted = { sessionId: row.session_id, expiresAt: now + accessTokenTtlSeconds * 1000, now, grant: {} };
  return await storeSuccessor(database, statements, verdict, keys, presented, wanted);
}

/** A session is found by the family of its tokens. Imported sessions with several tokens have none yet. */
async function findToken(
  database: Queryable,
  { text, random }: PresentedToken,
): Promise<{ readonly row: CompatRefreshRow | undefined; readonly isImported: boolean }> {
  const tokenHash = sha256(text);
  if (random === '') return { row: await database.first(readImportedToken, { tokenHash }), isImported: true };
  const row = await database.first(readRefreshToken, { tokenHash, family: refreshFamily(random) });
  if (row !== undefined) return { row, isImported: false };
  return { row: await database.first(readTokenWithoutFamily, { tokenHash }), isImported: true };
}

interface CompatRefreshRow extends StoredTokenRow {
  readonly user_id: string;
  readonly is_locked: boolean;
  readonly is_deactivated: boolean;
}

function readSql(from: string): string {
  return `select ${STORED_TOKEN_COLUMNS},
          s.user_id,
          u.locked_at is not null as is_locked,
          u.deactivated_at is not null as is_deactivated
     ${from}`;
}

const SUCCESSOR = `left join compat_refresh_tokens n on n.id = t.successor_id
     left join compat_access_tokens a on a.id = n.access_token_id`;

/** Uses the unique indexes on `refresh_family` and `token_hash`, then primary keys. */
const readRefreshToken = lookup<CompatRefreshRow, { readonly tokenHash: Buffer; readonly family: Buffer }>(
  'compat-refresh-token-by-hash',
  readSql(
    `from compat_sessions s
     join users u on u.id = s.user_id
     left join compat_refresh_tokens t on t.token_hash = :tokenHash::bytea and t.session_id = s.id
     ${SUCCESSOR}
    where s.refresh_family = :family::bytea`,
  ),
);

/** Uses the unique index on `token_hash`, then primary keys. */
const readImportedToken = lookup<CompatRefreshRow, { readonly tokenHash: Buffer }>(
  'imported-compat-refresh-token-by-hash',
  readSql(
    `from compat_refresh_tokens t
     join compat_sessions s on s.id = t.session_id
     join users u on u.id = s.user_id
     ${SUCCESSOR}
    where t.token_hash = :tokenHash::bytea`,
  ),
);

/** Uses the same indexes. Of a session with a family, only tokens of that family count. */
const readTokenWithoutFamily = lookup<CompatRefreshRow, { readonly tokenHash: Buffer }>(
  'compat-refresh-token-without-family',
  readSql(
    `from compat_refresh_tokens t
     join compat_sessions s on s.id = t.session_id and s.refresh_family is null
     join users u on u.id = s.user_id
     ${SUCCESSOR}
    where t.token_hash = :tokenHash::bytea and ${compatRefreshTokenIsLive('t')}`,
  ),
);

const TABLES: TokenTables = {
  refreshTokens: 'compat_refresh_tokens',
  accessTokens: 'compat_access_tokens',
  sessions: 'compat_sessions',
  sessionIsLive: () => `${compatSessionIsLive('s')}
     and exists (select from users u where u.id = s.user_id and ${accountIsUsable('u')})`,
  refreshTokenIsLive: compatRefreshTokenIsLive,
  accessTokenIsUnrevoked: compatAccessTokenIsUnrevoked,
};

const OWN = {
  rotate: joinableWrite<{ id: string }, RotationParams>(
    'rotate-compat-refresh-token',
    ROTATION_TYPES,
    rotationSql(TABLES),
  ),
  renew: statement<{ id: string }, RenewalParams>('renew-compat-access-token', renewalSql(TABLES)),
  prefixes: { refreshToken: 'mcr', accessToken: 'mct' },
} as const;

/** Not joinable: two tokens of one session would both be rotated. */
const IMPORTED = {
  ...OWN,
  rotate: singleWrite<{ id: string }, RotationParams>(
    'rotate-imported-compat-refresh-token',
    ROTATION_TYPES,
    rotationSql(importedTables(TABLES)),
  ),
  startsFamily: true,
};

/** Two parties hold tokens of the session, so one of them was stolen. */
const endReused = statement<
  never,
  SessionEndParams & {
    readonly sessionId: string;
    readonly now: Date;
    readonly auditEventId: string;
    readonly ip: string | null;
    readonly userAgent: string | null;
  }
>(
  'end-reused-compat-session',
  `with ${compatEndingCtes(
    `select id from compat_sessions where id = :sessionId::uuid and ${compatSessionIsLive('compat_sessions')}`,
    ':now::timestamptz',
    `'refresh_token_reused'`,
  )}
  ${INSERT_AUDIT_EVENT}
  select :auditEventId::uuid, 'session_ended', user_id, null, id, :ip::inet, :userAgent::text,
         '{"reason": "refresh_token_reused"}'::jsonb, :now::timestamptz
    from compat_ended`,
);
