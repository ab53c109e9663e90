import type { Client } from '#domain/clients/client.ts';
import { isClientCurrent } from '#domain/clients/is-client-current.ts';
import type { AdminRights } from '#domain/records/admin-rights.ts';
import { userFacts } from '#domain/records/user-facts.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import type { UserFacts } from '#protocol/oidc/user-claims.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';
import { type IssuedSuccessor, issueAnother, issueSuccessor, type WantedToken } from './issue-successor.ts';
import {
  hasLostRace,
  judgeRefreshToken,
  type LostAttempt,
  type RefreshRefusal,
  type RefreshTokenRow,
  readImportedToken,
  readRefreshToken,
} from './judge-refresh-token.ts';
import type { ProofKey } from './proof-key.ts';
import { refreshFamily } from './refresh-successor.ts';
import { accessTokenExpiry, sessionExpiry, type TokenSettings } from './token-settings.ts';

export interface RefreshRequest {
  readonly refreshToken: string;
  /** Narrows the session's scope to the requested scope; undefined if the request exceeds it. */
  readonly narrowScope: (granted: readonly string[]) => readonly string[] | undefined;
  /** Resource servers of the new access token, out of those of the session; empty: all. */
  readonly resources: readonly string[];
  readonly provenKey: ProofKey | undefined;
  /** Returns the binding key for tokens of a session with this scope. */
  readonly bindingKey: (granted: readonly string[]) => string | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether a homeserver is connected, which must be notified of the device of a reused token. */
  readonly syncsDevices: boolean;
}

export interface RefreshedSession {
  readonly id: OAuth2SessionId;
  /** The whole granted scope. */
  readonly scope: readonly string[];
  /** Individually requested claims; see `claimsFromJson`. */
  readonly claims: unknown;
  readonly user: { readonly id: UserId; readonly facts: UserFacts } | undefined;
  /** Milliseconds since the epoch. */
  readonly authenticatedAt: number | undefined;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
}

export interface Refreshed extends IssuedSuccessor {
  readonly ok: true;
  readonly session: RefreshedSession;
  /** Thumbprint of the key that the access token is bound to. */
  readonly key: string | undefined;
}

export type RefreshOutcome =
  | Refreshed
  | {
      readonly ok: false;
      readonly reason: RefreshRefusal | 'client-changed' | 'key' | 'mixed-formats' | 'scope' | 'resource';
    }
  | { readonly ok: false; readonly reason: 'reuse' | 'access-lost'; readonly sessionId: OAuth2SessionId };

const MAX_ATTEMPTS = 4;

/**
 * Exchanges a refresh token for its successor (oauth 9.4): one read, a pure decision, one conditional write. The
 * loser of a race reads once more and returns what the winner stored. Reuse ends the session, and so does a user's loss
 * of access to the client. A FAPI 2.0 client keeps
 * its refresh token, which is useless without the client's private key (FAPI 2.0 Security Profile 5.3.2.1).
 * @param keys `KeyRing.deriveAll('refresh-rotation')`, current key first
 */
