import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { personalSessionsOfUser } from '#domain/personal-sessions/end-personal-sessions.ts';
import { revokePersonalSession } from '#domain/personal-sessions/revoke-personal-session.ts';
import { oauthSessionIsLive } from '#domain/records/liveness/oauth-sessions.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { OAuth2SessionId, UserId } from '#vocabulary/ids.ts';
import { endOAuth2Session } from './end-oauth2-session.ts';

const findLive = statement<{ id: string; scope: readonly string[] }, { readonly userId: string }>(
  'find-scopes-of-user-sessions',
  `select s.id, s.scope from oauth2_sessions s where s.user_id = :userId::uuid and ${oauthSessionIsLive('s')}`,
);

const findLivePersonal = statement<{ id: string; scope: readonly string[] }, { readonly userId: string }>(
  'find-scopes-of-personal-sessions',
  `select s.id, s.scope from personal_sessions s where s.id in (${personalSessionsOfUser(':userId::uuid')})`,
);

export interface AdminSessionsDeps {
  readonly scopeRules: Pick<ScopeRules, 'isAdmin'>;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
}

/**
 * Ends a user's sessions that have an admin scope, with their child sessions, and the personal sessions with an admin
 * scope that act as the user or belong to the user. Expects the caller's transaction.
 * @returns number of sessions ended by this call
 */
export async function endAdminSessionsOfUser(
  transaction: Queryable,
  { scopeRules, homeserver }: AdminSessionsDeps,
  user: UserId,
  now: number,
): Promise<number> {
  const sessions = await transaction.rows(findLive, { userId: toUuid(user) });
  const end = { reason: 'admin', now, syncsDevices: homeserver.isConnected } as const;
  let ended = 0;
  for (const { id, scope } of sessions) {
    if (!scope.some((name) => scopeRules.isAdmin(name))) continue;
    const session: OAuth2SessionId = fromUuid<'oauth2-session'>(id);
    if (await endOAuth2Session(transaction, session, end)) ended += 1;
  }
  for (const { id, scope } of await transaction.rows(findLivePersonal, { userId: toUuid(user) })) {
    if (!scope.some((name) => scopeRules.isAdmin(name))) continue;
    const revocation = { now, by: { detail: { actor: 'admin' } }, syncsDevices: end.syncsDevices };
    if (await revokePersonalSession(transaction, fromUuid<'personal-session'>(id), revocation)) ended += 1;
  }
  return ended;
}
