import { introspectCompatToken, type LiveCompatToken } from '#domain/compat-sessions/introspect.ts';
import type { Core } from '#domain/core.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import type { Database } from '#platform/postgres/database.ts';
import { chatNames } from '#protocol/chat/names.ts';
import {
  type Caller,
  INACTIVE,
  type Introspection,
  type IntrospectionDeps,
  type PresentedToken,
} from './token-source.ts';

/** Characters that a scope may contain. Other device IDs are reported only to callers that read `device_id`. */
const SCOPE_CHARACTERS = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]+$/;

/** Introspects a token of a chat client (chat-compat 12). These are not registered, so only some callers see them. */
export async function introspectChatClient(
  deps: IntrospectionDeps,
  database: Database,
  { kind, tokenHash }: PresentedToken,
  caller: Caller,
): Promise<Introspection | 'client-changed'> {
  if (!caller.maySeeAll) return INACTIVE;
  const now = deps.clock.now();
  const live = await introspectCompatToken(database, { kind, tokenHash, client: caller.client, now });
  if (live === 'client-changed') return live;
  const body = live === undefined ? undefined : activeResponse(live, deps, caller, now);
  if (live === undefined || body === undefined) return INACTIVE;
  deps.activity.recordCompatSession(live.sessionId, now, undefined);
  return { body, owner: undefined };
}

/**
 * @param now milliseconds since the epoch
 * @returns undefined if the caller could not tell which device the token belongs to
 */
function activeResponse(
  token: LiveCompatToken,
  { subjects, config }: Pick<Core, 'config' | 'subjects'>,
  { client, knowsDevices }: Caller,
  now: number,
): object | undefined {
  // A client with a sector must not learn the user's global name.
  const sector = client?.sector;
  const { user, deviceId, expiresAt } = token;
  const { stableScopePrefix, unstableScopePrefix } = chatNames(config.protocolName);
  const scope = [`${stableScopePrefix}api:*`, `${unstableScopePrefix}api:*`];
  if (!knowsDevices && deviceId !== undefined) {
    if (!SCOPE_CHARACTERS.test(deviceId)) return undefined;
    scope.push(`${stableScopePrefix}device:${deviceId}`, `${unstableScopePrefix}device:${deviceId}`);
  }
  if (token.isAdmin) scope.push('urn:synapse:admin:*');
  const issuedAt = epochSeconds(token.createdAt);
  return {
    active: true,
    scope: scope.join(' '),
    // Chat clients are not registered.
    client_id: 'legacy',
    username: sector === undefined ? user.username : undefined,
    sub: subjects.of(user.id, sector),
    token_type: token.kind === 'refresh-token' ? 'refresh_token' : 'Bearer',
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt === undefined ? undefined : epochSeconds(expiresAt),
    // Must be an integer: with a fraction, homeservers answer every request of that user with 503.
    expires_in: expiresAt === undefined ? undefined : epochSeconds(expiresAt - now),
    iss: config.http.issuer,
    device_id: deviceId,
  };
}