export async function refresh(
  database: Queryable,
  client: Client,
  request: RefreshRequest,
  settings: TokenSettings,
  rights: AdminRights,
  resourceRules: ResourceRules,
  keys: readonly Buffer[],
  now: number,
): Promise<RefreshOutcome> {
  const text = parseToken(request.refreshToken);
  if (text?.prefix !== 'mar') return { ok: false, reason: 'unknown' };
  const presented = { text: request.refreshToken, random: text.random };
  const [tokenHash, family] = [sha256(presented.text), refreshFamily(presented.random)];
  const rules = {
    graceSeconds: settings.refreshGraceSeconds,
    sessionExpiry: (createdAt: number) => sessionExpiry(settings, createdAt),
  };

  let lost: LostAttempt | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const by = { tokenHash, clientId: toUuid(client.id), clientVersion: client.version };
    const ofFamily = await database.first(readRefreshToken, { ...by, family });
    const row = ofFamily ?? (await database.first(readImportedToken, by));
    const isCurrent = row === undefined ? await isClientCurrent(database, client) : row.client_admits !== null;
    if (!isCurrent) return { ok: false, reason: 'client-changed' };
    let verdict = judgeRefreshToken(row, rules, now, hasLostRace(lost, row?.replay_counter));
    if (verdict.kind === 'refuse') return { ok: false, reason: verdict.reason };
    if (row === undefined) return { ok: false, reason: 'unknown' };

    // Checked before the session ends: without its key, a token must not be able to end it.
    if (row.dpop_jkt !== null && row.dpop_jkt !== request.provenKey?.thumbprint) return { ok: false, reason: 'key' };
    const sessionId = fromUuid<'oauth2-session'>(row.session_id);
    const { address, userAgent, syncsDevices } = request;
    const end = { now, address, userAgent, syncsDevices };
    if (verdict.kind === 'reuse') {
      await endOAuth2Session(database, sessionId, { ...end, reason: 'refresh_token_reused' });
      return { ok: false, reason: 'reuse', sessionId };
    }
    if (row.client_admits !== true) {
      await endOAuth2Session(database, sessionId, { ...end, reason: 'access_lost' });
      return { ok: false, reason: 'access-lost', sessionId };
    }
    const holder = { ...row, client_id: toUuid(client.id), client_scope: client.scope?.join(' ') ?? null };
    const resources = request.resources.length === 0 ? row.resources : request.resources;
    if (!request.resources.every((resource) => row.resources.includes(resource))) {
      return { ok: false, reason: 'resource' };
    }
    if (resourceRules.formatOf(resources) === 'mixed') return { ok: false, reason: 'mixed-formats' };
    const requested = request.narrowScope(row.scope);
    const scope =
      requested === undefined ? [] : resourceRules.scopeAt(resources, rights.remainingScope(requested, holder));
    // A device may have requested an empty scope.
    if (requested === undefined || (scope.length === 0 && row.scope.length > 0)) {
      const all = rights.remainingScope(row.scope, holder);
      const isForOthers = all.length > 0 && resourceRules.scopeAt(resources, all).length === 0;
      return { ok: false, reason: requested !== undefined && isForOthers ? 'resource' : 'scope' };
    }
    const key = request.bindingKey(row.scope);
    const wanted: WantedToken = {
      scope,
      resources,
      key,
      expiresAt: accessTokenExpiry(settings, resources, row.session_created_at, now),
      now,
    };
    if (attempt === 1) await request.provenKey?.consume();
    // The stored access token would be useless with a different key.
    if (verdict.kind === 'repeat' && row.access_token_jkt !== (key ?? null)) {
      verdict = { kind: 'renew', successor: verdict.successor, mayBeUsed: true };
    }
    const isKept = client.isFapi2 && verdict.kind === 'rotate';
    const issued = isKept
      ? await issueAnother(database, client, row, presented, wanted)
      : await issueSuccessor(database, client, row, { verdict, isImported: row !== ofFamily }, keys, presented, wanted);
    if (issued === 'no-key') return { ok: false, reason: 'revoked' };
    if (issued !== undefined) {
      return { ok: true, session: sessionOf(row), key, ...issued, scope: rights.remainingScope(issued.scope, holder) };
    }
    lost = { verdict, replayCounter: row.replay_counter };
  }
  return { ok: false, reason: 'revoked' };
}

function sessionOf(row: RefreshTokenRow): RefreshedSession {
  const { user_id: userId, username, updated_at } = row;
  return {
    id: fromUuid(row.session_id),
    scope: row.scope,
    claims: row.claims,
    user:
      userId === null || username === null || updated_at === null
        ? undefined
        : { id: fromUuid(userId), facts: userFacts({ ...row, username, updated_at }) },
    authenticatedAt: row.auth_time ?? undefined,
    acr: row.acr ?? undefined,
    amr: row.amr,
  };
}
